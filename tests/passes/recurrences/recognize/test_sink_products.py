import numpy as np
import onnx
import pytest
from cells import HEAD, difference, raised
from harness import as_model, op_types
from straightline.passes import EliminateDeadNodes, Pipeline, RaiseRecurrences

RNG = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def same_numbers():
    """Draw the same numbers in a test whichever tests run before."""
    RNG.bit_generator.state = np.random.default_rng(2).bit_generator.state


def numbers(*shape):
    return (RNG.normal(size=shape) * 0.4).astype(np.float32)


BODY = "q = MatMul (h, u) s = Add (g, q) h2 = Tanh (s) r = Identity (h2)"


def scan(outside, body=BODY, read="p"):
    return f"""g (float[T, B, 3] x, float[B, 4] h0) => (float[B, 4] h1, float[?, ?, ?] y) {{
        {outside} h1, y = Scan <num_scan_inputs = 1, body = f (float[B, 4] h, float[B, 4] g)
            => (float[B, 4] h2, float[B, 4] r) {{ {body} }}> (h0, {read}) }}"""


LOOP = f"""g (float[T, B, 3] x, float[B, 4] h0) => (float[B, 4] h1, float[?, ?, ?] y)
    <bool yes = {{1}}, int64 n = {{3}}> {{
    m = MatMul (x, w) p = Add (b, m) h1, y = Loop (n, yes, h0) <body = f (int64 i, bool k,
        float[B, 4] h) => (bool k2, float[B, 4] h2, float[B, 4] r) {{
        k2 = Identity (k) g = Gather (p, i) {BODY} }}> }}"""
FOLDED = {
    "a product": scan("p = MatMul (x, w)"),
    "with a bias": scan("m = MatMul (x, w) p = Add (m, b)"),
    "a part of a fused one": scan("m = MatMul (x, v) o, p = Split <axis = 2, num_outputs = 2> (m)"),
    "two products": scan("m = MatMul (x, w) o = MatMul (x, w2) q0 = Add (m, o) p = Identity (q0)"),
    "read by a Loop": LOOP,
    "turned": scan(
        "t = Transpose <perm = [1, 0, 2]> (x) m = MatMul (t, w) n = Add (m, b)"
        " p = Transpose <perm = [1, 0, 2]> (n)"
    ),
    "of all rows end to end": scan(
        "r0 = Reshape (x, flat) m = Gemm (r0, w, b) s1 = Shape (x)"
        " s2 = Slice (s1, zero, two) s3 = Concat <axis = 0> (s2, four) p = Reshape (m, s3)"
    ).replace("B", "2"),
    "some columns": scan("m = MatMul (x, v) p = Slice (m, four, eight, two)"),
    "axes of size 1": scan("""m = MatMul (x, w) m2 = Unsqueeze (m, two) m3 = Identity (m2)
        p = Squeeze (m3, two)"""),
}
LEFT = {
    "an activation between": scan("m = MatMul (x, w) p = Relu (m)"),
    "broadcast over the iterations": scan("m = MatMul (x, w) p = Add (m, z)"),
}


def weighted(text):
    model = as_model(HEAD + text)
    shapes = {"w": (3, 4), "w2": (3, 4), "v": (3, 8), "u": (4, 4), "b": (4,), "z": (1, 1, 4)}
    vectors = {"flat": [-1, 3], "zero": [0], "two": [2], "four": [4], "eight": [8]}
    for name, vector in vectors.items():
        tensor = onnx.numpy_helper.from_array(np.array(vector, np.int64), name)
        model.graph.initializer.append(tensor)
    for name, shape in shapes.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(*shape), name))
    return model


@pytest.mark.parametrize("case", [*FOLDED, *LEFT])
def test_places_of_the_product(case):
    model = weighted(FOLDED.get(case) or LEFT[case])
    after = raised(model)
    for iterations, batch in [(3, 2), (0, 2)] if case != "read by a Loop" else [(3, 2)]:
        feed = {"x": numbers(iterations, batch, 3), "h0": numbers(batch, 4)}
        assert difference(model, after, feed) <= 8
    (node,) = [n for n in after.graph.node if n.op_type == "RNN"]
    sizes = {t.name: t.dims for t in after.graph.initializer}
    assert list(sizes[node.input[1]]) == [1, 4, 3 if case in FOLDED else 4]


def test_nothing_is_left_of_it():
    model = weighted(FOLDED["with a bias"])
    result = Pipeline([RaiseRecurrences(), EliminateDeadNodes()]).run(model)
    assert "MatMul" not in op_types(result.model)


def test_gates_that_are_read_one_by_one_share_their_input():
    body = """a1 = MatMul (h, u) a2 = Add (a1, g) a3 = Sigmoid (a2) r1 = Add (a1, k)
        r2 = Sigmoid (r1) c1 = Mul (r2, h) c2 = MatMul (c1, u) c3 = Add (c2, m) c4 = Tanh (c3)
        d1 = Sub (h, c4) d2 = Mul (a3, d1) h2 = Add (d2, c4) o = Identity (h2)"""
    text = f"""g (float[T, B, 3] x, float[B, 4] h0) => (float[B, 4] h1, float[?, ?, ?] y) {{
        p = MatMul (x, w) p2 = MatMul (x, w2) p3 = Add (p2, b)
        h1, y = Scan <num_scan_inputs = 3, body = f (float[B, 4] h, float[B, 4] g,
            float[B, 4] k, float[B, 4] m) => (float[B, 4] h2, float[B, 4] o) {{ {body} }}>
            (h0, p, p2, p3) }}"""
    model = weighted(text)
    after = raised(model)
    (node,) = [n for n in after.graph.node if n.op_type == "GRU"]
    assert [t.dims[2] for t in after.graph.initializer if t.name == node.input[1]] == [3]
    assert difference(model, after, {"x": numbers(5, 2, 3), "h0": numbers(2, 4)}) <= 8
