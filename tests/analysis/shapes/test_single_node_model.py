from harness import as_model, op_types
from straightline import ir
from straightline.analysis.shapes.single_node_model import reads_of, single_node_model


def test_it_reads_inputs_only():
    text = """g (float[2] x, float[3] w) => (y) <int64 n = {2}> {
        a = Neg (w)
        y = Loop (n, , x) <body = b (int64 i, bool c, s) => (bool c2, r) {
            c2 = Identity (c) t = ReduceSum <keepdims = 0> (a) r = Add (s, t) }> }"""
    model = ir.load(as_model(text))
    loop = next(node for node in model.graph.nodes() if node.is_op("Loop"))
    assert [value.name for value in reads_of(loop)] == ["n", "x", "a"]
    proto = single_node_model(loop, model)
    assert [info.name for info in proto.graph.input] == ["i0", "i1", "i2"]
    assert op_types(proto) == ["Loop"]
