import pytest
from operator_facts import UNKNOWN, N, cannot_fail, may_fail, tensor
from straightline.ir import Operator
from straightline.ops import rules_of


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_quantised_by_one_scale(op_type):
    cannot_fail(op_type, UNKNOWN, tensor())
    cannot_fail(op_type, UNKNOWN, tensor(), tensor())
    may_fail("'i2' may have the wrong rank", op_type, UNKNOWN, tensor(), tensor(1))


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_quantised_by_a_scale_for_each_position_of_an_axis(op_type):
    cannot_fail(op_type, tensor(2, N), tensor(N))
    cannot_fail(op_type, tensor(2, N), tensor(2), tensor(2), axis=-2)
    may_fail("scales and the axis may not fit: 2 and N", op_type, tensor(2, N), tensor(2))
    may_fail("'i1' may scale blocks", op_type, tensor(2, 4), tensor(2, 2), axis=-2)
    may_fail("'i1' may scale blocks", op_type, tensor(2, 4), tensor(4), axis=-1, block_size=2)
    may_fail("'i1' may scale positions", op_type, tensor(2, N), tensor(N), opset=12)


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"])
def test_a_quantisation_is_not_folded_away(op_type):
    assert rules_of(Operator(op_type)).kept_from_folding
