import numpy as np
import onnx
import pytest
from harness import as_model, run_in_onnxruntime, run_passes
from straightline import rewrite
from straightline.passes import InferShapes

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'


def declared(graph):
    """The declared sizes of the values inside a graph."""
    found = {}
    for info in graph.value_info:
        tensor = info.type.tensor_type
        dims = [
            d.dim_param or (d.dim_value if d.HasField("dim_value") else None)
            for d in tensor.shape.dim
        ]
        found[info.name] = dims if tensor.HasField("shape") else None
    return found


def test_sums_and_products_of_symbols():
    text = """g (float[N,3] x, float[5,3] w) => (float[K] y) <int64[1] flat = {-1}> {
        a = Concat <axis = 0> (x, w) b = Reshape (a, flat) c = NonZero (b) d = Cast <to = 1> (c)
        e = ReduceSum <keepdims = 0> (d) y = Mul (b, e) }"""
    result = run_passes(HEAD + text, InferShapes())
    assert declared(result.model.graph)["a"] == ["N + 5", 3]
    assert declared(result.model.graph)["b"] == ["3*N + 15"]
    # Only a run tells how many there are; such a size has no name that means anything.
    assert declared(result.model.graph)["c"] == [1, None]


def test_bodies_are_told_what_holds_on_every_iteration():
    text = """g (float[2,N] x, int64 n) => (float[A,B] y) {
        y, w = Loop (n, , x, x) <body = b (int64 i, bool c, float[P,Q] a, float[R,S] s)
                                      => (bool c2, float[P2,Q2] r, float[R2,S2] s2) {
            c2 = Identity (c) t = Concat <axis = 0> (a, x) r = Neg (t) u = Neg (s) s2 = Relu (u) }>
    }"""
    inner = declared(run_passes(HEAD + text, InferShapes()).model.graph.node[0].attribute[0].g)
    assert inner["t"] == [None, "N"]
    assert inner["u"] == [2, "N"]


def test_declarations_stay():
    text = "g (float[N] x) => (float[N] y) <float[M] a> { a = Relu (x) y = Neg (a) }"
    result = run_passes(HEAD + text, InferShapes())
    assert declared(result.model.graph)["a"] == ["M"]
    assert not result.changed


@pytest.mark.parametrize("node", ["a = com.other.Strange (x)", "a = SequenceConstruct (x, x)"])
def test_values_without_a_shape(node):
    head = '<ir_version: 10, opset_import: ["" : 21, "com.other" : 1]>\n'
    last = "y = ConcatFromSequence <axis = 0> (a)" if "Sequence" in node else "y = Neg (a)"
    result = run_passes(f"{head}g (float[N] x) => (float[K] y) {{ {node} {last} }}", InferShapes())
    assert result.changed == ("Sequence" in node)
    if result.changed:
        assert as_model(result.model).graph.value_info[0].type.HasField("sequence_type")


def test_no_declaration_decides_the_sizes_of_a_scan_output_without_iterations():
    text = """g (float[P, 4] x, int64 n) => (float[R, ?, ?] z) <bool yes = {1}, int64[1] o = {1},
        int64[1] zero = {0}> {
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[?, ?] r) {
            d = Identity (c) e = Unsqueeze (i, zero) f = Add (e, o) s = Slice (x, e, f, zero)
            r = Identity (s) }> }"""
    text = '<ir_version: 8, opset_import: ["" : 18]> ' + text
    for passes in ("infer-shapes", "infer-shapes,vectorize-loops", None):
        after = rewrite(onnx.parser.parse_model(text), passes, verify=False)
        feed = {"x": np.ones((3, 4), np.float32), "n": np.array(0)}
        (before,) = run_in_onnxruntime(onnx.parser.parse_model(text), feed)
        (found,) = run_in_onnxruntime(after, feed)
        assert found.shape == before.shape == (0, 0, 0)
