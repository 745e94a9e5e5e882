import ml_dtypes
import numpy as np
import onnx
import straightline as sl
from onnx import TensorProto, helper
from straightline.report.texts import (
    attributes_of,
    cut,
    elements_text,
    parameters_of,
    tensor_bytes,
    type_text,
)
from tables import table

FLOATS = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 4, None])


@table(
    (None, ""),
    (onnx.TypeProto(), ""),
    (FLOATS, "float[N,4,?]"),
    (helper.make_tensor_type_proto(TensorProto.INT64, []), "int64"),
    (helper.make_tensor_type_proto(TensorProto.BOOL, None), "bool[]"),
    (helper.make_sequence_type_proto(FLOATS), "seq(float[N,4,?])"),
    (helper.make_optional_type_proto(FLOATS), "optional(float[N,4,?])"),
    (helper.make_map_type_proto(TensorProto.STRING, FLOATS), "map(string, float[N,4,?])"),
    (helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3]), "sparse_tensor(float[3])"),
)
def test_a_type_is_written_as_in_onnx_text(declared, text):
    assert type_text(declared) == text


@table(
    ({"axis": 1}, "1"),
    ({"alpha": 0.1}, "0.1"),
    ({"mode": "linear"}, "'linear'"),
    ({"perm": [1, 0]}, "[1, 0]"),
    ({"value": helper.make_tensor("", TensorProto.FLOAT, [2], [1, 2])}, "[1, 2]"),
    ({"value": helper.make_tensor("", TensorProto.FLOAT, [9], range(9))}, "float[9]"),
)
def test_attributes_are_names_and_texts(given, text):
    assert attributes_of(sl.ir.Operator.make("Some", **given)) == ((*given, text),)


def test_a_long_attribute_is_cut_and_still_differs_from_another_one():
    texts = [attributes_of(sl.ir.Operator.make("Some", a=[*range(900), n]))[0][1] for n in (1, 2)]
    assert texts[0] != texts[1] and all(2000 < len(text) < 2100 for text in texts)


def test_a_graph_is_not_an_attribute_and_a_reference_is_told():
    message = onnx.AttributeProto(name="axis", ref_attr_name="dim", type=onnx.AttributeProto.INT)
    body = onnx.AttributeProto(name="body", type=onnx.AttributeProto.GRAPH)
    op = sl.ir.Operator("Softmax", {"axis": message, "body": body})
    assert attributes_of(op) == (("axis", "@dim"),)


@table(
    (np.array([1, 2]), "[1, 2]"),
    (np.array(0.25, np.float32), "0.25"),
    (np.array([1.5], ml_dtypes.bfloat16), "[1.5]"),
    (np.array(["a"], object), "['a']"),
    (np.arange(9), ""),
)
def test_a_small_constant_is_shown_and_weights_are_not(array, text):
    assert elements_text(sl.ir.Tensor(array=array)) == text


def test_inputs_are_named_as_in_the_specification_of_the_opset():
    op = sl.ir.Operator.make
    assert parameters_of(op("Unsqueeze"), {"": 13}) == ("data", "axes")
    assert parameters_of(op("Unsqueeze"), {"": 11}) == ("data",)
    assert parameters_of(op("Concat"), {"": 13}) == ()  # any number of them
    assert parameters_of(op("Gelu"), {"": 13}) == ()  # of a later opset
    assert parameters_of(op("Mine", "local"), {"local": 1}) == ()


@table(
    (np.zeros((2, 3), np.float32), 24),
    (np.zeros(3, bool), 3),
    (np.zeros(3, ml_dtypes.int4), 2),
    (np.zeros((0, 4), np.float64), 0),
    (np.array(["a"], object), 0),
)
def test_bytes_of_a_tensor(array, size):
    assert tensor_bytes(sl.ir.Tensor(onnx.numpy_helper.from_array(array))) == size


def test_words():
    assert cut("a" * 60) == "a" * 60 and len(cut("a" * 61)) == 60


def test_contents_that_cannot_be_read_are_not_shown():
    text = onnx.TensorProto(data_type=onnx.TensorProto.STRING, dims=[1], string_data=[b"\xff"])
    assert elements_text(sl.ir.Tensor(text)) == ""
