"""Random models in which loops may make no iterations, whatever reads the sizes of what they give.

    PYTHONPATH=tests/support python dev/fuzz/zero_iterations.py [SEEDS] [FIRST]

compares each model with its rewrites, for 0, 1 and 2 iterations, under onnxruntime and
the reference, and each proof with these runs.
"""

import random
import sys
from collections.abc import Iterable

import numpy as np
import onnx
import straightline as sl
from sessions import open_session
from straightline.verification.proof import prove

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
CONSTANTS = """int64 zero = {0}, int64 one = {1}, int64[1] v0 = {0}, float one_f = {1},
    int64[1] v1 = {1}, int64[2] pads = {1, 1}, int64[2] two_four = {2, 4},
    bool yes = {1}, bool no = {0}"""
ELEMENTS = (  # nodes that make an element "e" of rank 1 or 2, and types that may be declared of it
    ("e = Neg (w)", ("float[U, 3]", "float[M, 3]", "float[]")),
    ("r = Gather (x, i) e = Neg (r)", ("float[3]", "float[U]", "float[]")),
    ("r = Gather (x, i) e = Unsqueeze (r, v0)", ("float[1, 3]", "float[1, U]", "float[]")),
    ("f = Cast <to = 1> (i) e = Expand (f, two_four)", ("float[2, 4]", "float[U, 4]", "float[]")),
    ("f = Cast <to = 1> (i) z = Shape (w) e = Expand (f, z)",
     ("float[U, 3]", "float[U, V]", "float[]")),
    ("r = Gather (x, i) e = Pad (r, pads)", ("float[5]", "float[U]", "float[]")),
    ("e = ReduceMax <keepdims = 0> (w, v0)", ("float[3]", "float[U]", "float[]")),
    ("e = Exp (c)", ("float[4, 3]", "float[U, 3]", "float[]")),
    ("p = Shape (w) q = Concat <axis = 0> (v1, v1, p) e = Cast <to = 1> (q)",
     ("float[4]", "float[]")),
    ("e = Exp (s)", ("float[4, 3]", "float[U, 3]", "float[]")),
    ("e = Add (s, c)", ("float[4, 3]", "float[U, 3]", "float[]")),
    (
        """e = Loop (inner, yes) <body = ib (int64 j, bool g) => (bool g2, {inner} h) {{
            g2 = Identity (g) h = Neg (c) }}>""",
        ("float[U, 4, 3]", "float[]"),
    ),
)  # fmt: skip
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
READERS = (  # what reads the scan output y; each gives o, of integers where it asks for sizes
    "o = Identity (y)",
    "o = Shape (y)",
    "t = Shape (y) o = ConstantOfShape (t)",
    "o = Size (y)",
    "t = Shape (y) u = Gather (t, one) o = Range (zero, u, one)",
    "t = Shape (y) u = Slice (t, v1, two, v0) o = Expand (one, u)",
    "t = Shape (y) u = Slice (t, v1, two, v0) o = Reshape (y, flat)",
    """t = Shape (y) u = Gather (t, one) q = Greater (u, zero) o = If (q)
        <then_branch = tb () => (float a) { a = Constant <value_float = 1.0> () },
         else_branch = eb () => (float b) { b = Constant <value_float = 2.0> () }>""",
    "o = ReduceSum <keepdims = 0> (y)",
)


def drawn_model(dice: random.Random) -> onnx.ModelProto:
    """A model whose outputs depend on the sizes of a scan output."""
    nodes, types = dice.choice(ELEMENTS)
    declared = dice.choice(types)
    inner = dice.choice(["float[4, 3]", "float[U, 3]", "float[]"])
    nodes = nodes.replace("{{", "{").replace("}}", "}").replace("{inner}", inner)
    around, capture = dice.choice(
        [
            ("", "k"),
            ("c0 = Neg (k)", "c0"),
            ("h = Shape (k) c0 = ConstantOfShape (h)", "c0"),
            (
                "h0 = Mul (two, two) h1 = Add (two, v1) h = Concat <axis = 0> (h0, h1)"
                " c0 = Expand (one_f, h)",
                "c0",
            ),
        ]
    )
    nodes = nodes.replace("(c)", f"({capture})").replace(", c)", f", {capture})")
    limit = dice.choice(("n", "n", "m", "m", "zero", "one"))
    condition = dice.choice(("yes", "yes", "flag", "no"))
    state = dice.choice(("float[4, 3]", "float[4, 3]", "float[P, Q]", "float[4, Q]"))
    reader = dice.choice(READERS)
    body = f"""l, y = Loop ({limit}, {condition}, k) <body = b (int64 i, bool d, {state} s)
        => (bool d2, {state} s2, {declared} e) {{ d2 = Identity (d) s2 = Neg (s) {nodes} }}>"""
    if dice.random() < 0.25:
        body = f"""y = Scan <num_scan_inputs = 1, body = sb (float[2] el) => (float[] y1) {{
            {body.replace("y = Loop", "ys = Loop", 1)} y1 = ReduceSum <keepdims = 0> (ys, v0) }}>
            (outer)"""
    text = f"""g (float[N, 3] x, float[M, 3] w, int64 m, bool flag, int64 inner, float[T, 2] outer)
        => (o) <{CONSTANTS}, int64[1] two = {{2}}, int64[1] flat = {{-1}},
        float[4, 3] k = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}> {{
        sx = Shape (x) n = Gather (sx, zero) {around} {body} {reader} }}"""
    model = onnx.parser.parse_model(HEAD + text)
    integers = ("Shape", "Size", "Range", "Expand")
    is_integer = any(f"o = {name}" in reader for name in integers)
    model.graph.output[0].type.tensor_type.elem_type = INT64 if is_integer else FLOAT
    _open(model.graph.node)
    output = model.graph.output[0].type.tensor_type
    found = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type
    if found.HasField("shape"):
        output.shape.SetInParent()
    for _ in found.shape.dim:
        output.shape.dim.add()  # of a size that nothing declares
    return model


