from onnx import TensorProto as T
from straightline.definitions.signatures import signature_of
from straightline.facts.fact import UNKNOWN, Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator


def test_absent_inputs_open_sizes_and_unknown_types_stay_apart():
    shape = (Dimension.constant(2), Dimension.symbol("N"))
    facts = [Fact(T.FLOAT, shape), UNKNOWN, UNKNOWN]
    signature = signature_of(Operator.make("Op"), [1, None, 2], facts, [None, 1], lambda i: None)
    assert signature.elem_types == [T.FLOAT, None, 0]
    assert signature.shapes == [[2, None], None, None]
    assert signature.outputs == [False, True]
