import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import open_session
from straightline.verification.proof import prove
from tables import table

SCATTER = """g ({kind}[n, 4] x, int64[k, 4] i, {kind}[k, 4] u) => ({kind}[n, 4] y) {{
    y = ScatterElements <reduction = "{reduction}", axis = {axis}> (x, i, u) }}"""
LOOP = """g ({kind}[n, 4] x, int64[k, 4] i, {kind}[k, 4] u) => ({kind}[n, 4] y)
    <int64 zero = {{0}}, int64[1] one = {{1}}, bool yes = {{1}}> {{
    s = Shape ({counted}) c = Gather (s, zero)
    y = Loop <body = b (int64 t, bool go, {kind}[n, 4] a) => (bool stay, {kind}[n, 4] e) {{
        stay = Identity (go) p = Reshape (t, one) j = Gather (i, p) v = Gather (u, p)
        o = GatherElements (a, j) {join} e = ScatterElements ({target}, j, w) }}> (c, yes, x) }}"""
JOINS = {
    "add": "w = Add (o, v)",
    "mul": "w = Mul (o, v)",
    "max": "g = Greater (o, v) w = Where (g, o, v)",
    "min": "g = Less (o, v) w = Where (g, o, v)",
}


def loop(join, kind="float", counted="i", target="a"):
    return LOOP.format(join=join, kind=kind, counted=counted, target=target)


def scatter(reduction, kind="float", axis=0):
    return SCATTER.format(reduction=reduction, kind=kind, axis=axis)


@pytest.mark.parametrize("reduction", JOINS)
def test_one_index_after_the_other(reduction):
    join = JOINS[reduction]
    proof = assert_proved(scatter(reduction, "int64"), loop(join, "int64"))
    assert not any("ScatterElements" in text for text in proof.assumptions)
    for other in set(JOINS) - {reduction}:
        assert_open(scatter(other, "int64"), loop(join, "int64"))
    assert_open(scatter(reduction, "int64", axis=1), loop(join, "int64"))
    assert_open(scatter(reduction, "int64"), loop(join, "int64", target="x"))
    assert_open(scatter(reduction, "int64"), loop(join, "int64", counted="x"))
    assert_open(scatter("none", "int64"), loop(join, "int64"))
    assert_open(scatter(reduction, "int64"), loop("w = Identity (v)", "int64"))


@pytest.mark.parametrize("reduction", JOINS)
def test_floats_are_joined_in_this_order(reduction):
    texts = scatter(reduction), loop(JOINS[reduction])
    if reduction in ("add", "mul"):
        assert any("ScatterElements" in text for text in assert_proved(*texts).assumptions)
    else:  # kernels differ on the maximum of NaN
        assert assert_open(*texts, weaker=True).equality == "reals"
    random = np.random.default_rng(2)
    feeds = {
        "x": random.normal(size=(3, 4)).astype(np.float32),
        "i": random.integers(-3, 3, (40, 4)),
        "u": (random.normal(size=(40, 4)) * 10 ** random.uniform(-3, 3, (40, 4))).astype(
            np.float32
        ),
    }
    one, other = (open_session(model(text)).run(None, feeds)[0] for text in texts)
    assert one.tobytes() == other.tobytes()


def test_rows_one_after_the_other():
    rows = """g (float[n, 4] x, int64[k, 3, 1] i, float[k, 3, 4] u) => (float[n, 4] y)
        <int64 zero = {0}, int64[1] one = {1}, bool yes = {1}, int64[2] tuples = {-1, 1},
         int64[2] rows = {-1, 4}> { %s }"""
    before = rows % 'y = ScatterND <reduction = "add"> (x, i, u)'
    by_row = """f = Reshape (i, tuples) h = Reshape (u, rows) s = Shape (f) c = Gather (s, zero)
        y = Loop <body = b (int64 t, bool go, float[n, 4] a) => (bool stay, float[n, 4] e) {
            stay = Identity (go) p = Reshape (t, one) j = Gather (f, p) v = Gather (h, p)
            o = GatherND (a, j) w = Add (o, v) e = ScatterND (a, j, w) }> (c, yes, x)"""
    assert_proved(before, rows % by_row)
    assert_open(before, rows % by_row.replace("Add (o, v)", "Mul (o, v)"))
    assert_open(before, rows % by_row.replace("Gather (h, p)", "Gather (h, one)"))
    assert prove(model(rows % by_row), model(before)).status != "refuted"


