import onnx
from straightline.ops.schema_queries import (
    allowed_types,
    default_of,
    operators,
    schema_at,
    type_text,
)
from straightline.version_converter.schemas import (
    OLDEST,
    REVIEWED,
    changes,
    constant_takes,
    first_opset,
)
from tables import table

T = onnx.TensorProto


def tensor(elem_type: int) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(elem_type, None)


def test_a_schema_is_that_in_force_in_an_opset():
    assert schema_at("Pad", 12).since_version == 11
    assert schema_at("Pad", 13).since_version == 13
    assert schema_at("IsNaN", 8) is None
    assert schema_at("NoSuchOperator", 13) is None


@table(
    ("Pad", 12, 13, True),
    ("Pad", 11, 12, False),
    ("IsNaN", 8, 9, True),
    ("IsNaN", 7, 8, False),
    ("Upsample", 9, 10, True),
)
def test_an_operator_changes_with_its_schema(op_type, version, other, changed):
    assert changes(op_type, version, other) is changed
    assert changes(op_type, other, version) is changed


def test_defaults_are_python_values():
    assert default_of(schema_at("Pad", 13), "mode") == b"constant"
    assert default_of(schema_at("Softmax", 12), "axis") == 1
    assert default_of(schema_at("Split", 18), "num_outputs") is None
    assert default_of(schema_at("Split", 18), "no_such_attribute") is None


def test_allowed_types_are_those_of_the_type_variable_or_the_type_itself():
    assert allowed_types(schema_at("Relu", 6), "T") == {
        "tensor(float16)",
        "tensor(float)",
        "tensor(double)",
    }
    assert allowed_types(schema_at("Reshape", 13), "tensor(int64)") == {"tensor(int64)"}


@table(
    (tensor(T.FLOAT), "tensor(float)"),
    (tensor(T.BFLOAT16), "tensor(bfloat16)"),
    (tensor(0), ""),
    (onnx.helper.make_sparse_tensor_type_proto(T.INT8, [2]), "sparse_tensor(int8)"),
    (onnx.helper.make_sequence_type_proto(tensor(T.BOOL)), "seq(tensor(bool))"),
    (onnx.helper.make_optional_type_proto(tensor(T.BOOL)), "optional(tensor(bool))"),
    (onnx.helper.make_optional_type_proto(onnx.helper.make_sequence_type_proto(tensor(T.STRING))),
     "optional(seq(tensor(string)))"),
    (onnx.helper.make_sequence_type_proto(tensor(0)), ""),
    (onnx.TypeProto(), ""))  # fmt: skip
def test_types_are_written_as_schemas_write_them(type_, text):
    assert type_text(type_) == text


def test_types_of_constants():
    assert constant_takes(T.FLOAT, 8) and not constant_takes(T.INT64, 8)
    assert constant_takes(T.INT64, 9) and not constant_takes(T.BFLOAT16, 12)


def test_the_versions_that_were_reviewed_are_known_to_onnx():
    assert OLDEST < REVIEWED <= onnx.defs.onnx_opset_version()


def test_the_first_opset_of_an_operator():
    assert first_opset("Gelu") == 20 and first_opset("Relu") == 1
    assert first_opset("ResizeBilinear") is None


def test_all_operators():
    assert {"Relu", "Scan", "Upsample"} <= set(operators())
    assert "Normalizer" not in operators()  # of another domain
