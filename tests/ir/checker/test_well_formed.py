"""The whole check: imports, the main graph, training graphs, functions, text that is none."""

import onnx
import pytest
from onnx import helper
from straightline.ir import MAX_OPSET, ModelError
from straightline.ir.checker import check_well_formed


def model() -> onnx.ModelProto:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    main (float[3] x) => (float[3] y) { y = own.f (x) }
    <domain: "own", opset_import: ["": 21]> f (a) => (r) { r = Neg (a) }"""
    return onnx.parser.parse_model(text)


def test_a_model_that_is_right() -> None:
    check_well_formed(model())


@pytest.mark.parametrize("version", [0, -1, MAX_OPSET + 1])
def test_opsets_that_nobody_knows(version: int) -> None:
    proto = model()
    proto.opset_import[0].version = version
    with pytest.raises(ModelError, match=f"model 'main' imports opset {version}; known are 1 to"):
        check_well_formed(proto)
    proto = model()
    proto.functions[0].opset_import[0].version = version
    with pytest.raises(ModelError, match=f"function 'own::f' imports opset {version}"):
        check_well_formed(proto)


def test_versions_of_other_domains_are_numbers_that_onnx_holds() -> None:
    proto = model()
    proto.opset_import[1].version = 1 << 40
    with pytest.raises(ModelError, match="imports version 1099511627776 of domain 'own'"):
        check_well_formed(proto)


def test_below_ir_version_3_everything_is_opset_1() -> None:
    proto = onnx.ModelProto(ir_version=2)
    node = helper.make_node("Concat", ["x"], ["y"])
    proto.graph.CopyFrom(helper.make_graph([node], "main", [], []))
    check_well_formed(proto)
    proto.ir_version = 3
    with pytest.raises(ModelError, match="uses ONNX's own operators but imports no opset"):
        check_well_formed(proto)
    proto.opset_import.add(version=4)
    with pytest.raises(ModelError, match="lacks its attribute 'axis'"):
        check_well_formed(proto)


@pytest.mark.parametrize("part", ["initialization", "algorithm"])
def test_graphs_of_training_are_graphs_of_the_model(part: str) -> None:
    proto = model()
    info = proto.training_info.add()
    getattr(info, part).node.append(helper.make_node("Add", ["a"], ["b"]))
    with pytest.raises(ModelError, match="Add 'b' has 1 inputs"):
        check_well_formed(proto)
    del getattr(info, part).node[:]
    getattr(info, part).node.append(helper.make_node("f", ["a", "b"], ["c"], domain="own"))
    with pytest.raises(ModelError, match="own::f 'c' has 2 inputs; the function accepts 1"):
        check_well_formed(proto)


@pytest.mark.parametrize("text", [b"main", b"Neg", b"own"])
def test_text_that_is_none_is_named_wherever_it_is(text: bytes) -> None:
    content = model().SerializeToString().replace(text, text[:-1] + b"\xe2")
    with pytest.raises(ModelError, match="which is not UTF-8; rename it where the model was made"):
        check_well_formed(onnx.ModelProto.FromString(content))
