import numpy as np
import pytest
from proofs import assert_open, assert_proved, model, over_reals
from sessions import by_reference, open_session
from spelled import same_bits
from tables import table

SIZES = (
    "int64 zero = {0}, int64 one = {1}, int64[1] axis = {0}, int64[1] end = {-1}, bool yes = {1}"
)
COUNT = "s = Shape (x) n = Gather (s, zero)"
ROWS = [[], [np.nan], [-0.0, 0.0], [2, np.nan, 2, -1, 0], [np.inf, 3, -np.inf, 3.5], [-5, -4, -4]]


def assert_alike(before, after, *, runtime=True):
    """Proved both ways, and so it is in runs of all rows. onnxruntime's Where drops signs of
    zeros."""
    assert_proved(before, after)
    assert_proved(after, before)
    for row in ROWS:
        feeds = {"x": np.array(row, np.float32)}
        results = [by_reference(model(text), feeds) for text in (before, after)]
        assert same_bits(*results)
        for text in (before, after) if runtime else ():
            session = open_session(model(text))
            for mine, its in zip(session.run(None, feeds), results[0], strict=True):
                np.testing.assert_array_equal(mine, its)


BEST = f"""g (float[n] x) => (float best, int64 at, float row) <float low = {{-1e30}},
    float none = {{0}}, {SIZES}> {{ {COUNT}
    best, at, row = Loop (n, yes, low, zero, none) <body = b (int64 i, bool go, float a, int64 k,
        float r) => (bool stay, float a2, int64 k2, float r2) {{ stay = Identity (go)
        e = Gather (x, i) v = Neg (e) g = Greater (e, a) a2 = Where (g, e, a)
        k2 = Where (g, i, k) r2 = Where (g, v, r) }}> }}"""
AT_ONCE = f"""g (float[n] x) => (float best, int64 at, float row) <float low = {{-1e30}},
    float[1] first = {{-1e30}}, float[1] none = {{0}}, {SIZES}> {{ {COUNT}
    numbers = Range (zero, n, one) v = Neg (x) t = IsNaN (x) c = Where (t, low, x)
    rows = Concat <axis = 0> (first, c) place = ArgMax <axis = 0> (rows)
    b = Gather (rows, place) best = Squeeze (b, axis) indices = Concat <axis = 0> (axis, numbers)
    k = Gather (indices, place) at = Squeeze (k, axis) others = Concat <axis = 0> (none, v)
    r = Gather (others, place) row = Squeeze (r, axis) }}"""
LAST_OF_ALIKE = {
    "ArgMax <axis": "ArgMax <select_last_index = 1, axis",
    "float low = {-1e30}": "float low = {-inf}",
}


def replaced(text, pairs):
    for old, new in pairs.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_best_row_its_place_and_another_row_there():
    assert_alike(BEST, AT_ONCE)
    choice = """a2, k2, r2 = If (g) <then_branch = t () => (float a3, int64 k3, float r3) {
        a3 = Identity (e) k3 = Identity (i) r3 = Identity (v) }, else_branch = f () =>
        (float a4, int64 k4, float r4) {
        a4 = Identity (a) k4 = Identity (k) r4 = Identity (r) }>"""
    wheres = "a2 = Where (g, e, a)\n        k2 = Where (g, i, k) r2 = Where (g, v, r)"
    assert_alike(replaced(BEST, {wheres: choice}), AT_ONCE)
    last = replaced(BEST, {"g = Greater": "g = GreaterOrEqual"})
    assert_alike(last, replaced(AT_ONCE, LAST_OF_ALIKE))
    least = {"g = Greater": "g = Less", "{-1e30}": "{1e30}"}
    assert_alike(
        replaced(BEST, least), replaced(AT_ONCE, {"ArgMax": "ArgMin", "{-1e30}": "{1e30}"})
    )


