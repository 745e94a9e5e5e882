"""Loops of which a part of the condition bounds the iterations: while not done and i < 3."""

import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, assert_keeps, run_passes
from loops import assert_predicates
from straightline import rewrite
from straightline.passes.control.predicate_loops import PredicateLoops


def bounded(maximum="most", end="three", go="go = And (early, inside)"):
    text = """g (float[2] x, float limit, int64 n) => (float[2] y)
        <int64 most = {9223372036854775807}, int64 zero = {0}, int64 one = {1}, bool yes = {1},
         int64 three = {3}> {
           y, i_end = Loop (MOST, yes, x, zero) <body = b (int64 i, bool k, float[2] a, int64 j)
                                          => (bool go, float[2] r, int64 j2) {
              r = Add (a, a)
              top = ReduceMax <keepdims = 0> (r)
              early = Less (top, limit)
              j2 = Add (j, one)
              inside = Less (j2, END)
              GO }> }"""
    return text.replace("MOST", maximum).replace("END", end).replace("GO", go)


@pytest.mark.parametrize("maximum", ["most", ""])
@pytest.mark.parametrize(
    "go",
    [
        "go = And (early, inside)",
        "both = And (inside, early) go = Identity (both)",
        "late = Not (early) out = Not (inside) done = Or (late, out) go = Not (done)",
    ],
)
def test_a_part_of_the_condition_is_a_bound(maximum, go):
    """while not done and i < 3: three iterations are written out, whatever the maximum says."""
    text = bounded(maximum, go=go)
    feeds = [
        {"x": np.array([1, 2], np.float32), "limit": np.array(top, np.float32), "n": np.array(0)}
        for top in (0, 5, 9, 99)
    ]
    assert_predicates(text, feeds)
    (remark,) = run_passes(text, PredicateLoops()).remarks
    assert remark.reason.startswith("unrolled to 3 iterations")


def test_a_maximum_that_run_time_tells_ends_a_loop_too():
    """However few iterations the condition allows: a maximum below that would not be seen."""
    text = bounded("n")
    assert_keeps(PredicateLoops(), text, "its maximum depends on input 'n'; decide it with --set")
    feed = {"x": np.array([1, 2], np.float32), "limit": np.array(99, np.float32)}
    for n in (-1, 0, 2, 9):
        assert_equal_outputs(text, rewrite(as_model(text), "selects"), feed | {"n": np.array(n)})


def test_conditions_without_a_bound():
    """One of two ways to go on bounds nothing; nor does a limit that is known only at run time."""
    either = bounded(go="go = Or (early, inside)")
    assert_keeps(PredicateLoops(), either, "it has no maximum, so its copies cannot be counted")
    assert_keeps(
        PredicateLoops(),
        bounded(end="n"),
        "a part of its condition depends on input 'n'; decide it with --set n=...",
    )
