"""Copies of messages: fields of a newer onnx are kept, others are left out where one asks."""

import onnx
import onnx.parser
import pytest
import straightline as sl
from google.protobuf.unknown_fields import UnknownFieldSet
from straightline import ir
from straightline.ir.io.protobuf.message_copies import copy_without, encode

# Of field 999: a text, a number, 64 and 32 bits, and a group that holds a number.
FIELDS = bytes.fromhex(
    "ba3e03616263" + "b83e9601" + "b93e0102030405060708" + "bd3e01020304" + "bb3e0805bc3e"
)

MODEL = """
    <ir_version: 10, opset_import: ["": 21, "local": 1]>
    g (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}> {
        a = Add (x, w)
        b = If (c) <then_branch = t () => (p) { p = Relu (a) },
                    else_branch = e () => (q) { q = Neg (a) }>
        y = local.F (b)
    }
    <domain: "local", opset_import: ["": 21]> F (v) => (z) { z = Abs (v) }
"""

PLACES = {
    "model": lambda m: m,
    "graph": lambda m: m.graph,
    "node": lambda m: m.graph.node[0],
    "node with a body": lambda m: m.graph.node[1],
    "body": lambda m: m.graph.node[1].attribute[0].g,
    "node of a body": lambda m: m.graph.node[1].attribute[0].g.node[0],
    "function": lambda m: m.functions[0],
    "node of a function": lambda m: m.functions[0].node[0],
    "initializer": lambda m: m.graph.initializer[0],
    "input": lambda m: m.graph.input[0],
    "attribute": lambda m: m.graph.node[1].attribute[0],
}


@pytest.mark.parametrize("place", PLACES)
def test_they_come_back(place):
    proto = onnx.parser.parse_model(MODEL)
    PLACES[place](proto).MergeFromString(FIELDS)
    assert FIELDS in proto.SerializeToString()
    back = ir.to_proto(ir.load(proto))
    assert encode(UnknownFieldSet(PLACES[place](back))) == FIELDS


def test_a_rewrite_keeps_those_of_what_stays():
    proto = onnx.parser.parse_model(MODEL)
    proto.graph.node[0].MergeFromString(FIELDS)
    back = sl.convert_version(sl.rewrite(proto, values={"c": True}), 18)
    assert [node.op_type for node in back.graph.node][:2] == ["Add", "Relu"]
    (add, *rest) = back.graph.node
    assert encode(UnknownFieldSet(add)) == FIELDS
    assert not any(len(UnknownFieldSet(node)) for node in rest)


def test_nodes_of_one_kind_with_and_without_them():
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y)'
        "{ a = Abs (x) y = Abs (a) }"
    )
    proto.graph.node[1].MergeFromString(FIELDS)
    model = ir.load(proto)
    first, second = model.graph.nodes()
    assert first.op != second.op
    assert ir.to_proto(model) == proto


def test_a_copy_without_fields():
    tensor = onnx.TensorProto(name="w", dims=[600], raw_data=bytes(2400))
    tensor.segment.SetInParent()
    made = copy_without(tensor, {"raw_data"})
    assert (made.name, made.dims, made.HasField("raw_data")) == ("w", [600], False)
    assert made.HasField("segment") and not made.HasField("doc_string")
