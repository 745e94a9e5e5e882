import itertools

import numpy as np
import onnx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from operator_facts import (
    ABSENT,
    BOOL,
    FLOAT,
    INT32,
    INT64,
    STRING,
    UINT8,
    UNKNOWN,
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
    shape_said,
    shaped,
    tensor,
    wide,
)
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact
from straightline.ops import rules_of
from tables import cases, table


@table(
    ("Relu", [shaped(N)], {}, [N]),
    ("Clip", [shaped(N, 3), shaped(), None], {}, [N, 3]),
    ("Add", [shaped(N, 1), shaped(M)], {}, [N, M]),
    ("Add", [shaped(N), shaped(2, 1)], {}, [2, N]),
    ("Add", [shaped(N), shaped(M)], {}, ["?"]),
    ("Add", [shaped(N + 2), shaped(M)], {}, [N + 2]),
    ("Add", [shaped(3), shaped(N)], {}, [3]),
    ("Add", [shaped(0), shaped(1)], {}, [0]),
    ("Add", [shaped(2), shaped(3)], {}, None),
    ("Add", [shaped(2), None], {}, None),
    ("Add", [shaped(2, 3), shaped(2)], {"broadcast": 1, "axis": 0}, None),
    ("Sum", [shaped(N, 3), shaped(3), shaped(M, 1, 1)], {}, [M, N, 3]),
    ("Sum", [shaped(N)], {}, [N]),
    ("Where", [shaped(N, 3), shaped(1), shaped(3)], {}, [N, 3]),
)
def test_shapes(op_type, facts, attributes, wanted):
    assert shape_said(op_type, *facts, **attributes) == wanted


@given(arrays(1, wide), st.sampled_from([INT64, INT32, BOOL]))
def test_cast_of_numbers(operands, to):
    assert_agrees("Cast", operands, to=to)


@given(arrays(1, st.booleans(), np.bool_), st.sampled_from([INT64, INT32, BOOL]))
def test_cast_of_truth_values(operands, to):
    assert_agrees("Cast", operands, to=to)


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("Cast", [[3, 0, -1]], {"to": BOOL}),
    ("Cast", [[True, False]], {"to": BOOL}),
    ("Cast", [[True, False]], {"to": INT64}),
    ("Cast", [[True, False]], {"to": INT32}),
    ("Cast", [[3, -4]], {"to": INT32}),
    ("Cast", [[3, -4]], {"to": INT64}),
    ("Add", [[3, -4], [1]], {}),
    ("Sub", [[3, -4], [1]], {}),
    ("Mul", [[3, -4], [2]], {}),
    ("Div", [[7, -7, 7, -7], [2, 2, -2, -2]], {}),
    ("Mod", [[7, -7, 7, -7, 6], [2, 2, -2, -2, 3]], {}),
    ("Mod", [[7, -7, 7, -7, 6], [2, 2, -2, -2, 3]], {"fmod": 1}),
    ("Neg", [[3, -4]], {}),
    ("Min", [[3, -4], [1, 5], [2, 2]], {}),
    ("Max", [[3, -4], [1, 5], [2, 2]], {}),
    ("Equal", [[3, 4], [3, 3]], {}),
    ("Equal", [[True, True], [True, False]], {}),
    ("Less", [[3, 4, 5], [4, 4, 4]], {}),
    ("Greater", [[3, 4, 5], [4, 4, 4]], {}),
    ("LessOrEqual", [[3, 4, 5], [4, 4, 4]], {}),
    ("GreaterOrEqual", [[3, 4, 5], [4, 4, 4]], {}),
    ("Not", [[True, False]], {}),
    ("And", [[True, True, False, False], [True, False, True, False]], {}),
    ("Or", [[True, True, False, False], [True, False, True, False]], {}),
    ("Where", [[True, False], [1, 2], [3, 4]], {}),
)


@table(
    ("Sin", [[1]], INT64, None),
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
    ("Equal", [[N, N + 1, N, N * 2, None], [N, 0, M, 3, 1]], BOOL,
     [True, False, None, False, None]),
    ("Less", [[N, N, N, None], [N + 1, 0, 1, 1]], BOOL, [True, False, None, None]),
    ("Greater", [[N + 1, 0, N], [N, N, 1]], BOOL, [True, False, None]),
    ("LessOrEqual", [[N, N + 1, N], [N, N, 1]], BOOL, [True, False, None]),
    ("GreaterOrEqual", [[N, N, N], [0, N + 1, 1]], BOOL, [True, False, None]),
    ("Not", [[True, None]], BOOL, [False, None]),
    ("And", [[None, None, True], [False, True, None]], BOOL, [False, None, None]),
    ("Or", [[None, None, False], [True, False, None]], BOOL, [True, None, None]),
    ("Where", [[True, False], [N, N], [1, None]], INT64, [N, None]),
    ("Where", [[None, None], [N, N], [N, 1]], INT64, [N, None]))  # fmt: skip
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


