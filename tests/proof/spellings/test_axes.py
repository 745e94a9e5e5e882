"""Axes that count from the back, and operators with another name."""

import pytest
from spelled import model, require_open, require_same

CASES = [
    ("y = ArgMax <axis = AXIS, keepdims = 1> (x)", "(float[2,3] x) => (int64[2,1] y)", 2),
    ("y = LpNormalization <axis = AXIS> (x)", "(float[2,3] x) => (float[2,3] y)", 2),
    (
        "y = OneHot <axis = AXIS> (x, n, v)",
        "(int64[3] x, int64 n, float[2] v) => (float[3,K] y)",
        2,
    ),
    ("y = Compress <axis = AXIS> (x, c)", "(float[2,3] x, bool[3] c) => (float[2,K] y)", 2),
    (
        "y = GatherElements <axis = AXIS> (x, i)",
        "(float[2,3] x, int64[2,3] i) => (float[2,3] y)",
        2,
    ),
]


@pytest.mark.parametrize(("text", "signature", "rank"), CASES)
def test_an_axis_counts_from_the_front(text, signature, rank):
    last, back, first = (
        model(text.replace("AXIS", str(axis)), 12, signature) for axis in (rank - 1, -1, 0)
    )
    require_same(last, back, seeds=0)
    require_open(first, back)


def test_gather_of_a_negative_axis_by_places_that_run_time_tells():
    signature = "(float[2,3] x, int64[4] i) => (float[2,4] y)"
    old = model("y = Gather <axis = 1> (x, i)", 8, signature)
    require_same(old, model("y = Gather <axis = -1> (x, i)", 13, signature), seeds=0)


def test_scatter_is_called_scatter_elements():
    signature = "(float[2,2] x, int64[1,2] i, float[1,2] u) => (float[2,2] y)"
    old = model("y = Scatter <axis = 1> (x, i, u)", 10, signature)
    new = model("y = ScatterElements <axis = -1> (x, i, u)", 18, signature)
    require_same(old, new, seeds=0)
    added = model('y = ScatterElements <axis = -1, reduction = "add"> (x, i, u)', 18, signature)
    require_open(old, added)


def test_one_hot_of_negative_indices_changed():
    signature = "(int64[3] x, int64 n, float[2] v) => (float[3,K] y)"
    text = "y = OneHot (x, n, v)"
    require_open(model(text, 10, signature), model(text, 11, signature))