def _open(nodes: Iterable[onnx.NodeProto]) -> None:
    """Leave out the shapes of bodies' outputs that are written as those of scalars."""
    for node in nodes:
        for attribute in node.attribute:
            if node.op_type in ("Loop", "Scan") and attribute.name == "body":
                for info in attribute.g.output:
                    tensor = info.type.tensor_type
                    if tensor.elem_type == FLOAT and not tensor.shape.dim:
                        tensor.ClearField("shape")
            if attribute.name == "body":
                _open(attribute.g.node)


def feeds_of(iterations: int, rows: int, flag: bool, inner: int) -> dict[str, np.ndarray]:
    """Inputs for so many iterations."""
    return {
        "x": np.ones((iterations, 3), np.float32),
        "w": np.ones((rows, 3), np.float32),
        "m": np.array(iterations),
        "flag": np.array(flag),
        "inner": np.array(inner),
        "outer": np.ones((2, 2), np.float32),
    }


FEEDS = [
    feeds_of(iterations, rows, flag, inner)
    for iterations in (0, 1, 2)
    for rows in (1, 2)
    for flag, inner in ((True, 0), (True, 2), (False, 1))
]


Feeds = dict[str, np.ndarray]


def outputs(model: onnx.ModelProto, *, optimized: bool = False) -> list[object]:
    """What onnxruntime gives for each of FEEDS, None where it fails."""
    try:
        session = open_session(model, optimized=optimized)
    except Exception:  # noqa: BLE001
        return [None] * len(FEEDS)
    names = {info.name for info in session.get_inputs()}
    found: list[object] = []
    for feeds in FEEDS:
        try:
            found.append(session.run(None, {n: a for n, a in feeds.items() if n in names}))
        except Exception:  # noqa: BLE001
            found.append(None)
    return found


def same(one: object, other: object) -> bool:
    """Whether outputs have the same shapes and numbers; what fails at first may give anything."""
    if one is None:
        return True
    return other is not None and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def faults_of(model: onnx.ModelProto) -> list[str]:
    """What is wrong of the rewrites of a model, and of the proofs of them."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception:  # noqa: BLE001
        return []
    faults, before = [], readings(model)
    for pipeline in (None, "accelerate"):
        rewrite = sl.rewrite(model, pipeline, verify=False)
        try:
            onnx.checker.check_model(rewrite, full_check=True)
        except onnx.checker.ValidationError as error:
            faults.append(f"{pipeline}: invalid, {error}")
        except onnx.shape_inference.InferenceError as error:
            faults.append(f"{pipeline}: invalid, {error}")
        after = outputs(rewrite)
        for feeds, one, other in zip(FEEDS, before, after, strict=True):
            if any(same(reading, other) for reading in one):
                continue
            proof = prove(model, rewrite)
            at = {name: feeds[name].shape or feeds[name].item() for name in ("x", "w", "flag")}
            faults.append(f"{pipeline}: {at} {_shapes(one)} is {_shapes(other)}, {proof.status}")
            break
    return faults


def readings(model: onnx.ModelProto) -> list[tuple[object, ...]]:
    """What onnxruntime gives for each of FEEDS with and without its optimisations, which find more
    of the sizes that nothing declares."""
    return list(zip(outputs(model), outputs(model, optimized=True), strict=True))


def reference_faults(model: onnx.ModelProto) -> list[str]:
    """Where the reference and onnxruntime disagree about the sizes. Shapes that are computed from
    those of constants onnxruntime follows, and onnx's plain inference does not."""
    if any(node.op_type == "ConstantOfShape" for node in model.graph.node[:4]):
        return []
    for feeds, one in zip(FEEDS, readings(model), strict=True):
        if None not in one:
            given = sl.reference.run(model, feeds)
            if not any(same(reading, given) for reading in one):
                return [f"reference: {feeds['x'].shape} {_shapes(one)} {_shapes(given)}"]
    return []


def _shapes(values: object) -> object:
    if isinstance(values, tuple):
        return list(map(_shapes, values))
    return values if values is None else [np.shape(v) for v in values]


def main(seeds: int, first: int) -> int:
    wrong = 0
    for seed in range(first, first + seeds):
        model = drawn_model(random.Random(seed))
        for fault in faults_of(model) + reference_faults(model):
            wrong += 1
            print(f"seed {seed}: {fault}")
    print(f"{seeds} models, {wrong} faults")
    return int(wrong > 0)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]] + [2000, 0][len(sys.argv) - 1 :]
    sys.exit(main(*numbers))
