"""Sizes of what a Loop gives out where it makes no iterations."""

import numpy as np
from harness import as_model
from loops import HEAD, op_types
from straightline import reference
from vectorized import FEED, assert_same, vectorized


def test_sizes_that_nothing_declares_are_none_without_iterations():
    """Where the body says no size a Loop gives 0 at no iterations, though there would be others."""
    text = """g (float[N, K] x, int64 n) => (float[?, ?] z) <bool yes = {1}> {
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[?] r) {
            c2 = Identity (c) e = Gather (x, i) r = Neg (e) }>
    }"""
    before = as_model(HEAD + text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n, shape in ((0, (0, 0)), (2, (2, 3))):
        feed = {"x": FEED["x"], "n": np.array(n)}
        assert reference.run(before, feed)[0].shape == shape
        assert_same(before, result.model, feed)


def test_sizes_of_what_is_carried_into_the_loop_are_not_asked():
    """The body declares symbols, which tell no sizes, though those outside are known."""
    text = """g (float[3, 4] x, int64 n) => (float[3, 4] v, float[?, ?, ?] z) <bool yes = {1}> {
        v, z = Loop (n, yes, x) <body = b (int64 i, bool c, float[A, B] a)
                => (bool c2, float[A, B] r, float[A, B] s) {
            c2 = Identity (c) r = Tanh (a) s = Exp (r) }>
    }"""
    before = as_model(HEAD + text)
    result = vectorized(before)
    assert "Exp" in set(op_types(result.model.graph)), "computed at once"
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    for n, shape in ((0, (0, 0, 0)), (2, (2, 3, 4))):
        feed = {"x": x, "n": np.array(n)}
        assert reference.run(before, feed)[1].shape == shape
        assert_same(before, result.model, feed)
