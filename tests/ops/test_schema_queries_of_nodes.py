"""Schemas: the faults of nodes against them."""

from straightline.ops.schema_queries import formals, schema_at, type_fault, type_text
from tables import table

FLOAT, INT, NOTHING = ("x", ["tensor(float)"]), ("n", ["tensor(int64)"]), ("u", [])


@table(
    ("Add", [FLOAT, FLOAT], None),
    ("Add", [FLOAT, INT], "A is a tensor(float) and B a tensor(int64)"),
    ("Add", [FLOAT, NOTHING], None),
    ("Relu", [INT], "'n' is a tensor(int64), which Relu does not support in opset 13"),
    ("Constant", [None], None),  # absent inputs at the end may be written
    ("NoSuchOperator", [FLOAT], None),
)
def test_types_of_inputs(op_type, inputs, fault):
    found = type_fault(op_type, 13, inputs, [])
    assert (found is None) if fault is None else found is not None and fault in found


def test_an_operator_before_its_time_has_no_schema():
    assert schema_at("Gelu", 19) is None and schema_at("Gelu", 20) is not None
    assert [formal.name for formal in formals(schema_at("Gelu", 20))[0]] == ["X"]


def test_a_type_of_which_nothing_is_known_has_no_text():
    import onnx

    assert type_text(onnx.TypeProto()) == ""