@pytest.mark.sample(7)
@table(
    ("ArgMax <axis", "ArgMin <axis"),
    ("ArgMax <axis", "ArgMax <select_last_index = 1, axis"),
    ("c = Where (t, low, x)", "c = Identity (x)"),  # NaN
    ("c = Where (t, low, x)", "c = Where (t, x, low)"),
    ("float low = {-1e30}", "float low = {-1e29}"),  # it would be taken
    ("float low = {-1e30}", "float low = {nan}"),
    ("float[1] first = {-1e30}", "float[1] first = {-2e30}"),
    ("float[1] first = {-1e30}", "float[1] first = {nan}"),
    ("t = IsNaN (x)", "t = IsInf (x)"),
    ("(axis, numbers)", "(end, numbers)"),
    ("(axis, numbers)", "(numbers, axis)"),
    ("others = Concat <axis = 0> (none, v)", "others = Concat <axis = 0> (none, x)"),
    ("numbers = Range (zero, n, one)", "m = Add (n, one) numbers = Range (one, m, one)"),
)
def test_other_places_are_open(old, new):
    assert_open(BEST, replaced(AT_ONCE, {old: new}))


@table(
    ("g = Greater", "g = GreaterOrEqual"),  # with rows that may be the first one
    ("g = Greater (e, a)", "g = Greater (a, e)"),
    ("g = Greater (e, a)", "g = Greater (e, low)"),
    ("g = Greater (e, a)", "g = Greater (v, a)"),
    ("a2 = Where (g, e, a)", "a2 = Where (g, a, e)"),
    ("a2 = Where (g, e, a)", "a2 = Max (e, a)"),
    ("k2 = Where (g, i, k)", "k2 = Where (g, k, i)"),
    ("k2 = Where (g, i, k)", "j = Add (i, one) k2 = Where (g, j, k)"),
    ("(n, yes, low,", "(one, yes, low,"),
)
def test_states_that_are_no_best_rows_are_open(old, new):
    assert_open(replaced(BEST, {old: new}), AT_ONCE)


def test_a_number_that_may_be_taken_does_not_stand_for_nan():
    last = replaced(BEST, {"g = Greater": "g = GreaterOrEqual"})
    at_once = replaced(AT_ONCE, {"ArgMax <axis": "ArgMax <select_last_index = 1, axis"})
    assert_open(last, at_once)
    assert not over_reals(last, at_once)


ELEMENTS = f"""g (int64[n, 3] x) => (int64[3] best, int64[3] at) <int64[1, 3] first = {{4, 4, 4}},
    int64[1, 3] none = {{0, 0, 0}}, int64[1] k1 = {{1}}, int64[2] row = {{1, 3}}, {SIZES}> {{
    {COUNT} numbers = Range (zero, n, one) up = Unsqueeze (numbers, k1) spread = Expand (up, row)
    rows = Concat <axis = 0> (first, x) place = ArgMin <axis = 0, select_last_index = 1> (rows)
    b = GatherElements <axis = 0> (rows, place) best = Squeeze (b, axis)
    indices = Concat <axis = 0> (none, spread) k = GatherElements <axis = 0> (indices, place)
    at = Squeeze (k, axis) }}"""


def test_the_best_element_of_each_column():
    columns = f"""g (int64[n, 3] x) => (int64[3] best, int64[3] at) <int64[3] low = {{4, 4, 4}},
        int64[3] none = {{0, 0, 0}}, {SIZES}> {{ {COUNT}
        best, at = Loop (n, yes, low, none) <body = b (int64 i, bool go, int64[3] a, int64[3] k)
            => (bool stay, int64[3] a2, int64[3] k2) {{ stay = Identity (go) e = Gather (x, i)
            g = LessOrEqual (e, a) a2 = Where (g, e, a) k2 = Where (g, i, k) }}> }}"""
    assert_proved(columns, ELEMENTS)
    for old, new in (("select_last_index = 1", "select_last_index = 0"), ("4, 4}", "4, 5}")):
        assert_open(columns, replaced(ELEMENTS, {old: new}))
    feeds = {"x": np.array([[5, 4, 1], [4, 5, 1], [3, 5, 2]])}
    assert same_bits(*(by_reference(model(text), feeds) for text in (columns, ELEMENTS)))


HELD = f"""g (float[n] x) => (int64 at) <int64 none = {{-1}}, float bound = {{1}}, {SIZES}> {{
    {COUNT}
    at = Loop (n, yes, none) <body = b (int64 i, bool go, int64 k) => (bool stay, int64 k2) {{
        stay = Identity (go) e = Gather (x, i) g = Greater (e, bound) k2 = Where (g, i, k) }}> }}"""
