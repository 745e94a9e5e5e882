"""When quantising cannot fail, and that it is kept."""

import pytest
from operator_facts import UNKNOWN, cannot_fail, may_fail, tensor
from straightline.ir import Operator
from straightline.ops import rules_of


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_quantised_by_one_scale(op_type):
    cannot_fail(op_type, UNKNOWN, tensor())
    cannot_fail(op_type, UNKNOWN, tensor(), tensor())
    may_fail("'i1' may not have rank 0", op_type, UNKNOWN, tensor(1))
    may_fail("'i2' may not have rank 0", op_type, UNKNOWN, tensor(), tensor(1))


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"])
def test_a_quantisation_is_not_folded_away(op_type):
    assert rules_of(Operator(op_type)).kept_from_folding
