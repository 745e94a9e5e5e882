"""Declared sizes inside a model that a client holds against its own."""

from targets import fitted, lacking

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 4] x) => (float[n, 4] y)
    <float[n, 4] a, float[2] b> { a = Neg (x) b = Constant <value = float[2] {1, 2}> ()
    c = Exp (b) d = ReduceSum <keepdims = 0> (c) e = Mul (a, d) y = Abs (e) }"""


def declared(outcome):
    return {
        value.name: list(value.type.tensor_type.shape.dim)
        for value in outcome.model.graph.value_info
    }


def test_open_sizes_are_not_declared_inside():
    """tract refuses a batch of 2 where a value inside declares a batch of n."""
    assert "a" in declared(fitted(TEXT, lacking("Abs")))
    outcome = fitted(TEXT, lacking(known_declarations=True))
    assert "a" not in declared(outcome)
    (output,) = outcome.model.graph.output
    assert output.type.tensor_type.shape.dim[0].dim_param == "n"
    (remark,) = (r for r in outcome.remarks if r.reason.code == "declarations-dropped")
    assert "as npu refuses" in str(remark.reason)


def test_bodies_keep_theirs():
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[n] x, int64 m, bool k) => (float[r, n] y) {
        y = Loop (m, k) <body = b (int64 i, bool c) => (bool d, float[n] e)
        <float[n] z> { d = Identity (c) z = Neg (x) e = Exp (z) }> }"""
    model = fitted(text, lacking(known_declarations=True), passes=()).model
    (body,) = (a.g for a in model.graph.node[0].attribute if a.HasField("g"))
    assert [value.name for value in body.value_info] == ["z"]
