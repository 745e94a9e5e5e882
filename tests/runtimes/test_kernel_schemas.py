import onnx
from straightline.runtimes.kernel_schemas import kernel_schema, lacks_operator

FLOAT, UINT8 = onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8


def test_types_and_attributes_of_an_operator():
    (name, types), (_, scales), *_ = kernel_schema("com.microsoft", "QLinearSigmoid", 17).inputs
    assert name == "T" and UINT8 in types and list(scales) == [FLOAT]
    assert kernel_schema("com.microsoft", "QuickGelu", 17).attributes == {"alpha": "FLOAT"}


def test_the_version_is_that_of_the_opset():
    assert kernel_schema("", "Clip", 6).attributes.keys() == {"min", "max"}
    assert not kernel_schema("", "Clip", 13).attributes


def test_an_operator_that_onnxruntime_lacks():
    assert kernel_schema("com.acme", "Swish", 17) is None
    assert kernel_schema("", "Gelu", 17) is None
    assert lacks_operator("com.acme", "Swish", 17)
    assert not lacks_operator("com.microsoft", "QuickGelu", 17)
