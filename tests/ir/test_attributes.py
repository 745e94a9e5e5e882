import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from straightline.ir import ModelError
from straightline.ir.attributes import (
    ANY,
    check_value,
    graphs_in,
    has_value_to_check,
    kind_of,
    name_of_kind,
    value_of,
)
from straightline.ir.message_contents import Types
from tables import table

GRAPH = helper.make_graph([], "g", [], [])
VALUES = {
    AttributeProto.FLOAT: 0.5,
    AttributeProto.INT: 3,
    AttributeProto.STRING: b"text",
    AttributeProto.TENSOR: numpy_helper.from_array(np.ones(2)),
    AttributeProto.TYPE_PROTO: helper.make_tensor_type_proto(TensorProto.FLOAT, [2]),
    AttributeProto.FLOATS: [0.5, 1.0],
    AttributeProto.INTS: [1, 2],
    AttributeProto.STRINGS: [b"a", b"b"],
}


@pytest.mark.parametrize("kind", VALUES, ids=AttributeProto.AttributeType.Name)
def test_kinds_that_a_file_does_not_say_are_those_of_the_values(kind: int) -> None:
    said = helper.make_attribute("a", VALUES[kind])
    unsaid = helper.make_attribute("a", VALUES[kind])
    unsaid.ClearField("type")
    assert kind_of(said) == kind_of(unsaid) == kind
    assert value_of(unsaid) == value_of(said) == VALUES[kind]
    assert not unsaid.type, "the message stays as it is"


def test_kinds_of_references_and_of_nothing() -> None:
    assert kind_of(AttributeProto(name="a", ref_attr_name="b")) == ANY
    said = AttributeProto(name="a", ref_attr_name="b", type=AttributeProto.INT)
    assert kind_of(said) == AttributeProto.INT
    assert kind_of(AttributeProto(name="a")) == AttributeProto.UNDEFINED
    assert (name_of_kind(AttributeProto.INTS), name_of_kind(77)) == ("INTS", "77")


def test_graphs_that_an_attribute_holds_itself() -> None:
    one, many = helper.make_attribute("a", GRAPH), helper.make_attribute("a", [GRAPH, GRAPH])
    assert list(graphs_in(one)) == [GRAPH] and len(graphs_in(many)) == 2
    taken = AttributeProto(name="a", type=AttributeProto.GRAPH, ref_attr_name="outer")
    assert not graphs_in(taken) and not graphs_in(helper.make_attribute("a", 1))


def negative_tensor() -> onnx.TensorProto:
    return TensorProto(data_type=TensorProto.FLOAT, dims=[-1])


def unknown_type() -> onnx.TypeProto:
    return helper.make_sequence_type_proto(helper.make_tensor_type_proto(99, []))


@table(
    (helper.make_attribute("to", 99), "99 as its attribute 'to', which is not an element type"),
    (helper.make_attribute("value", negative_tensor()), "'value' of Foo 'n' has a negative"),
    (helper.make_attribute("a", [negative_tensor()]), "'a' of Foo 'n' has a negative"),
    (helper.make_attribute("type", unknown_type()), "of Foo 'n' has the element type 99"),
    (AttributeProto(name="value", type=AttributeProto.TENSOR), "'value' that holds no tensor"),
)
def test_values_that_are_refused(attribute: AttributeProto, fault: str) -> None:
    kind = kind_of(attribute)
    assert has_value_to_check(attribute.name, kind)
    with pytest.raises(ModelError, match=fault):
        check_value(attribute, kind, "Foo 'n'", Types())


@table(
    helper.make_attribute("to", TensorProto.INT8),
    helper.make_attribute("axis", 99),
    AttributeProto(name="value", type=AttributeProto.TENSOR, ref_attr_name="given"),
    *(helper.make_attribute("a", value) for value in VALUES.values()),
)
def test_values_that_are_fine(attribute: AttributeProto) -> None:
    check_value(attribute, kind_of(attribute), "Foo 'n'", Types())


def test_plain_numbers_need_no_look() -> None:
    assert not has_value_to_check("axis", AttributeProto.INT)
    assert has_value_to_check("dtype", AttributeProto.INT)