WRITES = """g (float[n, 2] x, float[m, 2] b, int64[n] idx) => (float[m, 2] y) <int64 zero = {0},
    int64 one = {1}, int64 two = {2}, int64[1] k0 = {0}, int64[2] pair = {0, 1},
    int64[1] k1 = {1}, int64[2] row = {1, 2}, bool yes = {1}> {
    s = Shape (x) n = Gather (s, zero) last = Sub (n, one) %s }"""
BY_ITERATION = """y = Loop <body = b (int64 i, bool go, float[m, 2] a)
        => (bool stay, float[m, 2] c) {
    stay = Identity (go) e = Gather (x, i) v = Abs (e) u = Unsqueeze (v, k0) %s %s }> (n, yes, b)"""
IN_TUPLES = "t = Unsqueeze (j, pair) c = ScatterND (a, t, u)"
IN_ELEMENTS = "t = Unsqueeze (j, pair) w = Expand (t, row) c = ScatterElements (a, w, u)"
AT_ONCE = "i = Range (zero, n, one) %s t = Unsqueeze (j, k1) u = Abs (x) y = ScatterND (b, t, u)"
WRAPPED = "k = Sub (i, n) g = Less (k, zero) f = Add (k, n) j = Where (g, f, k)"
PLACES = ["j = Mul (i, two)", "j = Sub (i, n)", "j = Sub (last, i)", "j = Add (i, two)"]
REPEATED = ["j = Div (i, two)", "j = Sub (i, one)", "j = Sub (i, i)", "j = Mul (i, i)"]
"""Places that are not known to be others on each iteration: -1 is the last one."""


def loop_of(places, writes=IN_TUPLES):
    return WRITES % (BY_ITERATION % (places, writes))


@pytest.mark.sample(1)
@pytest.mark.parametrize("places", PLACES)
def test_other_places_on_each_iteration(places):
    for writes in (IN_TUPLES, IN_ELEMENTS):
        before, after = loop_of(places, writes), WRITES % (AT_ONCE % places)
        assert_proved(before, after)
        for other in set(PLACES) - {places}:
            assert_open(before, WRITES % (AT_ONCE % other))
        assert_open(before, after.replace("(b, t, u)", "(b, t, x)"))
    for rows, size in ((0, 3), (1, 3), (4, 9)):
        random = np.random.default_rng(rows)
        feeds = {"x": random.normal(size=(rows, 2)), "b": random.normal(size=(size, 2))}
        feeds = {name: array.astype(np.float32) for name, array in feeds.items()}
        feeds["idx"] = np.zeros(rows, np.int64)
        runs = [open_session(model(text)).run(None, feeds)[0] for text in (before, after)]
        assert runs[0].tobytes() == runs[1].tobytes()


@pytest.mark.parametrize("places", REPEATED)
def test_places_that_may_repeat(places):
    for writes in (IN_TUPLES, IN_ELEMENTS):
        assert_open(loop_of(places, writes), WRITES % (AT_ONCE % places))
    by_data = loop_of("j = Gather (idx, i)"), WRITES % (AT_ONCE % "j = Identity (idx)")
    assert_open(*by_data)


def test_indices_that_a_choice_by_their_bounds_wraps():
    before, after = loop_of(WRAPPED), WRITES % (AT_ONCE % WRAPPED)
    texts = [text.replace("[m, 2]", "[n, 2]") for text in (before, after)]
    assert_proved(*texts)
    turned = texts[1].replace("t = Unsqueeze (j, k1)", "r = Neg (j) t = Unsqueeze (r, k1)")
    assert_open(texts[0], turned)


