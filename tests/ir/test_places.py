from onnx import NodeProto
from straightline import ir
from straightline.ir.places import Place, key_of


def test_as_the_loaded_model_says() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    main (bool c, float[3] x) => (float[3] y) {
        [outer] y = If (c) <
            then_branch = yes () => (float[3] p) { p = Neg(x) },
            else_branch = no () => (float[3] q) { [named] q = own.f(x) } > }
    <domain: "own", opset_import: ["": 21]> f (x) => (y) { y = Neg(x) }"""
    model = ir.parse(text)
    proto = ir.to_proto(model)
    (holder,) = proto.graph.node
    main = Place(proto.graph.name)
    assert main.graph == repr(model.graph)
    assert main.node(holder) == repr(model.graph.nodes()[0])
    for attribute, graph in zip(holder.attribute, model.graph.nodes()[0].graphs(), strict=True):
        inner = main.inside(holder, attribute.g.name)
        assert inner.depth == 1 and inner.graph == repr(graph)
        assert inner.node(attribute.g.node[0]) == repr(graph.nodes()[0])


def test_nodes_without_a_name_and_keys() -> None:
    assert Place("g").node(NodeProto(op_type="Neg", output=["", "b"])) == "Neg 'b'"
    assert Place("g").node(NodeProto(op_type="Neg", domain="ai.onnx")) == "Neg ''"
    assert key_of("ai.onnx", "Neg", "") == key_of("", "Neg", "") == ("", "Neg", "")
    assert key_of("own", "f", "1") == ("own", "f", "1")
