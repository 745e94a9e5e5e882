"""Reads of a buffer that a Loop fills, forwarded from what it writes."""

import numpy as np
import pytest
from harness import as_model, assert_equal, run_in_onnxruntime, run_passes
from loops import HEAD, op_types
from straightline import reference, rewrite
from straightline.passes import ForwardStores

LOOP = """g (float[N, 2] x, float[N, 2] y0, int64 n) => (float[N, 2] y)
        <bool yes = {{1}}, int64[1] z = {{0}}, int64 zero = {{0}}, int64 one = {{1}},
        int64 two = {{2}}> {{
    sh = Shape (x) m = Gather (sh, zero) last = Sub (m, one)
    y = Loop ({trips}, yes, {start}) <body = b (int64 i, bool c, float[?, 2] s)
            => (bool c2, float[?, 2] t) {{
        c2 = Identity (c) {index} {body} at0 = Unsqueeze (w, z) at = Unsqueeze (at0, z)
        u = Unsqueeze (v, z) t = ScatterND (s, at, u) }}> }}"""
BEFORE = "i2 = Add (i, one) w = Identity (i2)"


def model_of(index, body, trips="m", start="y0"):
    return as_model(HEAD + LOOP.format(index=index, body=body, trips=trips, start=start))


def assert_same(before, after, length, trips=None):
    rng = np.random.default_rng(length)
    x, y0 = (rng.normal(size=(length, 2)).astype(np.float32) for _ in range(2))
    feed = {"x": x, "y0": y0, "n": np.array(length if trips is None else trips)}
    for run in (reference.run, run_in_onnxruntime):
        for one, other in zip(run(after, feed), run(before, feed), strict=True):
            assert_equal(one, other)


FORWARDED = {
    "its own place": ("w = Identity (i)", "e = Gather (s, i) v = Exp (e)"),
    "its own place from the end": ("w = Sub (last, i)", "e = Gather (s, w) v = Exp (e)"),
    "twice": ("w = Identity (i)", "e = Gather (s, i) f = Gather (s, i) v = Mul (e, f)"),
    "a row": ("w = Identity (i)", "k = Unsqueeze (i, z) e = Gather (s, k) f = Squeeze (e, z)"
        " v = Neg (f)"),
}  # fmt: skip


@pytest.mark.parametrize("case", FORWARDED)
def test_places_that_are_not_written_yet(case):
    model = model_of(*FORWARDED[case])
    result = run_passes(model, ForwardStores())
    assert result.changed
    assert not run_passes(result.model, ForwardStores()).changed
    fast = rewrite(model, "accelerate", verify=False)
    assert "Loop" not in op_types(fast.graph)
    for length in (0, 1, 2, 5):
        for after in (result.model, fast):
            assert_same(model, after, length)


RUNNING = (
    "i1 = Add (i, one) w = Identity (i1)",
    "r = Gather (s, i) e = Gather (x, i) v = Add (r, e)",
)
LONGER = "g0 = Gather (x, zero) g1 = Unsqueeze (g0, z) longer = Concat <axis = 0> (g1, x)"


def longer(index, body):
    text = LOOP.format(index=index, body=body, trips="m", start="longer")
    return as_model(
        HEAD
        + text.replace("last = Sub", f"{LONGER} last = Sub").replace(
            "float[N, 2] y)", "float[M, 2] y)"
        )
    )


def test_the_place_that_the_iteration_before_wrote():
    model = longer(*RUNNING)
    result = run_passes(model, ForwardStores())
    assert result.changed
    fast = rewrite(model, "accelerate", verify=False)
    assert "CumSum" in op_types(fast.graph) and "Loop" not in op_types(fast.graph)
    for length in (1, 2, 5):
        for after in (result.model, fast):
            assert_same(model, after, length)


def test_the_last_row_before_the_first_one():
    """Index -1 is the last row, which the first iteration reads as it was."""
    index, body = (
        "w = Identity (i)",
        "k = Sub (i, one) r = Gather (s, k) e = Gather (x, i) v = Add (r, e)",
    )
    model = longer(index, body)
    result = run_passes(model, ForwardStores())
    assert result.changed
    for length in (1, 2, 5):
        assert_same(model, result.model, length)


KEPT = {
    "two iterations before": ("w = Add (i, two)", "r = Gather (s, i) v = Exp (r)", "n", "y0"),
    "the first row": ("w = Identity (i)", "r = Gather (s, zero) v = Exp (r)", "m", "y0"),
    "all rows": ("w = Identity (i)", "v = ReduceSum <keepdims = 0> (s, z)", "m", "y0"),
    "every second": ("w = Mul (i, two)", "r = Gather (s, i) v = Exp (r)", "n", "y0"),
    "a buffer that may be empty": (
        "w = Add (i, one)",
        "r = Gather (s, i) v = Exp (r)",
        "n",
        "y0",
    ),
    "through 0": ("w = Sub (i, two)", "k = Sub (i, one) r = Gather (s, k) v = Exp (r)", "m", "y0"),
}


@pytest.mark.parametrize("case", KEPT)
def test_near_misses(case):
    assert not run_passes(model_of(*KEPT[case]), ForwardStores()).changed
