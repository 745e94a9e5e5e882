"""Reductions: axes as an attribute and as an input."""

import pytest
from spelled import model, require_open, require_same

SUMMED = "(float[2,3,4] x) => (float[2,4] y)"
ALL = "(float[2,3,4] x) => (float y)"


@pytest.mark.parametrize(
    ("name", "since"),
    [("ReduceSum", 13), ("ReduceMean", 18), ("ReduceMax", 18), ("ReduceL2", 18)],
)
def test_axes_that_became_an_input(name, since):
    old = model(f"y = {name} <axes = [1], keepdims = 0> (x)", since - 1, SUMMED)
    for axis in (1, -2):
        new = f"<int64[1] a = {{{axis}}}> {{ y = {name} <keepdims = 0> (x, a) }}"
        require_same(old, model(new, since, SUMMED))
        require_same(old, model(new, 21, SUMMED))


def test_no_axes_are_all():
    old = model("y = ReduceSum <keepdims = 0> (x)", 11, ALL)
    require_same(old, model("y = ReduceSum <keepdims = 0> (x)", 13, ALL))
    empty = "<int64[0] a = {}> { y = ReduceSum <keepdims = 0> (x, a) }"
    require_same(old, model(empty, 13, ALL))


@pytest.mark.parametrize("name", ["ReduceMin", "ReduceMax", "ReduceProd"])
def test_over_none_a_plain_reduction_is_its_input(name):
    noop = model(f"y = {name} <noop_with_empty_axes = 1> (x)", 18)
    require_same(noop, model("y = Identity (x)", 18))


def test_over_none_a_sum_makes_0_of_minus_0_in_the_reference():
    noop = model("y = ReduceSum <noop_with_empty_axes = 1> (x)", 18)
    require_open(noop, model("y = Identity (x)", 18))


def test_over_none_a_square_is_taken():
    noop = model("y = ReduceSumSquare <noop_with_empty_axes = 1> (x)", 18)
    require_same(noop, model("y = Mul (x, x)", 18))
    require_open(noop, model("y = Identity (x)", 18))


def test_other_axes_are_another_reduction():
    old = model(
        "y = ReduceSum <axes = [1], keepdims = 0> (x)", 11, "(float[3,3] x) => (float[3] y)"
    )
    new = "<int64[1] a = {0}> { y = ReduceSum <keepdims = 0> (x, a) }"
    require_open(old, model(new, 13, "(float[3,3] x) => (float[3] y)"))


def test_axes_that_run_time_tells_stay():
    text = "y = ReduceSum <keepdims = 0> (x, a)"
    signature = "(float[3,3] x, int64[1] a) => (float[3] y)"
    assert_same = model(text, 13, signature)
    require_open(assert_same, model("y = ReduceSum <keepdims = 1> (x, a)", 13, signature))
