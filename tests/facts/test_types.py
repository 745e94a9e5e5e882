import onnx
from onnx.helper import make_optional_type_proto as optional
from onnx.helper import make_sequence_type_proto as sequence
from onnx.helper import make_tensor_type_proto as tensor
from straightline.facts.types import agreed, completed
from tables import table

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


@table(
    (tensor(FLOAT, [2, "N"]), tensor(FLOAT, [2, "N"]), tensor(FLOAT, [2, "N"])),
    (tensor(FLOAT, [2, "N"]), tensor(FLOAT, [3, "N"]), tensor(FLOAT, [None, "N"])),
    (tensor(FLOAT, [2]), tensor(FLOAT, [2, 3]), tensor(FLOAT, None)),
    (tensor(FLOAT, [2]), tensor(FLOAT, None), tensor(FLOAT, None)),
    (tensor(FLOAT, None), tensor(FLOAT, []), tensor(FLOAT, None)),
    (tensor(FLOAT, [2]), tensor(INT64, [2]), None),
    (tensor(FLOAT, [2]), sequence(tensor(FLOAT, [2])), None),
    (tensor(FLOAT, [2]), None, None),
    (onnx.TypeProto(), tensor(FLOAT, [2]), None),
    (sequence(tensor(FLOAT, [2])), sequence(tensor(INT64, [2])), None),
    (optional(sequence(tensor(FLOAT, [2]))), optional(sequence(tensor(FLOAT, [3]))),
     optional(sequence(tensor(FLOAT, [None])))))  # fmt: skip
def test_agreed(one, other, wanted):
    assert agreed(one, other) == wanted
    assert agreed(other, one) == wanted


@table(
    (tensor(FLOAT, None), tensor(FLOAT, [2]), tensor(FLOAT, [2])),
    (tensor(FLOAT, [None, 4]), tensor(FLOAT, [2, 5]), tensor(FLOAT, [2, 4])),
    (tensor(FLOAT, [None]), tensor(FLOAT, [2, 5]), tensor(FLOAT, [None])),
    (tensor(FLOAT, None), tensor(INT64, [2]), tensor(FLOAT, None)),
    (tensor(FLOAT, [None]), tensor(FLOAT, None), tensor(FLOAT, [None])),
    (sequence(tensor(FLOAT, None)), sequence(tensor(FLOAT, ["N"])), sequence(tensor(FLOAT, ["N"]))),
    (sequence(tensor(FLOAT, None)), tensor(FLOAT, [2]), sequence(tensor(FLOAT, None))),
)
def test_completed(one, other, wanted):
    before = one.SerializeToString()
    assert completed(one, other) == wanted
    assert one.SerializeToString() == before
