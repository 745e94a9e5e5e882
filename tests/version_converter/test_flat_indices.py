import numpy as np
import pytest
from conversions import assert_carried, assert_carried_everywhere

RNG = np.random.default_rng(0)


@pytest.mark.sample(4)
@pytest.mark.parametrize("sizes", ["3, 4, 5", "A, B, C"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("target", [10, 9])
def test_scatter_and_gather_use_the_same_place(sizes, depth, target):
    """Both go by flat indices, negative ones among them."""
    x = RNG.normal(size=(3, 4, 5)).astype(np.float32)
    places = np.stack([[0, -1], [1, -2], [-3, 2]][:depth], -1)
    updates = RNG.normal(size=(2, *x.shape[depth:])).astype(np.float32)
    rest = "".join(f", {size}" for size in x.shape[depth:])
    signature = f"float[{sizes}] x, int64[2, {depth}] i, float[2{rest}] u"
    body = "s = ScatterND (x, i, u) y = GatherND (s, i)"
    assert_carried(body, 11, (target,), {"x": x, "i": places, "u": updates}, signature)


@pytest.mark.sample(3)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sizes", [(0, 2, 3), (2, 0, 3), (2, 3, 0), (0, 3, 0), (0, 0, 0)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_empty_axes_keep_their_places(known, sizes, depth):
    """Whether run time or the model tells which they are."""
    count = 0 if 0 in sizes[:depth] else 2
    x = np.zeros(sizes, np.float32)
    names = list(map(str, sizes)) if known else ["A", "B", "C"]
    rest = "".join(f", {name}" for name in names[depth:])
    signature = f"float[{', '.join(names)}] x, int64[N, {depth}] i, float[N{rest}] u"
    feeds = {"x": x, "i": np.zeros((count, depth), np.int64)}
    feeds["u"] = np.ones((count, *sizes[depth:]), np.float32)
    for body in ("y = GatherND (x, i)", "y = ScatterND (x, i, u)"):
        assert_carried_everywhere(body, 11, (10, 9), feeds, signature, ("graph", "function"))
