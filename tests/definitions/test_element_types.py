from onnx import TensorProto as T
from straightline.definitions.element_types import FLOATS, types_named


def test_a_name_stands_for_one_type_or_a_group():
    assert types_named("float") == (T.FLOAT,) and types_named("floats") == FLOATS
    assert T.UINT8 in types_named("integers") and T.UINT8 not in types_named("signed")
    assert types_named("int63") is None and types_named("") is None