ADDS = "o = Gather (a, j) w = Add (o, v) t = Unsqueeze (j, pair) f = Unsqueeze (w, k0) "
ADDS += "c = ScatterND (a, t, f)"


def test_a_histogram_of_rows():
    before = loop_of("j = Gather (idx, i)", ADDS)
    elements = """u = Abs (x) s2 = Shape (u) t = Unsqueeze (idx, k1) w = Expand (t, s2)
        y = ScatterElements <reduction = "add"> (b, w, u)"""
    after = WRITES % elements
    assert any("ScatterElements" in text for text in assert_proved(before, after).assumptions)
    for old, new in (("add", "mul"), ("add", "none"), ("(b, w, u)", "(b, w, x)")):
        assert_open(before, WRITES % elements.replace(old, new))
    others = elements.replace("(idx, k1)", "(more, k1)")
    assert_open(before, WRITES % ("more = Neg (idx) " + others))
    for old, new in (("Add (o, v)", "Sub (o, v)"), ("Gather (a, j)", "Gather (b, j)")):
        assert_open(before.replace(old, new), after)
    reduced = IN_TUPLES.replace("ScatterND", 'ScatterND <reduction = "add">')
    assert_proved(loop_of("j = Gather (idx, i)", reduced), after)
    reduced = reduced.replace('"add"', '"mul"')
    assert_open(loop_of("j = Gather (idx, i)", reduced), after)


def test_indices_in_range_on_each_iteration():
    """Only indices that the loop reads or writes at are known to be in range."""
    before = loop_of("j = Gather (idx, i) q = Gather (b, j)", "c = Add (a, q)")
    reads = "q = GatherND (b, tuples) z = ReduceMax <keepdims = 0> (q, k0)"
    text = before.replace("y = Loop", "tuples = Unsqueeze (idx, k1) " + reads + " y = Loop")
    assert_proved(before, text)
    assert_open(before, text.replace("(b, tuples)", "(x, tuples)"))
    unread = before.replace("q = Gather (b, j)", "q = Abs (e)")
    assert_open(unread, text.replace("q = Gather (b, j)", "q = Abs (e)"), "may be out of range")


NESTED = """g (float[n, 3] x, float[n, 3] b) => (float[n, 3] y) <int64 zero = {0}, int64 one = {1},
    int64 three = {3}, int64[1] k0 = {0}, bool yes = {1}> { s = Shape (x) n = Gather (s, zero)
    y = Loop <body = outer (int64 i, bool go, float[n, 3] a) => (bool stay, float[n, 3] c) {
    stay = Identity (go)
    c = Loop <body = inner (int64 j, bool on, float[n, 3] p) => (bool off, float[n, 3] q) {
        off = Identity (on) r = Gather (x, i) e = Gather (r, j) v = Abs (e) u = Unsqueeze (v, k0)
        f = Unsqueeze (i, k0) h = Unsqueeze (j, k0) d = Concat <axis = 0> (f, h)
        t = Unsqueeze (d, k0) q = ScatterND (p, t, u) }> (three, yes, a) }> (n, yes, b) }"""
GRID = """g (float[n, 3] x, float[n, 3] b) => (float[n, 3] y) <int64 zero = {0}, int64 one = {1},
    int64[1, 3, 1] j = {0, 1, 2}, int64[2] ends = {1, 2}, int64[3] cell = {1, 3, 1}> {
    s = Shape (x) n = Gather (s, zero) r = Range (zero, n, one) f = Unsqueeze (r, ends)
    i = Expand (f, cell) k = Shape (f) h = Expand (j, k) t = Concat <axis = 2> (i, h) u = Abs (x)
    y = ScatterND (b, t, u) }"""


