"""Comparisons, logic and choices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from operator_facts import (
    BOOL,
    INT64,
    M,
    N,
    arrays,
    assert_agrees,
    assert_says_all,
    bounds_said,
    lying,
    said,
    wide,
)
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact
from tables import cases, table


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


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
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


@table(("Where", [Known(Fact(BOOL)), lying(2, 5), lying(-1, 3)], (-1, 5)))
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


def test_operands_without_bounds_give_none():
    for unknown in range(1, 3):
        inputs = [Known(Fact()) if k == unknown else lying(1, 2) for k in range(3)]
        assert bounds_said("Where", inputs) == ["any"]
