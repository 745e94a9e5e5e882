"""Arithmetic: what is said of results, and when it cannot fail."""

import itertools

import numpy as np
import onnx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from operator_facts import (
    INT32,
    INT64,
    UINT8,
    M,
    N,
    arrays,
    assert_agrees,
    assert_says_all,
    between,
    bounds_said,
    cannot_fail,
    lying,
    make_node,
    may_fail,
    numbers,
    said,
    tensor,
    wide,
)
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact
from straightline.ops import rules_of
from tables import cases, table


@given(st.sampled_from(["Add", "Sub", "Mul", "Min", "Max", "Div", "Mod"]), arrays(2, wide))
def test_arithmetic(op_type, operands):
    if op_type in ("Div", "Mod"):
        assume(np.all(operands[1]))
        assume(not (op_type == "Div" and np.any(operands[0] == -(2**63))))
    with np.errstate(over="ignore"):
        assert_agrees(op_type, operands)


@given(arrays(2))
def test_remainder_with_the_sign_of_the_dividend(operands):
    assume(np.all(operands[1]))
    assert_agrees("Mod", operands, fmod=1)


@given(st.sampled_from(["Min", "Max"]), st.integers(1, 4), st.data())
def test_any_number_of_operands(op_type, count, data):
    content = assert_agrees(op_type, data.draw(arrays(count)))
    assert content is None or all(element is not None for element in content.reshape(-1))


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("Add", [[3, -4], [1]], {}),
    ("Sub", [[3, -4], [1]], {}),
    ("Mul", [[3, -4], [2]], {}),
    ("Div", [[7, -7, 7, -7], [2, 2, -2, -2]], {}),
    ("Mod", [[7, -7, 7, -7, 6], [2, 2, -2, -2, 3]], {}),
    ("Mod", [[7, -7, 7, -7, 6], [2, 2, -2, -2, 3]], {"fmod": 1}),
    ("Neg", [[3, -4]], {}),
    ("Min", [[3, -4], [1, 5], [2, 2]], {}),
    ("Max", [[3, -4], [1, 5], [2, 2]], {}),
)


@table(
    ("Add", [[N, None], [1, 1]], INT64, [N + 1, None]),
    ("Sub", [[N, 3], [N, M]], INT64, [0, 3 - M]),
    ("Mul", [[N, None], [2, 0]], INT64, [N * 2, None]),
    ("Div", [[N * 6, N + 1, N], [2, 2, 0]], INT64, [N * 3, None, None]),
    ("Mod", [[N * 6, N + 1, N * 2, N], [2, 2, 0, N]], INT64, [0, None, None, None]),
    ("Neg", [[N, None]], INT64, [-N, None]),
    ("Min", [[N, N + 1, N], [N + 1, N, M]], INT64, [N, N, None]),
    ("Max", [[N, N + 1, N], [N + 1, N, M]], INT64, [N + 1, N + 1, None]),
    ("Min", [[N, N], [0, N], [-1, N]], INT64, [-1, N]),
    ("Min", [[N, N + 1, N * M], [2**63 - 1, 2**50, 2**63 - 1]], INT64, [N, N + 1, None]),
    ("Max", [[N, 7], [2**63 - 1, N]], INT64, [2**63 - 1, None]),
    ("Max", [[N, M], [0, N], [-1, N]], INT64, [N, None]),
    ("Add", [[1], None], INT64, None),
)
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


def test_products_hold_for_every_pair_of_numbers():
    numbers = [-3, -1, 0, 2]
    ranges = [(a, b) for a in numbers for b in numbers if a <= b]
    for one, other in itertools.product(ranges, repeat=2):
        ((low, high),) = bounds_said("Mul", [lying(*one), lying(*other)])
        products = [a * b for a in range(one[0], one[1] + 1) for b in range(other[0], other[1] + 1)]
        assert (low, high) == (min(products), max(products))


def test_remainders_that_take_the_sign_of_the_dividend():
    assert bounds_said("Mod", [lying(0, 9), lying(2, 5)], fmod=1) == [(0, 4)]
    assert bounds_said("Mod", [lying(-1, 9), lying(2, 5)], fmod=1) == ["any"]


