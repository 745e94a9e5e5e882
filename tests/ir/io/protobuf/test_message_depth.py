import onnx
import pytest
from onnx import helper
from straightline import ir
from straightline.ir.io.protobuf.message_depth import is_nested_too_deep


def nested(depth):
    model = helper.make_model(helper.make_graph([], "g", [], []))
    graph = model.graph
    for _ in range(depth):
        node = graph.node.add(op_type="If")
        graph = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
        graph.name = "b"
    return model.SerializeToString()


@pytest.mark.parametrize("depth", [40, 300, 2000])
def test_deep_nesting_is_refused(depth):
    content = nested(depth)
    assert is_nested_too_deep(content)
    with pytest.raises(ir.LoadError, match="nested deeper than protobuf reads, about 30"):
        ir.load(content)


@pytest.mark.parametrize("depth", [0, 20, 30])
def test_readable_depths_are_accepted(depth):
    assert not is_nested_too_deep(nested(depth))


OTHER = [b"", b"no model", b"\x08", b"\x0a\xff\xff\xff\xff\x0f", b"\x3a\x05ab", b"\xff" * 50]


@pytest.mark.parametrize("content", OTHER)
def test_other_bytes_are_not_either(content):
    assert not is_nested_too_deep(content)
    with pytest.raises(ir.LoadError, match="is not an ONNX model"):
        ir.load(content)
