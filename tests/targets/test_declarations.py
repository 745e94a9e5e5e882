import straightline as sl
from harness import as_model

from targets import fitted, lacking


def declared(outcome):
    return {
        value.name: list(value.type.tensor_type.shape.dim)
        for value in outcome.model.graph.value_info
    }


def test_open_sizes_are_not_declared_inside():
    """tract refuses a batch of 2 where a value inside declares a batch of n."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 4] x) => (float[n, 4] y)
        <float[n, 4] a, float[2] b> { a = Neg (x) b = Constant <value = float[2] {1, 2}> ()
        c = Exp (b) d = ReduceSum <keepdims = 0> (c) e = Mul (a, d) y = Abs (e) }"""
    assert "a" in declared(fitted(text, lacking("Abs")))
    outcome = fitted(text, lacking(known_declarations=True))
    assert "a" not in declared(outcome)
    (output,) = outcome.model.graph.output
    assert output.type.tensor_type.shape.dim[0].dim_param == "n"
    (remark,) = (r for r in outcome.remarks if r.reason.code == "declarations-dropped")
    assert "as npu refuses" in str(remark.reason)


def test_bodies_keep_theirs_without_names():
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[n] x, int64 m, bool k) => (float[r, n] y) {
        y = Loop (m, k) <body = b (int64 i, bool c) => (bool d, float[n] e)
        <float[n] z> { d = Identity (c) z = Neg (x) e = Exp (z) }> }"""
    model = fitted(text, lacking(known_declarations=True), passes=()).model
    (body,) = (a.g for a in model.graph.node[0].attribute if a.HasField("g"))
    (value,) = body.value_info
    assert value.name == "z" and not value.type.tensor_type.shape.dim[0].dim_param


def test_options_for_open_sizes_are_named_where_a_client_wants_known_ones():
    text = """g (float[n, ?, 3] x, float[n] z, float[2] w) => (float[2] y) { y = Relu (w) }"""
    notes = {
        name: [r.reason for r in sl.transform(as_model(text), target=name).remarks]
        for name in ("tvm", "openvino")
    }
    assert not notes["openvino"]
    assert "--dim n=... --shape x=..." in notes["tvm"][0]
    closed = sl.transform(as_model(text), target="tvm", shapes={"x": (1, 2, 3)})
    assert not any("known sizes" in remark.reason for remark in closed.remarks)