@table(
    ("Add", [lying(2, 5), lying(-1, 3)], (1, 8)),
    ("Add", [lying(0, N), lying(0, M)], (0, N + M)),
    ("Sub", [lying(2, 5), lying(-1, 3)], (-1, 6)),
    ("Mul", [lying(2, 5), lying(-1, 3)], (-5, 15)),
    ("Mul", [lying(-2, 5), lying(-4, 3)], (-20, 15)),
    ("Mul", [lying(0, N), lying(1, 2)], (0, N * 2)),
    ("Mul", [lying(-2, N), lying(-3, M)], "any"),
    ("Neg", [lying(0, N)], (-N, 0)),
    ("Min", [lying(2, 5), lying(-1, 3)], (-1, 3)),
    ("Min", [lying(2, 3), lying(1, 9), lying(0, 7)], (0, 3)),
    ("Min", [lying(0, N), lying(0, M)], (0, N)),
    ("Min", [lying(0, N + 1), lying(0, N)], (0, N)),
    ("Max", [lying(2, 5), lying(-1, 3)], (2, 5)),
    ("Max", [lying(0, N + 1), lying(2, N)], (2, N + 1)),
    ("Max", [lying(0, N), lying(0, M)], "any"),
    ("Mod", [lying(-9, 9), lying(2, 5)], (0, 4)),
    ("Mod", [lying(-9, 9), lying(1, N)], (0, N - 1)),
    ("Mod", [lying(-9, 9), lying(0, 5)], "any"),
    ("Mod", [lying(-9, 9), lying(-3, -2)], "any"),
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


@pytest.mark.parametrize("op_type", ["Div", "Mod"])
def test_integers_are_divided_by_what_is_neither_zero_nor_less_by_one(op_type):
    some = between(-9, 9)
    cannot_fail(op_type, some, between(1, 5))
    cannot_fail(op_type, some, between(-5, -1))
    may_fail("'i1' may be zero", op_type, some, between(0, 5))
    may_fail("'i1' may be zero", op_type, some, between(-5, 0))
    cannot_fail(op_type, some, numbers([3, -1, -2]))
    may_fail("'i1' may be zero", op_type, some, numbers([3, 0]))
    may_fail("'i1' may be zero", op_type, some, numbers([3, None]))
    cannot_fail(op_type, some, numbers([N + 1]))
    may_fail("'i1' may be zero", op_type, some, numbers([N]))
    for elem_type, least in ((INT64, -(2**63)), (INT32, -(2**31))):
        smallest = between(least, 0, elem_type=elem_type)
        divisor = between(-1, -1, elem_type=elem_type)
        may_fail("'i1' may be -1 where 'i0' is the smallest integer", op_type, smallest, divisor)
        cannot_fail(op_type, between(least + 1, 0, elem_type=elem_type), divisor)
        cannot_fail(op_type, smallest, between(-5, -2, elem_type=elem_type))
    cannot_fail(op_type, tensor(2), tensor(2), **({"fmod": 1} if op_type == "Mod" else {}))


def test_powers_of_integers():
    some = between(-9, 9)
    cannot_fail("Pow", some, between(0, 5))
    may_fail("'i1' may be negative", "Pow", some, between(-1, 5))
    cannot_fail("Pow", tensor(2), between(-1, 5, 2))
    cannot_fail("Pow", some, tensor())


@pytest.mark.parametrize(("elem_type", "bits"), [(UINT8, 8), (onnx.TensorProto.UINT32, 32)])
def test_shifts_by_fewer_bits_than_there_are(elem_type, bits):
    data = tensor(2, elem_type=elem_type)
    cannot_fail("BitShift", data, between(0, bits - 1, 2, elem_type=elem_type))
    by = between(0, bits, 2, elem_type=elem_type)
    may_fail(f"'i1' may be {bits} or more", "BitShift", data, by)
    may_fail("sizes that must broadcast", "BitShift", data, between(0, 1, 3, elem_type=elem_type))


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Min", "Max", "Mod"])
def test_operands_without_bounds_give_none(op_type):
    for unknown in range(2):
        inputs = [Known(Fact()) if k == unknown else lying(1, 2) for k in range(2)]
        assert bounds_said(op_type, inputs) == ["any"]


@pytest.mark.parametrize("op_type", ["Div", "Mod"])
def test_arrays_that_a_runtime_refuses_to_divide_by(op_type):
    def is_settled(dividend, divisor):
        arrays = [dividend, divisor]
        node = make_node(op_type, arrays)
        return rules_of(node.op).is_settled(node, arrays, arrays[:1])

    for dtype in (np.int64, np.uint8):
        one = np.ones(2, dtype)
        assert is_settled(one, np.array([2, 1], dtype))
        assert not is_settled(one, np.array([2, 0], dtype))
    least = np.array([-(2**63), 1])
    assert is_settled(least, np.array([1, -1])) is False
    assert is_settled(-np.ones(2, np.int64), np.array([1, -1]))
    assert is_settled(np.ones(2, np.float32), np.array([2, 0], np.float32))


def test_a_remainder_of_floats_is_that_of_the_dividend():
    may_fail("fmod must be 1 for floats", "Mod", tensor(2), tensor(2))
    may_fail("fmod must be 1 for floats", "Mod", tensor(2), tensor(2), fmod=0)
