import onnx
import pytest
from onnx import AttributeProto, helper
from straightline.ir import ModelError, Operator


def test_made_from_python_values() -> None:
    op = Operator.make("Scale", "own", axis=1, mode="linear", sizes=[1, 2])
    assert op.qualname == repr(op) == "own::Scale"
    assert (op.attribute("axis"), op.attribute("mode"), op.attribute("sizes")) == (
        1,
        b"linear",
        [1, 2],
    )
    assert op.attribute("none", 7) == 7
    assert op.node_proto() == helper.make_node(
        "Scale", [], [], domain="own", axis=1, mode="linear", sizes=[1, 2]
    )


def test_an_empty_list_is_one_of_whole_numbers() -> None:
    op = Operator.make("Transpose", perm=())
    assert op.attribute("perm", 7) == []
    assert op.attributes["perm"].type == AttributeProto.INTS


def test_both_names_of_the_default_domain() -> None:
    assert Operator("Add", domain="ai.onnx").qualname == "Add"
    assert Operator("Add", domain="ai.onnx").node_proto().domain == "ai.onnx"


def test_attributes_that_come_from_the_function_around() -> None:
    message = AttributeProto(name="to", type=AttributeProto.INT, ref_attr_name="kind")
    op = Operator("Cast", {"to": message})
    assert op.references
    with pytest.raises(ModelError, match="attribute 'to' of Cast is 'kind' of the function"):
        op.attribute("to")
    assert not Operator.make("Cast", to=1).references


def test_other_attributes_leave_the_rest() -> None:
    op = Operator("F", {}, "own", "second", onnx.NodeProto(doc_string="text", input=["a"]))
    other = op.with_attributes([helper.make_attribute("k", 1)])
    assert not op.attributes
    proto = other.node_proto()
    assert (proto.overload, proto.doc_string, list(proto.input)) == ("second", "text", [])
    assert other.attribute("k") == 1


def test_a_message_without_its_graphs() -> None:
    graph = AttributeProto(name="body", type=AttributeProto.GRAPH)
    op = Operator("Loop", {"body": graph, "k": helper.make_attribute("k", 1)})
    assert [a.name for a in op.node_proto().attribute] == ["k"]


def test_both_names_of_the_default_domain_call_the_same_function() -> None:
    assert Operator("F", domain="ai.onnx").function_key == ("", "F", "")
    assert Operator("F", domain="own", overload="two").function_key == ("own", "F", "two")


def test_a_descendant_is_known_by_its_first_ancestor() -> None:
    first, made = Operator("F"), Operator("F", {"k": helper.make_attribute("k", 1)})
    child = made.descended_from(first)
    assert child.origin is first and child.attribute("k") == 1
    assert Operator("G").descended_from(child).origin is first
