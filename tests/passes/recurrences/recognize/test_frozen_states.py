import numpy as np
import pytest
from harness import assert_rewrites
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from straightline.passes import RaiseRecurrences

ROW = "u = ReduceSum <keepdims = 0> (e) "
LIMIT = "h = Greater (s2, lim) "
DONE = "d2 = Or (d, h) "
SUM = "a = Add (s, u) "
LIMITED = "float[N, 3] x, int64 n, float lim"
STATES = "bool d d0; float s s0"


def test_a_sum_up_to_a_limit():
    """The sum that nothing stops, of which the number of live iterations tells the place."""
    text = loop(
        "a = Add (s, e) s2 = Where (d, s, a) h = Greater (s2, nil) d2 = Or (d, h) r = Neg (s2)",
        "bool[3] d d0; float[3] s s0",
        "float[3] r",
    )
    after = """g (float[N, 3] x, int64 n, bool[3] d0, float[3] s0)
        => (bool[3] d_last, float[3] s_last, float[T, 3] r_all)
        <bool yes = {1}, int64 one = {1}, float half = {0.5}, float nil = {0}, int64[1] axes = {0},
         int64 k = {0}, int64 k_1 = {1}, int64 axis = {0}, int64[1] k_2 = {-1}, int64[1] k_3 = {1},
         int64[1] k_4 = {9223372036854775807}, int64 axis_1 = {0}, int64 axis_2 = {0}> {
        vector = Unsqueeze (n, axes) iterations = Max (vector, axes) limit = Max (n, k)
        numbers = Range (k, limit, k_1) e = Gather <axis = 0> (x, numbers)
        first = Unsqueeze (s0, axes) s = Concat <axis = 0> (first, e)
        s_sums = CumSum <exclusive = 0, reverse = 0> (s, axis)
        s_sums_cut = Slice (s_sums, k_3, k_4, axes) h = Greater (s_sums_cut, nil)
        first_1 = Unsqueeze (d0, axes) hits = Concat <axis = 0> (first_1, h)
        counts = Cast <to = 7> (hits)
        counts_1 = CumSum <exclusive = 0, reverse = 0> (counts, axis_1)
        some = Cast <to = 9> (counts_1) some_cut = Slice (some, axes, k_2, axes)
        last = Gather <axis = 0> (some, iterations) d_last = Squeeze (last, axes)
        live = Not (some_cut) live_1 = Cast <to = 7> (live)
        places = CumSum <exclusive = 0, reverse = 0> (live_1, axis_2)
        s2 = GatherElements <axis = 0> (s_sums, places)
        total = ReduceSum <keepdims = 1> (live_1, axes)
        s2_1 = GatherElements <axis = 0> (s_sums, total) s_last = Squeeze (s2_1, axes)
        r_all = Neg (s2) }"""
    feeds = [
        {
            "x": numbers(length, [np.nan, np.inf]),
            "n": np.array(length),
            "d0": np.array([False, True, False]),
            "s0": np.array([0.5, 2, -3], np.float32),
        }
        for length in LENGTHS
    ]
    head = text.partition("g (")[0]
    assert_rewrites(RaiseRecurrences(exact=True, straight=True), text, head + after, feeds)


FREEZING = {
    "before": SUM + "s2 = Where (d, s, a) " + LIMIT + DONE,
    "hit is left out": SUM + "h = Greater (a, lim) " + DONE + "s2 = Where (d2, s, a) ",
    "opposite": SUM + "w = Not (d) s2 = Where (w, a, s) " + LIMIT + "d2 = Or (h, d) ",
    "live": SUM + "s2 = Where (d, a, s) h = LessOrEqual (s2, lim) d2 = And (d, h) ",
    "another flag": SUM + "h = Greater (u, lim) " + DONE + "s2 = Where (d2, s, a) ",
    "largest": "a = Max (s, u) s2 = Where (d, s, a) v = Sub (s2, u) h = Greater (v, lim) " + DONE,
    "linear": "p = Mul (s, half) a = Add (p, u) s2 = Where (d, s, a) " + LIMIT + DONE,
}


@pytest.mark.parametrize("name", FREEZING)
@pytest.mark.parametrize("start", [False, True])
def test_early_exits(name, start):
    text = loop(ROW + FREEZING[name] + "r = Neg (s2)", STATES, "float r", inputs=LIMITED)
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        for special in ([], [np.nan], [np.inf, -np.inf]):
            x, fed = (
                numbers(length, special),
                {"d0": np.array(start), "s0": np.array(0.5, np.float32)},
            )
            exact = name not in ("linear",)
            assert_same(text, model, x, exact=exact, lim=np.array(3, np.float32), **fed)


def test_values_that_the_frozen_state_never_takes_are_not_returned():
    """A candidate after the end is another one than the sum that nothing stops has."""
    body = ROW + FREEZING["before"] + "r = Mul (a, half)"
    text = loop(body, STATES, "float r", inputs=LIMITED)
    model = raised(text)
    for length in LENGTHS:
        fed = {"d0": np.array(False), "s0": np.array(0, np.float32), "lim": np.array(1, np.float32)}
        assert_same(text, model, numbers(length), exact=True, **fed)


@pytest.mark.parametrize("test", ["w = Less (s, lim) s2 = Where (w, a, s)"])
def test_a_state_that_stops_itself(test):
    text = loop(ROW + SUM + test + " r = Identity (s2)", "float s s0", "float r", inputs=LIMITED)
    model = raised(text)
    for length in LENGTHS:
        for special in ([], [np.nan], [np.inf]):
            x, fed = (
                numbers(length, special),
                {"s0": np.array(0, np.float32), "lim": np.array(2, np.float32)},
            )
            assert_same(text, model, x, exact=True, **fed)


KEPT = {
    "the flag may clear": ROW + SUM + "s2 = Where (d, s, a) d2 = Greater (s2, lim)",
    "a division may fail": "v = ReduceSum <keepdims = 0> (e) k = Cast <to = 7> (v) "
    "z = Div (s, k) s2 = Where (d, s, z) h = Less (s2, one) d2 = Or (d, h)",
}


def test_a_flag_that_clears_is_none():
    assert "which no operator computes" in reason(
        loop(KEPT["the flag may clear"], STATES, inputs=LIMITED)
    )


def test_an_operator_that_may_fail_after_the_end():
    text = loop(KEPT["a division may fail"], "bool d d0; int64 s s0")
    assert "which no operator computes" in reason(text)


@pytest.mark.parametrize("node", ["m = ReduceSum <keepdims = 1> (s)", "m = Softmax (s)"])
def test_elements_that_freeze_apart_do_not_read_each_other(node):
    body = f"{node} a = Add (m, e) s2 = Where (d, s, a) h = Greater (s2, nil) d2 = Or (d, h)"
    assert "which no operator computes" in reason(loop(body, "bool[3] d d0; float[3] s s0"))
    body = f"{node} h = Less (m, s) a = Add (s, e) s2 = Where (d, s, a) d2 = Or (d, h)"
    assert "which no operator computes" in reason(loop(body, "bool[3] d d0; float[3] s s0"))


def test_a_condition_of_each_row_freezes_nothing():
    """A sum of some rows goes on after one that it leaves out."""
    body = ROW + SUM + "w = Less (u, lim) s2 = Where (w, a, s)"
    text = loop(body, "float s s0", inputs=LIMITED)
    model = raised(text)
    for length in LENGTHS:
        fed = {"s0": np.array(0, np.float32), "lim": np.array(1, np.float32)}
        assert_same(text, model, numbers(length), **fed)