def test_tuples_of_two_loops():
    assert_proved(NESTED, GRID)
    assert_open(NESTED, GRID.replace("{0, 1, 2}", "{0, 1, 1}"))
    assert_open(NESTED, GRID.replace("{0, 1, 2}", "{0, 2, 1}"))
    assert_open(NESTED.replace("(f, h)", "(f, f)"), GRID)
    assert_open(NESTED, GRID.replace("{0, 1, 2}", "{0, 1, 3}"))


FORWARD = """g (float[n, 2] x, float[n, 2] z) => (float[n, 2] y) <int64 zero = {0},
    int64 one = {1}, int64[2] k01 = {0, 1}, int64[1] k0 = {0}, bool yes = {1}> {
    s = Shape (x) n = Gather (s, zero)
    y = Loop <body = b (int64 i, bool go, float[n, 2] a) => (bool stay, float[n, 2] c) {
        stay = Identity (go) e = Gather (a, %s) v = Abs (e) u = Unsqueeze (v, k0)
        j = Unsqueeze (%s, k01) c = ScatterND (a, j, u) }> (%s, yes, x) }"""
PLAIN = "g (float[n, 2] x, float[n, 2] z) => (float[n, 2] y) { y = Abs (%s) }"


def test_rows_that_a_loop_reads_before_it_writes_them():
    loop = FORWARD % ("i", "i", "n")
    assert_proved(loop, PLAIN % "x")
    assert_proved(PLAIN % "x", loop)
    assert_open(loop, PLAIN % "z")
    back = FORWARD.replace("e = G", "h = Sub (i, one) e = G")
    assert_open(back % ("h", "i", "n"), PLAIN % "x")
    assert_open(back.replace("(i, one)", "(i, i)") % ("h", "i", "n"), PLAIN % "x")
    assert_open(FORWARD % ("i", "zero", "n"), PLAIN % "x")
    fewer = FORWARD.replace("n = Gather (s, zero)", "m = Gather (s, zero) n = Sub (m, one)")
    assert_open(fewer % ("i", "i", "n"), PLAIN % "x")


BEHIND = """g (float[T, 2] x, float[K, 2] a) => (float[N, 2] y)
    <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] first = {0}, bool t = {1}> {
    shape = Shape (x) n = Gather <axis = 0> (shape, zero) SIZE
    b = Expand (START, sizes)
    y = Loop (n, t, b) <body = step (int64 i, bool c, float[M, 2] s) => (bool d, float[M, 2] u) {
        d = Identity (c) e = Gather <axis = 0> (x, i)
        j = Add (i, one) k = Unsqueeze (WRITE, first)
        o = Gather <axis = 0> (s, READ) v = Add (o, e)
        r = Unsqueeze (v, first) p = Unsqueeze (k, first)
        u = ScatterND (s, p, r) }> }"""


def behind(write="j", read="i", start="none", size="m = Add (n, one)"):
    text = BEHIND.replace("WRITE", write).replace("READ", read).replace("START", start)
    size += " v = Unsqueeze (m, first) w = Constant <value_ints = [2]> ()"
    size += " sizes = Concat <axis = 0> (v, w)"
    return text.replace("SIZE", size).replace("zero = {0}", "zero = {0}, float none = {0}", 1)


def of_rows_before(before):
    sums = """g (float[T, 2] x, float[K, 2] a) => (float[N, 2] y)
        <int64 zero = {0}, float[1, 2] z = {0, 0}> {
        s = CumSum (x, zero) y = Concat <axis = 0> (z, s) }"""
    return prove(model(before, 17), model(sums, 17), equality="reals")


def test_rows_of_the_rows_before_are_the_states_of_a_fold():
    assert of_rows_before(behind()).proved


@table(
    {"read": "j"},
    {"write": "i"},
    {"write": "i", "read": "j"},
    {"read": "zero"},
    {"size": "m = Add (n, two)"},
    {"start": "unit"},
)
def test_other_rows_are_no_such_states(change):
    text = behind(**change).replace("zero = {0}", "zero = {0}, float unit = {1}", 1)
    proof = of_rows_before(text)
    assert not proof.proved
    assert "valid" not in proof.reason
