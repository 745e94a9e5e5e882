"""Reductions: over which axes, and over none."""

import pytest
from conversions import (
    REDUCTIONS,
    assert_becomes,
    assert_refuses,
    assert_there_and_back,
    assert_writes,
)

WITHOUT_AXES = {
    "ReduceL1": "Abs (x)",
    "ReduceL2": "Abs (x)",
    "ReduceLogSum": "Log (x)",
    "ReduceLogSumExp": "Identity (x)",
    "ReduceMax": "Identity (x)",
    "ReduceMean": "Identity (x)",
    "ReduceMin": "Identity (x)",
    "ReduceProd": "Identity (x)",
    "ReduceSumSquare": "Mul (x, x)",
}
"""What a reduction over no axes does, by operator."""


@pytest.mark.parametrize("op_type", ["ReduceSum", *REDUCTIONS])
def test_negative_axes_are_counted_from_the_front(op_type):
    wanted = [f"{op_type} <axes = [2, 0, 1]> (x)"]
    body = f"y = {op_type} <axes = [-2, 0, 1]> (x)"
    assert_writes(body, 11, 10, wanted, "float[1, 1, 1, 4] x")


@pytest.mark.parametrize(
    ("op_type", "opset"), [("ReduceSum", 13), *((op_type, 18) for op_type in REDUCTIONS)]
)
def test_axes_become_an_input_and_an_attribute_again(op_type, opset):
    attribute, given = f"{op_type} <axes = [1]> (x)", f"{op_type} (x, [1])"
    assert_writes(f"y = {attribute}", opset - 1, opset, [given])
    body = f"a = Constant <value_ints = [1]> () y = {op_type} (x, a)"
    assert_writes(body, opset, opset - 1, [attribute])


@pytest.mark.parametrize(("op_type", "without"), WITHOUT_AXES.items())
def test_a_reduction_over_no_axes_is_done_element_by_element(op_type, without):
    assert_writes(f"y = {op_type} <noop_with_empty_axes = 1> (x)", 18, 17, [without])
    assert_writes(f"y = {op_type} (x)", 18, 17, [f"{op_type} (x)"])


def test_a_sum_over_no_axes_gives_its_input_back():
    assert_writes("y = ReduceSum <noop_with_empty_axes = 1> (x)", 13, 12, ["Identity (x)"])
    assert_writes("y = ReduceSum (x)", 13, 12, ["ReduceSum (x)"])


def test_inputs_that_are_computed_at_run_time_are_refused():
    reason = "computed at run time, and opset 12 wants it constant"
    assert_refuses("y = ReduceSum (x, a)", 13, 12, reason, "float[2, 3] x, int64[1] a")


def test_types_that_came_later_are_reduced_in_another_one():
    assert_becomes(
        "y = ReduceMax (x)",
        12,
        11,
        """
        words = Cast <to = 6> (x)
        largest = ReduceMax (words)
        y = Cast <to = 3> (largest)
        """,
        "int8[4] x",
    )
    assert_becomes(
        "y = ReduceMin (x)",
        20,
        19,
        """
        bytes = Cast <to = 2> (x)
        least = ReduceMin (bytes)
        y = Cast <to = 9> (least)
        """,
        "bool[4] x",
    )


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = ReduceMax <axes = [-1], keepdims = 0> (x)", "float[2]", 13, (7, 10, 18, 20)),
        ("y = ReduceL2 (x)", "float[1, 1]", 18, (7, 13, 17)),
        ("y = ReduceSumSquare <noop_with_empty_axes = 1> (x)", "float[2, 3]", 18, (7, 13, 17)),
        ("y = ReduceSum <noop_with_empty_axes = 1> (x)", "float[2, 3]", 13, (7, 12)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)


def test_a_sum_of_powers_is_never_its_function_which_overflows():
    body = "n = Identity (a) y = ReduceLogSumExp (x, n)"
    signature = "float[2, 3] x, int64[1] a"
    assert_refuses(body, 18, 17, "'axes' of it is computed at run time", signature)
    assert_writes(
        "a = Constant <value_ints = [1]> () y = ReduceLogSumExp (x, a)",
        18,
        17,
        ["ReduceLogSumExp <axes = [1]> (x)"],
    )
