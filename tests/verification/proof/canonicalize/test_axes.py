"""Axes that count from the back, and operators with another name."""

import pytest
from proofs import assert_open, assert_proved
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


WRONG = [
    ("z = Softmax <axis = %d> (x)", -5, 1),
    ("z = LogSoftmax <axis = %d> (x)", -5, 1),
    ("z = Hardmax <axis = %d> (x)", -5, 1),
    ("z = Concat <axis = %d> (x, x)", 4, 1),
    ("z = Concat <axis = %d> (x, x)", -5, 1),
    ("k = Constant <value_ints = [0]> () z = Gather <axis = %d> (x, k)", 4, 1),
    ("z, y = Split <axis = %d, num_outputs = 2> (x)", -4, 2),
    ("z, y = Split <axis = %d, num_outputs = 2> (x)", 3, 0),
    ("y = ArgMax <axis = %d> (x) z = Cast <to = 1> (y)", -5, 1),
    ("w = Constant <value_floats = [1.0]> () z = LayerNormalization <axis = %d> (x, w)", -4, 2),
    ("z = Flatten <axis = %d> (x)", -5, 1),
    ("k = Constant <value_ints = [%d]> () z = ReduceMax (x, k)", 4, 1),
    ("s = SequenceConstruct (x, x) z = ConcatFromSequence <axis = %d> (s)", -5, 1),
    (
        "s = SplitToSequence <axis = %d> (x) k = Constant <value_int = 0> () z = SequenceAt (s, k)",
        4,
        1,
    ),
    (
        "a = Constant <value_ints = [%d]> () p = Constant <value_ints = [1, 1]> () "
        "z = Pad (x, p, , a)",
        -5,
        1,
    ),
]


@pytest.mark.parametrize(("nodes", "wrong", "right"), WRONG)
def test_an_axis_that_is_not_there_is_no_other(nodes, wrong, right):
    text = "g (float[2, 3, 4] x) => (float[a, b, c] z) { %s }"
    assert_open(text % (nodes % wrong), text % (nodes % right))
    assert_proved(text % (nodes % right), text % (nodes % right))
