import numpy as np
from proofs import assert_open, assert_proved, model
from sessions import by_reference
from tables import table

ROWS = """g (float[4, 2] x, int64[4] k) => (float[4, 2] y) <int64 n = {4}, bool yes = {1}> {
    y = Loop (n, yes) <body = rows (int64 i, bool c) => (bool d, float[2] t) {
        d = Identity (c) e = Gather (x, i) m = Gather (k, i)
        t = Loop (m, yes, e) <body = inner (int64 j, bool f, float[2] s) => (bool h, float[2] r) {
            h = Identity (f) a = Cast <to = 1> (j) b = Sub (s, a) r = Tanh (b) }> }> }"""
ALL = """g (float[4, 2] x, int64[4] k) => (float[4, 2] y) <int64 zero = {0}, int64[1] none = {0},
    int64[1] last = {1}, int64[1] two = {2}, bool yes = {1}> { LIMITS
    y = Loop (m, yes, x) <body = inner (int64 j, bool f, float[4, 2] s) => (bool h, float[4, 2] r) {
        h = Identity (f) a = Cast <to = 1> (j) b = Sub (s, a) t = Tanh (b)
        w = MASK u = Unsqueeze (w, last) r = Where (u, t, s) }> }"""
MOST = "l = Max (k, zero) m = ReduceMax <keepdims = 0> (l)"
WITH_ZERO = "l = Concat <axis = 0> (k, none) m = ReduceMax <keepdims = 0> (l)"
SHIFTED = "p = Constant <value_ints = [1, 2, 3, 0]> () o = Gather (k, p) "
LESS = "l = Max (q, zero) m = ReduceMax <keepdims = 0> (l)"


@table(
    ("the most", MOST, "Less (j, l)", True),
    ("numbers as they are", MOST, "Less (j, k)", True),
    ("a zero beside them", WITH_ZERO, "Less (j, k)", True),
    ("the other comparison", MOST, "Greater (l, j)", True),
    ("one iteration too many", MOST, "LessOrEqual (j, l)", False),
    ("the least", MOST.replace("ReduceMax", "ReduceMin"), "Less (j, l)", False),
    ("smaller numbers", f"q = Sub (k, last) {LESS}", "Less (j, k)", False),
    ("rows in another order", SHIFTED + MOST, "Less (j, o)", False),
)
def test_rows_of_their_own_lengths(name, limits, mask, is_equal):
    after = ALL.replace("LIMITS", limits).replace("MASK", mask)
    (assert_proved if is_equal else assert_open)(ROWS, after)
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)
    feeds = {"x": x, "k": np.array([3, 0, -2, 1])}
    one, other = (by_reference(model(text), feeds)[0] for text in (ROWS, after))
    assert np.array_equal(one, other) is is_equal


def test_a_loop_and_a_longer_one_of_the_same_states():
    """A prefix of the iterations, of which no row knows."""
    text = """g (float[a] x, float[b] z) => (float y) <float none = {0}, bool yes = {1}> {
        l = Shape (x) k = Squeeze (l) o = Shape (z) q = Squeeze (o) m = LONGER
        y = Loop (COUNT, yes, none) <body = b (int64 i, bool c, float s) => (bool d, float t) {
            d = Identity (c) u = Cos (s) RUNS }> }"""
    short = text.replace("COUNT", "k").replace("RUNS", "t = Identity (u)")
    masked = text.replace("COUNT", "m").replace("RUNS", "r = Less (i, k) t = Where (r, u, s)")
    for longer, check in (("Add (k, q)", assert_proved), ("Min (k, q)", assert_open)):
        check(short.replace("LONGER", longer), masked.replace("LONGER", longer))
