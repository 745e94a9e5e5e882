"""Types, attributes, sizes and times in few words."""

import ml_dtypes
import numpy as np
import onnx
import pytest
import straightline as sl
from onnx import TensorProto, helper
from straightline.report.texts import (
    attributes_text,
    cut,
    tensor_bytes,
    type_text,
)

FLOATS = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 4, None])


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (None, ""),
        (onnx.TypeProto(), ""),
        (FLOATS, "float[N,4,?]"),
        (helper.make_tensor_type_proto(TensorProto.INT64, []), "int64"),
        (helper.make_tensor_type_proto(TensorProto.BOOL, None), "bool[]"),
        (helper.make_sequence_type_proto(FLOATS), "seq(float[N,4,?])"),
        (helper.make_optional_type_proto(FLOATS), "optional(float[N,4,?])"),
        (helper.make_map_type_proto(TensorProto.STRING, FLOATS), "map(string, float[N,4,?])"),
        (helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3]), "sparse_tensor(float[3])"),
    ],
)
def test_a_type_is_written_as_in_onnx_text(declared, text):
    assert type_text(declared) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"axis": 1}, "axis=1"),
        ({"alpha": 0.1}, "alpha=0.1"),
        ({"mode": "linear"}, "mode='linear'"),
        ({"perm": [1, 0]}, "perm=[1, 0]"),
        ({"perm": list(range(100))}, "perm=100 values"),
        ({"mode": "x" * 200}, "mode='" + "x" * 58 + "…"),
        ({"value": helper.make_tensor("", TensorProto.FLOAT, [2], [1, 2])}, "value=float[2]"),
    ],
)
def test_attributes_are_short(given, text):
    assert attributes_text(sl.ir.Operator.make("Some", **given)) == text


def test_a_graph_is_not_an_attribute_and_a_reference_is_told():
    message = onnx.AttributeProto(name="axis", ref_attr_name="dim", type=onnx.AttributeProto.INT)
    body = onnx.AttributeProto(name="body", type=onnx.AttributeProto.GRAPH)
    op = sl.ir.Operator("Softmax", {"axis": message, "body": body})
    assert attributes_text(op) == "axis=@dim"


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (np.zeros((2, 3), np.float32), 24),
        (np.zeros(3, bool), 3),
        (np.zeros(3, ml_dtypes.int4), 2),
        (np.zeros((0, 4), np.float64), 0),
        (np.array(["a"], object), 0),
    ],
)
def test_bytes_of_a_tensor(array, size):
    assert tensor_bytes(sl.ir.Tensor(onnx.numpy_helper.from_array(array))) == size


def test_words():
    assert cut("a" * 60) == "a" * 60 and len(cut("a" * 61)) == 60
