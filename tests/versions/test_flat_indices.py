"""Indices into several axes as indices into one; the operators have files of their own."""

import numpy as np
import pytest
from conversions import assert_carried

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("sizes", ["3, 4, 5", "A, B, C"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("target", [10, 9])
def test_what_is_scattered_is_gathered_at_the_same_place(sizes, depth, target):
    """Both go by flat indices, negative ones among them."""
    x = RNG.normal(size=(3, 4, 5)).astype(np.float32)
    places = np.stack([[0, -1], [1, -2], [-3, 2]][:depth], -1)
    updates = RNG.normal(size=(2, *x.shape[depth:])).astype(np.float32)
    rest = "".join(f", {size}" for size in x.shape[depth:])
    signature = f"float[{sizes}] x, int64[2, {depth}] i, float[2{rest}] u"
    body = "s = ScatterND (x, i, u) y = GatherND (s, i)"
    assert_carried(body, 11, (target,), {"x": x, "i": places, "u": updates}, signature)
