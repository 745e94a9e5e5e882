import numpy as np
import pytest
import straightline as sl
from proofs import assert_open, assert_proved, model, over_reals
from sessions import by_reference
from straightline import reference

LOOP = """g (float[T, 2] x, float limit) => (RESULT) <int64 zero = {0}, int64 one = {1},
    bool yes = {1}, bool no = {0}, float none = {0}, float[2] start = {0, 0}> {
    shape = Shape (x) n = Gather (shape, zero)
    OUTPUTS = Loop (n, FIRST) <body = b (int64 i, bool c, STATES) => (bool on, UPDATES) {
        e = Gather (x, i) t = ReduceMax <keepdims = 0> (e) NODES }> }"""


def text(result, outputs, first, states, updates, nodes):
    loop = LOOP.replace("RESULT", result).replace("OUTPUTS", outputs).replace("FIRST", first)
    return loop.replace("STATES", states).replace("UPDATES", updates).replace("NODES", nodes)


HIT, STATE = "hit = Greater (t, limit)", "float[2] s"
FROZEN = f"{HIT} on = Identity (c) r = Or (d, hit) a = Add (s, e)"
LOOPS = {
    "a sum up to the hit": text(
        STATE, "s", "yes, start", STATE, "float[2] r", f"{HIT} on = Not (hit) r = Add (s, e)"
    ),
    "a sum before the hit": text(
        STATE, "s", "yes, start", STATE, "float[2] r", "on = Less (t, limit) a = Add (s, e)"
        " r = Where (on, a, s)",
    ),
    "a condition on the state": text(
        "float s", "s", "yes, none", "float s", "float r", "r = Add (s, t) on = Less (r, limit)"
    ),
    "rows up to the hit": text(
        "float[K, 2] y", "s, y", "yes, one", "int64 s", "int64 r, float[2] w",
        f"{HIT} on = Not (hit) w = Exp (e) r = Add (s, one)",
    ),
    "a flag": text(
        STATE, "f, s", ", no, start", f"bool d, {STATE}", "bool r, float[2] w",
        f"{FROZEN} w = Where (r, s, a)",
    ),
    "the flag before": text(
        STATE, "f, s", ", no, start", f"bool d, {STATE}", "bool r, float[2] w",
        f"{FROZEN} w = Where (d, s, a)",
    ),
    "a state that freezes itself": text(
        "float s", "s", ", none", "float s", "float w",
        "on = Identity (c) p = Abs (t) a = Add (s, p) l = Less (s, limit) w = Where (l, a, s)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("passes", [None, "accelerate"])
@pytest.mark.parametrize("name", LOOPS)
def test_results_of_passes(name, passes):
    before = model(LOOPS[name], 17)
    assert over_reals(before, sl.rewrite(before, passes, verify=False))


SEARCH = """g (float[T, 2] x, float limit) => (float[K, 2] y) <int64 zero = {0}, int64 one = {1},
    int64[1] second = {1}, bool[1] behind = {1}, int64 most = {9223372036854775807}> {
    shape = Shape (x) n = Gather (shape, zero) t = ReduceMax <keepdims = 0> (x, second)
    hit = Greater (t, limit) all = Concat <axis = 0> (hit, behind) ones = Cast <to = 1> (all)
    k = ArgMax <axis = 0, keepdims = 0> (ones) next = Add (k, one) m = Min (n, next)
    o = Max (m, zero) range = Range (zero, o, one) rows = Gather (x, range) y = Exp (rows) }"""
CHOICE = "is = Less (k, n) w = Where (is, next, most) m = Min (w, n)"
SEARCHES = {
    "as it is": ("m =", "m =", True),
    "a choice": ("m = Min (n, next)", CHOICE, True),
    "without the hit": ("Min (n, next)", "Min (n, k)", False),
    "a row more": ("next = Add (k, one)", "p = Add (k, one) next = Add (p, one)", False),
    "fewer rows": ("n = Gather (shape, zero)", "p = Gather (shape, zero) n = Sub (p, one)", False),
    "a choice of one": ("m = Min (n, next)", CHOICE.replace("most", "one"), False),
    "a choice of the other": ("m = Min (n, next)", CHOICE.replace("next, most", "most, k"), False),
    "the last hit": ("ArgMax <", "ArgMax <select_last_index = 1, ", False),
    "nothing behind": ("behind = {1}", "behind = {0}", False),
    "another comparison": ("Greater (t, limit)", "GreaterOrEqual (t, limit)", False),
    "the opposite": ("Cast <to = 1> (all)", "Cast <to = 1> (p)", False),
    "the hits of other rows": ("<keepdims = 0> (x", "<keepdims = 0> (w", False),
    "other rows": ("y = Exp (rows)", "p = Add (rows, rows) y = Exp (p)", False),
}  # fmt: skip
MORE = {
    "the opposite": ("ones =", "p = Not (all) ones ="),
    "the hits of other rows": ("t = Reduce", "w = Neg (x) t = Reduce"),
}
ROWS = text(
    "float[K, 2] y", "y", "yes", "", "float[2] w", f"{HIT} on = Not (hit) w = Exp (e)"
).replace("bool c, )", "bool c)")


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_by_hand(name):
    old, new, is_equal = SEARCHES[name]
    after = SEARCH.replace(old, new).replace(*MORE.get(name, ("", "")))
    check(ROWS, after, is_equal)


SUM = """g (float[T, 2] x, float limit) => (float[2] s) <int64 zero = {0},
    float[1, 2] begin = {0, 0}, int64[1] first = {0}, int64[1] second = {1}> {
    t = ReduceMax <keepdims = 0> (x, second) hit = Greater (t, limit) h = Cast <to = 7> (hit)
    met = CumSum (h, zero) some = Cast <to = 9> (met) live = Not (some) l = Cast <to = 7> (live)
    k = ReduceSum <keepdims = 0> (l, first) all = Concat <axis = 0> (begin, x)
    sums = CumSum (all, zero) s = Gather (sums, k) }"""
SUMS = {
    "as it is": ("s =", "s =", True),
    "all hits": ("Cast <to = 9> (met)", "Identity (hit)", False),
    "rows with a hit": ("Not (some)", "Identity (some)", False),
    "hits of others": ("Greater (t, limit)", "Less (t, limit)", False),
    "the row of the hit": ("> (begin, x)", "> (x, begin)", False),
    "another start": ("begin = {0, 0}", "begin = {0, 1}", False),
}  # fmt: skip
FLAGS = {
    "a truth value that falls": ("Or (d, hit)", "Xor (d, hit)"),
    "a hit alone": ("Or (d, hit)", "Identity (hit)"),
    "kept before the hit": ("(r, s, a)", "(r, a, s)"),
    "a flag that is up": (", no, start", ", yes, start"),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_by_hand(name):
    old, new, is_equal = SUMS[name]
    check(LOOPS["a flag"], SUM.replace(old, new), is_equal)


@pytest.mark.parametrize("name", FLAGS)
def test_flags_that_do_not_last(name):
    check(LOOPS["a flag"].replace(*FLAGS[name]), SUM, False)


X = np.array([[0, 0.5], [1, 0], [0.25, 2], [3, 0], [0, 1]], np.float32)


def check(before, after, is_equal):
    """Prove two models exactly where they are equal, also on these rows."""
    (assert_proved if is_equal else assert_open)(before, after)
    results = [
        [
            by_reference(model(each), {"x": X, "limit": np.float32(limit)})[0]
            for limit in (0.75, 1, 2, 9)
        ]
        for each in (before, after)
    ]
    assert all(map(np.array_equal, *results)) is is_equal


COUNTED = """g (int64 n, int64 m) => (int64 s) <int64 zero = {0}, int64 one = {1}, bool yes = {1}> {
    s = Loop (n, yes, zero) <body = b (int64 i, bool c, int64 s) => (bool on, int64 r) {
        k = Add (i, one) p = Mul (k, k) r = Add (s, p) hit = Greater (r, m) on = Not (hit) }> }"""
WHILE = """g (int64 n, int64 m) => (int64 s) <int64 zero = {0}, int64 one = {1}, bool yes = {1}> {
    some = Less (zero, n)
    i, s = Loop (, FIRST, zero, zero) <
        body = b (int64 j, bool c, int64 i, int64 s) => (bool on, int64 k, int64 r) {
            k = Add (i, one) p = Mul (k, k) r = Add (s, p) hit = Greater (r, m) ON }> }"""
BOTH = "more = Less (k, n) miss = Not (hit) on = And (more, miss)"
CONDITIONS = {
    "both": ("some", BOTH, True),
    "neither fails": ("some", "end = LessOrEqual (n, k) o = Or (end, hit) on = Not (o)", True),
    "an iteration at least": ("yes", BOTH, False),
    "an iteration more": ("some", BOTH.replace("Less", "LessOrEqual"), False),
    "one of them": ("some", BOTH.replace("And", "Or"), False),
    "the hit": ("some", "more = Less (k, n) on = And (more, hit)", False),
}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_that_counts_and_more(name):
    first, on, is_equal = CONDITIONS[name]
    after = WHILE.replace("FIRST", first).replace("ON", on)
    (assert_proved if is_equal else assert_open)(COUNTED, after)
    feeds = [{"n": np.int64(n), "m": np.int64(m)} for n in (0, 3, 5) for m in (-1, 9, 99)]
    results = [[_run(model(each), feed) for feed in feeds] for each in (COUNTED, after)]
    assert (results[0] == results[1]) is is_equal


def _run(loop, feeds):
    return reference.run(loop, feeds)[0].item()
