import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_facts import (
    ABSENT,
    BOOL,
    FLOAT,
    INT32,
    INT64,
    STRING,
    UNKNOWN,
    M,
    N,
    arrays,
    assert_agrees,
    assert_says_all,
    bounds_said,
    cannot_fail,
    lying,
    may_fail,
    said,
    shape_said,
    shaped,
    tensor,
    wide,
)
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact
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
)


@table(("Sin", [[1]], INT64, None))
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
