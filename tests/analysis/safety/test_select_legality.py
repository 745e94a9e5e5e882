import onnx
from onnx import helper
from straightline.analysis.safety.select_legality import shape_text, unselectable, without_select
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from tables import table

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
N, TWO = Dimension.symbol("N"), Dimension.constant(2)
SEQUENCE = Fact(other=helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [2])))


@table(
    (Fact(FLOAT, (N, TWO)), Fact(FLOAT, (N, TWO)), 9, None),
    (Fact(BOOL, ()), Fact(BOOL, ()), 9, None),
    (SEQUENCE, Fact(FLOAT, (N,)), 17, "is a sequence or optional"),
    (Fact(FLOAT, (N,)), SEQUENCE, 17, "is a sequence or optional"),
    (Fact(0, (N,)), Fact(0, (N,)), 17, "is of unknown type"),
    (Fact(FLOAT, (N,)), Fact(0, (N,)), 17, "is of unknown type"),
    (Fact(FLOAT, (N,)), Fact(INT64, (N,)), 17, "is of unknown type"),
    (Fact(onnx.TensorProto.BFLOAT16, (N,)), Fact(onnx.TensorProto.BFLOAT16, (N,)), 15,
     "is of type bfloat16, which Where does not support in opset 15"),
    (Fact(onnx.TensorProto.BFLOAT16, (N,)), Fact(onnx.TensorProto.BFLOAT16, (N,)), 16, None),
    (Fact(FLOAT), Fact(FLOAT, (N,)), 17, "is of unknown shape"),
    (Fact(FLOAT, (N,)), Fact(FLOAT), 17, "is of unknown shape"),
    (Fact(FLOAT, (N,)), Fact(FLOAT, (TWO,)), 17, "differs in shape, or may: [N] and [2]"),
    (Fact(FLOAT, (N,)), Fact(FLOAT, (N, TWO)), 17, "or may: [N] and [N, 2]"))  # fmt: skip
def test_types_without_a_select(one, other, opset, why):
    found = unselectable(one, other, opset)
    assert found is None if why is None else why in found


def test_shapes_as_messages_show_them():
    assert shape_text(()) == "[]"
    assert shape_text((TWO, N + 1, Dimension.symbol("?0"))) == "[2, N + 1, unknown]"


@table((8, "opset 8 has no Where; convert to opset 9 first"), (9, None), (18, None))
def test_the_opset_must_have_a_select(opset, why):
    assert without_select(opset) == why
