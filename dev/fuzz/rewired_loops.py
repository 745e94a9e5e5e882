"""Loops and Scans that passes recognize, each with one read or output of its body rewired.

A rewiring lets one operand of a node, or one output of the body, be another value of the same
type: an argument, an initializer, a value from outside, the output of another node.
"""

from collections.abc import Iterator

import numpy as np
import onnx
import onnx.checker
from harness import as_model, check_model

CONSTANTS = """int64 zero = {0}, int64 one = {1}, int64 low = {-1}, float nil = {0},
    float half = {0.5}, float[3] v = {1, -2, 0.5}, bool yes = {1}, int64[1] k0 = {0},
    int64[1] k1 = {1}, int64[1] k2 = {2}, int64[1] k3 = {3}, int64[1] end = {9223372036854775807}"""
PLANE = "float[3, 3]"

IDIOMS: dict[str, tuple[str, str, str]] = {
    "sum": ("float[3] s", "s2 = Add (s, e) r = Neg (s2)", "float[3] r"),
    "difference": ("float[3] s", "d = Sub (s, e) s2 = Sub (d, v)", ""),
    "product": ("float s", "f = ReduceMax <keepdims = 0> (e) s2 = Mul (s, f)", ""),
    "largest": ("float[3] s", "s2 = Max (s, e) r = Identity (s)", "float[3] r"),
    "kept": ("float[3] s; bool[3] b", "g = Greater (e, v) s2 = Where (g, e, s) b2 = Or (g, b)", ""),
    "flag": ("bool[3] s", "g = Less (e, v) t = Not (g) o = And (t, s) s2 = Or (g, o)", "bool[3] o"),
    "parity": ("bool[3] s", "g = Less (e, v) s2 = Xor (s, g)", "bool[3] s2"),
    "linear": ("float[3] s", "p = Mul (s, half) s2 = Add (p, e)", "float[3] s2"),
    "system": ("float[3] s; float[3] t",
     "p = Mul (s, half) q = Add (p, t) s2 = Sub (e, q) u = Mul (t, half) t2 = Add (u, s)",
     "float[3] t2"),
    "swap": ("float[3] s; float[3] t; float[3] u", "s2 = Identity (t) t2 = Neg (s) u2 = Add (u, e)",
     ""),
    "best": ("float s; float[3] p; int64 w",
     "f = ReduceMax <keepdims = 0> (e) g = Greater (f, s) s2 = Where (g, f, s)"
     " p2 = Where (g, e, p) w2 = Where (g, i, w)", ""),
    "smallest": ("float[3] s", "g = LessOrEqual (e, s) s2 = Where (g, e, s) r = Where (g, v, e)",
     "float[3] r"),
    "first": ("int64 w",
     "f = ReduceMax <keepdims = 0> (e) g = Greater (f, nil) free = Less (w, zero)"
     " both = And (g, free) w2 = Where (both, i, w)", "int64 w2"),
    "counters": ("int64 s; int64 t", "s2 = Add (s, one) t2 = Sub (t, s) r = Mul (t2, i)",
     "int64 r"),
    "register": (f"{PLANE} s",
     "u = Unsqueeze (e, k0) d = Slice (s, k1, end, k0) s2 = Concat <axis = 0> (d, u)"
     " r = ReduceMax <axes = [0], keepdims = 0> (s)", "float[3] r"),
    "logarithm": ("float[3] s",
     "m = Max (s, e) d = Sub (s, m) f = Sub (e, m) p = Exp (d) q = Exp (f) a = Add (p, q)"
     " l = Log (a) s2 = Add (m, l)", "float[3] s2"),
    "cell": ("float[1, 3] s",
     "y = Unsqueeze (e, k0) a = MatMul (y, wx) b = MatMul (s, wh) h = Add (a, b) s2 = Tanh (h)",
     "float[1, 3] s2"),
    "masked cell": ("float[1, 3] s",
     "x1 = Unsqueeze (e, k0) a = MatMul (x1, wx) b = MatMul (s, wh) d = Add (a, b) h = Tanh (d)"
     " f = ReduceMax <keepdims = 1> (x1) g = Greater (f, nil) s2 = Where (g, h, s)",
     "float[1, 3] h"),
    "rows": (f"{PLANE} s",
     "p = Unsqueeze (i, k0) q = Mod (p, k3) at = Unsqueeze (q, k0) u = Unsqueeze (e, k0)"
     " s2 = ScatterND (s, at, u) r = Gather (s, one)", "float[3] r"),
    "choice": ("float[3] s",
     "s2 = If (yes) <then_branch = t () => (float[3] a) { a = Add (s, e) },"
     " else_branch = z () => (float[3] b) { b = Neg (s) }> r = Exp (e)", "float[3] r"),
    "doubled": ("float[3] s; float[3] t", "s2 = Add (s, e) t2 = Add (t, e) r = Sub (s2, t2)",
     "float[3] r")}  # fmt: skip
"""For each name: states, nodes, scan outputs; `e` is the row of an iteration, `i` its number."""