COMPRESSED = f"""g (float[n] x) => (int64 at) <float bound = {{1}}, {SIZES}> {{ {COUNT}
    g = Greater (x, bound) numbers = Range (zero, n, one)
    c = Compress <axis = 0> (numbers, g) rows = Concat <axis = 0> (end, c)
    last = Gather (rows, end) at = Squeeze (last, axis) }}"""


def test_the_last_index_that_a_condition_lets_in():
    assert_alike(HELD, COMPRESSED)
    kept = {"Greater (e, bound)": "LessOrEqual (e, bound)", "(g, i, k)": "(g, k, i)"}
    assert_open(replaced(HELD, kept), COMPRESSED)  # NaN
    kept = {
        "g = Greater (e, bound)": "h = Greater (e, bound) g = Not (h)",
        "(g, i, k)": "(g, k, i)",
    }
    assert_alike(replaced(HELD, kept), COMPRESSED)


@table(
    ("last = Gather (rows, end)", "last = Gather (rows, axis)"),  # the first one
    ("(end, c)", "(axis, c)"),
    ("(end, c)", "(c, end)"),
    ("(numbers, g)", "(numbers, h)"),
    ("(x, bound)", "(bound, x)"),
    ("Range (zero, n, one)", "Range (one, m, one)"),
    ("rows = Concat <axis = 0> (end, c)", "rows = Identity (c)"),
)
def test_other_rows_that_are_let_in_are_open(old, new):
    both = COMPRESSED.replace("numbers =", "h = Not (g) m = Add (n, one) numbers =")
    assert_proved(HELD, both)
    assert_open(HELD, replaced(both, {old: new}))


TRUTH = f"""g (float[n] x) => (bool y) <bool no = {{0}}, float bound = {{1}}, {SIZES}> {{ {COUNT}
    y = Loop (n, yes, no) <body = b (int64 i, bool go, bool k) => (bool stay, bool k2) {{
        stay = Identity (go) e = Gather (x, i) g = Greater (e, bound) k2 = Or (k, g) }}> }}"""
ANY = """g (float[n] x) => (bool y) <bool[1] no = {0}, float bound = {1}, int64[1] axis = {0}> {
    g = Greater (x, bound) rows = Concat <axis = 0> (no, g) numbers = Cast <to = 6> (rows)
    most = ReduceMax <keepdims = 0> (numbers, axis) y = Cast <to = 9> (most) }"""
ODD = """g (float[n] x) => (bool y) <bool[1] no = {0}, float bound = {1}, int64 zero = {0},
    int64 two = {2}, int64[1] axis = {0}, int64[1] end = {-1}> {
    g = Greater (x, bound) rows = Concat <axis = 0> (no, g) numbers = Cast <to = 7> (rows)
    sums = CumSum (numbers, zero) rest = Mod (sums, two) odds = Cast <to = 9> (rest)
    last = Gather (odds, end) y = Squeeze (last, axis) }"""


def test_any_all_and_parity():
    parity = replaced(TRUTH, {"Or (k, g)": "Xor (g, k)"})
    every = replaced(TRUTH, {"Or (k, g)": "And (g, k)", "no = {0}": "no = {1}"})
    least = replaced(ANY, {"ReduceMax": "ReduceMin", "no = {0}": "no = {1}"})
    known = {TRUTH: ANY, every: least, parity: ODD}
    for before, after in known.items():
        assert_alike(before, after)
    for before in known:
        for own, after in known.items():
            if own != before:
                assert_open(before, after)
            assert_open(before, replaced(after, {"(no, g)": "(g, no)"}))


@table(
    (ANY, "no = {0}", "no = {1}"),
    (ANY, "rows = Concat <axis = 0> (no, g)", "rows = Identity (g)"),  # none is a maximum
    (ODD, "no = {0}", "no = {1}"),
    (ODD, "two = {2}", "two = {3}"),
    (ODD, "CumSum (", "CumSum <exclusive = 1> ("),
    (ODD, "CumSum (", "CumSum <reverse = 1> ("),
    (ODD, "end = {-1}", "end = {-2}"),
    (ODD, "(no, g)", "(no, g, no)"),
)
def test_other_truth_values_are_open(text, old, new):
    before = TRUTH if text is ANY else replaced(TRUTH, {"Or (k, g)": "Xor (k, g)"})
    assert_open(before, replaced(text, {old: new}))