@table(
    ("Clip", [lying(-9, 9), lying(0, 1), lying(4, 5)], (0, 5)),
    ("Clip", [lying(-9, 9), lying(0, 1)], (0, 9)),
    ("Clip", [lying(-9, 9), None, lying(4, 5)], (-9, 5)),
    ("Clip", [lying(-9, 9)], (-9, 9)),
    ("Cast", [lying(2, 5, INT32)], (2, 5)),
    ("Cast", [Known(Fact(BOOL))], (0, 1)),
    ("Cast", [Known(Fact(FLOAT))], "any"),
    ("Sin", [lying(0, 1)], "any"),
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
    ("Where", [Known(Fact(BOOL)), lying(2, 5), lying(-1, 3)], (-1, 5)),
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


BROADCAST = (
    "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterOrEqual Less LessOrEqual Max Mean"
    " Min Mul Or Sub Sum Xor PRelu Div Mod Pow"
)


@pytest.mark.parametrize("op_type", BROADCAST.split())
def test_shapes_that_broadcast(op_type):
    how = {"fmod": 1} if op_type == "Mod" else {}
    cannot_fail(op_type, tensor(2, N, 3), tensor(N, 1), **how)
    cannot_fail(op_type, tensor(2, N, 3), tensor(), **how)
    reason = "the slope may not fit" if op_type == "PRelu" else "sizes that must broadcast"
    may_fail(reason, op_type, tensor(2, N, 3), tensor(N, 2))
    may_fail(reason, op_type, tensor(2, N, 3), tensor(M, 3))
    if op_type != "PRelu":
        cannot_fail(op_type, tensor(1, 3), tensor(2, 1), **how)
        cannot_fail(op_type, UNKNOWN, tensor(1, 1), **how)
        may_fail("the shape of an operand is not known", op_type, UNKNOWN, tensor(1, 2))
        may_fail("the shape of an operand is not known", op_type, UNKNOWN, UNKNOWN)


def test_any_number_of_operands_broadcast():
    cannot_fail("Sum", tensor(2, 3), tensor(3), tensor(1))
    may_fail("sizes that must broadcast", "Sum", tensor(1, 1), tensor(2), tensor(3))
    cannot_fail("Where", tensor(2, 1), tensor(3), tensor(2, 3))
    may_fail("sizes that must broadcast", "Where", tensor(2, 1), tensor(3), tensor(3, 3))


def test_a_slope_is_stretched_and_never_stretches():
    cannot_fail("PRelu", tensor(2, 3), tensor(3))
    may_fail("the slope may not fit", "PRelu", tensor(2, 1), tensor(3))
    may_fail("the slope has too many axes", "PRelu", tensor(3), tensor(1, 3))
    may_fail("the rank of 'i0' is not known", "PRelu", UNKNOWN, tensor(1))


def test_casts_and_clips():
    cannot_fail("Cast", tensor(2))
    may_fail("a string may not spell a number", "Cast", tensor(2, elem_type=STRING))
    may_fail("the element type of 'i0' is not known", "Cast", Known(Fact()))
    cannot_fail("Clip", UNKNOWN)
    cannot_fail("Clip", UNKNOWN, tensor(), tensor())
    cannot_fail("Clip", UNKNOWN, ABSENT, tensor())
    may_fail("'i1' may not have rank 0", "Clip", UNKNOWN, tensor(1), tensor())
    may_fail("'i2' may not have rank 0", "Clip", UNKNOWN, ABSENT, tensor(1))


@pytest.mark.parametrize("op_type", ["Max", "Min", "Sum", "Mean"])
def test_operands_have_one_shape_before_opset_8(op_type):
    cannot_fail(op_type, tensor(2, N), tensor(2, N), opset=7)
    cannot_fail(op_type, tensor(2, N), tensor(N), opset=8)
    reason = "its operands need one shape before opset 8"
    may_fail(reason, op_type, tensor(2, N), tensor(N), opset=7)
    may_fail(reason, op_type, tensor(2, N), tensor(2, 1), opset=7)


# Arithmetic: what is said of results, and when it cannot fail.


@given(st.sampled_from(["Add", "Sub", "Mul", "Min", "Max", "Div", "Mod"]), arrays(2, wide))
def test_arithmetic(op_type, operands):
    if op_type in ("Div", "Mod"):
        assume(np.all(operands[1]))
        assume(not (op_type == "Div" and np.any(operands[0] == -(2**63))))
    assert_agrees(op_type, operands)


@given(arrays(2))
def test_remainder_with_the_sign_of_the_dividend(operands):
    assume(np.all(operands[1]))
    assert_agrees("Mod", operands, fmod=1)


@given(st.sampled_from(["Min", "Max"]), st.integers(1, 4), st.data())
def test_any_number_of_operands(op_type, count, data):
    content = assert_agrees(op_type, data.draw(arrays(count)))
    assert content is None or all(element is not None for element in content.reshape(-1))


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


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Min", "Max", "Mod", "Where"])
def test_operands_without_bounds_give_none(op_type):
    first, count = (1, 3) if op_type == "Where" else (0, 2)
    for unknown in range(first, count):
        inputs = [Known(Fact()) if k == unknown else lying(1, 2) for k in range(count)]
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


# Comparisons, logic and choices.


@given(
    st.sampled_from(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]), arrays(2, wide)
)
def test_comparisons(op_type, operands):
    assert_agrees(op_type, operands)


@given(st.sampled_from(["And", "Or"]), arrays(2, st.booleans(), np.bool_))
def test_logic(op_type, operands):
    assert_agrees(op_type, operands)


@given(arrays(1, st.booleans(), np.bool_), arrays(2))
def test_where(condition, branches):
    assert_agrees("Where", [*condition, *branches])