def idioms() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield each as a Loop, and those that do not read their number as a Scan."""
    for name, (states, nodes, rows) in IDIOMS.items():
        carried = [each.split(" ")[-1] for each in states.split("; ")]
        types = [each.rpartition(" ")[0] for each in states.split("; ")]
        stacked = [each.rpartition(" ") for each in rows.split("; ") if each]
        given = ", ".join(f"{type_} {s}0" for s, type_ in zip(carried, types, strict=True))
        arguments = ", ".join(f"{type_} {s}" for s, type_ in zip(carried, types, strict=True))
        results = ", ".join(f"{type_} {s}2" for s, type_ in zip(carried, types, strict=True))
        results += "".join(f", {type_} {value}" for type_, _, value in stacked)
        outputs = [f"{type_} f{k}" for k, type_ in enumerate(types)]
        outputs += [f"{_rows(type_)} z{k}" for k, (type_, *_) in enumerate(stacked)]
        names = ", ".join(output.rpartition(" ")[2] for output in outputs)
        initial = ", ".join(f"{s}0" for s in carried)
        head = f"""g (float[N, 3] x, int64 n, {given}, {PLANE} wx, {PLANE} wh)
            => ({", ".join(outputs)}) <{CONSTANTS}> {{"""
        loop = f"""{head} {names} = Loop (n, yes, {initial}) <body = b (int64 i, bool c,
            {arguments}) => (bool go, {results}) {{
                go = Identity (c) e = Gather (x, i) {nodes} }}>}}"""
        yield name, as_model(loop)
        if "i," not in nodes and "(i" not in nodes and ", i" not in nodes:
            scan = f"""{head} {names} = Scan <num_scan_inputs = 1, body = b ({arguments},
                float[3] e) => ({results}) {{ {nodes} }}> ({initial}, x)}}"""
            yield f"{name}, scanned", as_model(scan)


def _rows(type_: str) -> str:
    elem, _, shape = type_.partition("[")
    return f"{elem}[T, {shape}" if shape else f"{elem}[T]"


def rewirings(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield the model with each read and output of its body as another value of its type."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    body, outer = _body(inferred), inferred.graph
    first = 1 if any(n.op_type == "Loop" for n in inferred.graph.node) else 0
    types = {value.name: _type(value) for value in (*body.input, *body.value_info, *body.output)}
    around = {value.name: _type(value) for value in outer.input}
    around |= {t.name: (t.data_type, tuple(t.dims)) for t in outer.initializer}
    constants = {t.name for t in outer.initializer if tuple(t.dims) == (1,)}
    for at, node in enumerate(body.node):
        known = {value.name for value in body.input} | {o for n in body.node[:at] for o in n.output}
        for place, name in enumerate(node.input):
            own = types.get(name) or around.get(name)
            if name in constants:  # an axis or a bound decides sizes
                continue
            for other, kind in {**around, **{n: types[n] for n in known if n in types}}.items():
                if other != name and kind == own:
                    copy = _copy(model)
                    _body(copy).node[at].input[place] = other
                    yield f"{node.op_type} {place} reads {other}, not {name}", copy
    for place, value in enumerate(body.output):
        for other, kind in {**around, **types}.items():
            if place >= first and other != value.name and kind == types[value.name]:
                copy = _copy(model)
                inner = _body(copy)
                inner.output[place].name = "outer" if other in around else other
                if other in around:
                    inner.node.append(onnx.helper.make_node("Identity", [other], ["outer"]))
                yield f"output {place} is {other}", copy


def is_valid(model: onnx.ModelProto) -> bool:
    """Test for a model that passes full checking: not each value of a type serves as an index."""
    try:
        check_model(model)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def _body(model: onnx.ModelProto) -> onnx.GraphProto:
    return next(a.g for a in model.graph.node[0].attribute if a.name == "body")


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _type(value: onnx.ValueInfoProto) -> tuple[int, tuple[int | str, ...]]:
    tensor = value.type.tensor_type
    sizes = tuple(d.dim_param or d.dim_value for d in tensor.shape.dim)
    return tensor.elem_type, sizes if tensor.HasField("shape") else (f"shape of {value.name}",)


def feeds(model: onnx.ModelProto) -> list[dict[str, np.ndarray]]:
    """Inputs for several lengths; onnxruntime refuses a Scan of none."""
    lengths = (0, 1, 2, 5) if model.graph.node[0].op_type == "Loop" else (1, 2, 5)
    given = []
    for length in lengths:
        drawn, feed = np.random.default_rng(length), {}
        for value in model.graph.input:
            elem, shape = _type(value)
            sizes = [length if isinstance(size, str) else size for size in shape]
            numbers = np.asarray(np.round(drawn.normal(size=sizes), 1))
            dtype = onnx.helper.tensor_dtype_to_np_dtype(elem)
            feed[value.name] = np.asarray(
                numbers > 0 if elem == onnx.TensorProto.BOOL else numbers, dtype
            )
        feed["n"] = np.array(length)
        given.append(feed)
    return given