SOME = replaced(ODD, {"rest = Mod (sums, two) odds = Cast <to = 9> (rest)":
    "odds = Cast <to = 9> (sums)"})  # fmt: skip


def test_any_and_all_by_a_count():
    none = {
        "Cast <to = 7> (rows)": "Cast <to = 7> (least)",
        "sums = ": "total = ",
        "odds =": "some =",
    }
    all_ = replaced(SOME, {
        **none, "numbers = Cast": "least = Not (rows) numbers = Cast", "(sums)": "(total)",
        "last = ": "odds = Not (some) last = ", "no = {0}": "no = {1}"})  # fmt: skip
    every = replaced(TRUTH, {"Or (k, g)": "And (g, k)", "no = {0}": "no = {1}"})
    assert_alike(TRUTH, SOME)
    assert_alike(every, all_)
    assert_open(every, SOME)
    assert_open(TRUTH, all_)
    for old, new in {
        "no = {0}": "no = {1}",
        "<to = 7>": "<to = 3>",  # wraps
        "CumSum (": "CumSum <reverse = 1> (",
        "end = {-1}": "end = {-2}",
    }.items():
        assert_open(TRUTH, replaced(SOME, {old: new}))


def test_the_parity_of_each_prefix():
    before = """g (float[n] x) => (bool[m] y) <bool no = {0}> {
        last, y = Scan <num_scan_inputs = 1, body = b (bool k, float e) => (bool k2, bool r) {
            k2 = Not (k) r = Identity (k2) }> (no, x) }"""
    after = """g (float[n] x) => (bool[m] y) <bool[1] no = {0}, bool yes = {1}, int64 zero = {0},
        int64 two = {2}, int64[1] k0 = {0}, int64[1] k1 = {1}, int64[1] end = {-1},
        int64[1] all = {9223372036854775807}> {
        s = Shape (x) ones = Expand (yes, s) rows = Concat <axis = 0> (no, ones)
        numbers = Cast <to = 7> (rows) sums = CumSum (numbers, zero) rest = Mod (sums, two)
        odds = Cast <to = 9> (rest) y = Slice (odds, k1, all, k0) }"""
    assert_alike(before, after, runtime=False)  # onnxruntime refuses a Scan of no rows
    assert_open(before, replaced(after, {"k1, all, k0)": "k0, end, k0)"}))
    assert_open(before, replaced(after, {"bool yes = {1}": "bool yes = {0}"}))


MOST = """g (float[n] x) => (float y) <float low = {-100}> {
    y = Scan <num_scan_inputs = 1, body = b (float s, float e) => (float t) { t = Max (s, e) }>
        (low, x) }"""
REDUCED = """g (float[n] x) => (float y) <float[1] first = {-100}, float nan = {nan},
    int64[1] k = {0}> {
    s = Concat <axis = 0> (first, x) most = ReduceMax <keepdims = 0> (s, k) t = IsNaN (s)
    u = Cast <to = 1> (t) c = ReduceSum <keepdims = 0> (u, k) any = Cast <to = 9> (c)
    y = Where (any, nan, most) }"""


def test_a_maximum_in_which_nan_stays_over_the_reals():
    assert over_reals(MOST, REDUCED)
    assert not over_reals(MOST, replaced(REDUCED, {"nan = {nan}": "nan = {1}"}))
    assert not over_reals(MOST, replaced(REDUCED, {"(any, nan, most)": "(any, most, nan)"}))
    assert not over_reals(MOST, replaced(REDUCED, {"t = IsNaN (s)": "t = IsInf (s)"}))
    assert not over_reals(MOST, replaced(REDUCED, {"ReduceMax": "ReduceMin"}))
    compared = replaced(MOST, {"t = Max (s, e)": "g = Greater (e, s) t = Where (g, e, s)"})
    assert not over_reals(compared, REDUCED)  # a NaN is never taken
    taken = """g (float[n] x) => (float y) <float[1] first = {-100}, float low = {-100},
        int64[1] k = {0}> { t = IsNaN (x) c = Where (t, low, x) s = Concat <axis = 0> (first, c)
        y = ReduceMax <keepdims = 0> (s, k) }"""
    assert over_reals(compared, taken)
    assert not over_reals(MOST, taken)
    assert not over_reals(compared, replaced(taken, {"low = {-100}": "low = {-99}"}))
