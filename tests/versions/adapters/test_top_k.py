"""TopK: how many, and from which end."""

import numpy as np
import pytest
from conversions import (
    X,
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_there_and_back,
    assert_writes,
    converted,
)

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    ("y, i = TopK <k = 2> (x)", 9, 10, ["TopK (x, [2])"], "float[2, 3] x"),
    (
        "k = Constant <value = int64[1] {2}> () y, i = TopK (x, k)",
        10,
        9,
        ["TopK <k = 2> (x)"],
        "float[2, 3] x",
    ),
    ("y, i = TopK <sorted = 0> (x, k)", 11, 10, ["TopK (x, k)"], "float[2, 3] x, int64[1] k"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_what_each_step_writes(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)


def test_the_smallest_are_the_largest_of_the_negated():
    assert_becomes(
        "y, i = TopK <largest = 0> (x, k)",
        11,
        10,
        """
        negated = Neg (x)
        values, i = TopK (negated, k)
        y = Neg (values)
        """,
        "float[3] x, int64[1] k",
    )
    assert_becomes(
        "y, i = TopK (x, k)",
        11,
        10,
        """
        doubles = Cast <to = 11> (x)
        values, i = TopK (doubles, k)
        y = Cast <to = 3> (values)
        """,
        "int8[3] x, int64[1] k",
    )


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("output", ["y, i", "i, y"])
def test_the_smallest(axis, output):
    body = f"{output} = TopK <largest = 0, axis = {axis}> (x, k)"
    fed = {"x": X, "k": np.array([2], np.int64)}
    assert_carried(body, 11, (10,), fed, "float[2, 3] x, int64[1] k")
    reason = "largest = 0 of integers cannot be said in opset 10"
    assert_refuses(body, 11, 10, reason, "int64[2, 3] x, int64[1] k")


def test_only_outputs_that_hold_data_are_cast_back():
    body = "y, i = TopK <largest = 0> (x, k) j = Identity (i)"
    found = converted(body, 11, 10, "int32[3] x, int64[1] k")
    assert found[:2] == ["Cast <to = 11> (x)", "Neg (y_cast)"]
    assert sum(line.startswith("Cast") for line in found) == 2


def test_the_smallest_in_any_order():
    signature = "float[2, 3] x, int64[1] k"
    found = converted("y, i = TopK <largest = 0, sorted = 0> (x, k)", 11, 10, signature)
    assert found == ["Neg (x)", "TopK (y_negated, k)", "Neg (y_values)"]


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y, i = TopK <k = 2> (x)", "float[2, 2]", 9, (7, 10, 11, 24)),
        (
            "k = Constant <value_ints = [2]> () y, i = TopK <largest = 0, axis = 1> (x, k)",
            "float[2, 2]",
            13,
            (7, 9, 10, 24),
        ),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)


@pytest.mark.parametrize("how", ["", "<axis = 0>", "<largest = 0>"])
def test_a_count_from_run_time_keeps_the_first_of_all(how):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    body = f"v, i = TopK {how} (x, k) f = Cast <to = 1> (i) y = Add (v, f)"
    feeds = {"x": x, "k": np.array([2])}
    assert_carried(body, 11, (10, 9), feeds, "float[3, 4] x, int64[1] k")


def test_a_count_from_run_time_needs_the_length():
    reason = "needs the length of axis -1"
    assert_refuses("y, i = TopK (x, k)", 10, 9, reason, "float[3, N] x, int64[1] k")


def test_the_type_must_be_known_to_be_negated():
    body = "k = Constant <value_ints = [2]> () y, i = TopK <largest = 0> (x, k)"
    reason = "largest = 0 needs the one element type of input 0, which is not known"
    assert_refuses(body, 11, 10, reason, "x")
