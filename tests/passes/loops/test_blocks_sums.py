"""Sums over iterations, block by block."""

import dataclasses

import numpy as np
import pytest
from harness import as_model, assert_keeps, assert_rewrites, run_in_onnxruntime, run_passes
from straightline import reference
from straightline.passes import BlockLoops
from vectorized import numbers

SUMS = """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n) => (float[2, 3] y)
    <bool yes = {1}> {
    y = Loop (n, yes, s0) <body = b (int64 i, bool c, float[2, 3] s)
        => (bool c2, float[2, 3] t) {
        c2 = Identity (c) e = Gather (x, i) v = Mul (w, e) t = Add (s, v) }> }"""
MANY = BlockLoops(block_bytes=32 * 48)
"""At least 32 rows of integers, 64 of floats."""


def assert_sums(text, *ns, exact=False):
    model = as_model(text)
    result = run_passes(model, dataclasses.replace(MANY, exact=exact))
    assert result.changed, result.remarks
    for n in ns:
        feed = {"x": numbers(80, 3), "w": numbers(2, 3), "s0": numbers(2, 3), "n": np.array(n)}
        feed |= {"u0": np.arange(6).reshape(2, 3)}
        feed = {value.name: feed[value.name] for value in model.graph.input}
        expected = reference.run(model, dict(feed))
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(result.model, dict(feed)), expected, strict=True):
                assert one.shape == other.shape and one.dtype == other.dtype
                np.testing.assert_allclose(one, other, rtol=0 if exact else 1e-4, atol=1e-4)


def test_a_sum():
    assert_rewrites(
        BlockLoops(block_bytes=32 * 24),
        SUMS,
        """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n) => (float[2, 3] y)
            <bool yes = {1}, int64[1] axes = {0}, int64 k = {1}, int64 k_1 = {32},
            bool holds = {1}> {
            vector = Unsqueeze (n, axes) iterations = Max (vector, axes)
            count = Squeeze (iterations, axes) last = Sub (count, k) padded = Add (last, k_1)
            blocks = Div (padded, k_1) some = Max (blocks, k) full = Div (last, some)
            block = Add (full, k) block_1 = Max (block, k)
            y = Loop (blocks, holds, s0) <body = b (int64 block_number, bool holds_1,
                float[2, 3] s) => (bool holds_2, float[2, 3] t)
                <int64[1] axes_1 = {0}, int64[1] axes_2 = {1}> {
                start = Mul (block_number, block_1) stop = Add (start, block_1)
                end = Min (stop, count) places = Range (start, end, k)
                e = Gather <axis = 0> (x, places) e_lifted = Unsqueeze (e, axes_2)
                v = Mul (w, e_lifted) v_1 = ReduceSum <keepdims = 0> (v, axes_1)
                t = Add (s, v_1) holds_2 = Identity (holds_1) }> }""",
    )


@pytest.mark.parametrize("body", ["t = Add (s, v)", "t = Add (v, s)", "t = Sub (s, v)"])
def test_numbers_of_iterations(body):
    assert_sums(SUMS.replace("t = Add (s, v)", body), 0, -2, 1, 63, 64, 65, 80)


def test_several_sums_of_which_one_is_read():
    text = SUMS.replace("float[2, 3] s0, ", "float[2, 3] s0, int64[2, 3] u0, ")
    text = text.replace("=> (float[2, 3] y)", "=> (float[2, 3] y, int64[2, 3] z)")
    text = text.replace("y = Loop (n, yes, s0)", "unread, z, y = Loop (n, yes, s0, u0, s0)")
    text = text.replace("bool c, float[2, 3] s)", "bool c, float[2, 3] q, int64[2, 3] u, P s)")
    text = text.replace("(bool c2, ", "(bool c2, P p, int64[2, 3] o, ").replace("P", "float[2, 3]")
    assert_sums(text.replace("t = Add", "p = Sub (q, v) o = Sub (u, i) t = Add"), 0, 7, 40, 80)


def test_sums_that_round_or_do_not_pay():
    reason = "it adds up values that are too large for a block of many"
    assert_keeps(BlockLoops(block_bytes=31 * 24), SUMS, reason)


def test_a_sum_beside_rows():
    rows = SUMS.replace("float[2, 3] y)", "float[2, 3] y, float[M, 2, 3] z)")
    rows = rows.replace("y = Loop", "y, z = Loop").replace("3] t)", "3] t, float[2, 3] r)")
    assert_sums(rows.replace("t = Add", "r = Neg (v) t = Add"), 0, 1, 63, 64, 65, 80)


def test_an_exact_sum_of_floats_stays_in_an_inner_loop():
    text = SUMS.replace("v = Mul", "q = Exp (e) v = Mul").replace("(w, e)", "(w, q)")
    assert_sums(text, 0, 7, 64, 80, exact=True)


def test_integers_keep_their_order():
    text = SUMS.replace("t = Add (s, v)", "q = Cast <to = 7> (v) t = Add (s, q)")
    text = text.replace("float[2, 3] s0", "int64[2, 3] u0").replace("yes, s0)", "yes, u0)")
    text = text.replace("=> (float[2, 3] y)", "=> (int64[2, 3] y)").replace("c, float", "c, int64")
    text = text.replace("c2, float", "c2, int64")
    assert run_passes(as_model(text), BlockLoops(block_bytes=32 * 48, exact=True)).changed
