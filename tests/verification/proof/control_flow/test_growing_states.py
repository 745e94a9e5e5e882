import pytest
from proofs import assert_open, assert_proved
from tables import table

ROWS = """g (float[T, 2] x, float[P, 2] a, float[3, 2] k) => (float[N, 2] last, float[M, 2] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1},
     int64[1] three = {3}, int64[1] last1 = {-1}, bool t = {1}> {
    shape = Shape (x) n = Gather <axis = 0> (shape, zero) e = Exp (x) all = ALL
    size = Shape <start = 0, end = 1> (START) most = Shape <start = 0, end = 1> (all)
    last = LAST
    y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[2] o) { d = Identity (c)
        j = Unsqueeze (i, first) j1 = Add (j, second) FROM TO
        p = Slice (all, from, to, first)
        o = ReduceMax <axes = [0], keepdims = 0> (p) }> }"""


def loop(start, step, read):
    text = """g (float[T, 2] x, float[P, 2] a, float[3, 2] k) => (float[N, 2] last, float[M, 2] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1},
         int64[1] end = {9223372036854775807}, int64[1] behind = {-1}, bool t = {1}> {
        shape = Shape (x) n = Gather <axis = 0> (shape, zero) START
        last, y = Loop (n, t, s0) <body = b (int64 i, bool c, float[Q, 2] s)
            => (bool d, float[R, 2] u, float[2] o) { d = Identity (c)
            v = Gather <axis = 0> (x, i) r = Unsqueeze (v, first) e = Exp (r)
            STEP
            o = ReduceMax <axes = [0], keepdims = 0> (READ) }> }"""
    return (
        text.replace("START", f"s0 = Identity ({start})")
        .replace("STEP", step)
        .replace("READ", read)
    )


def rows(start, joined, first, end, last="Identity (all)"):
    text = ROWS.replace("START", start).replace("ALL", joined).replace("LAST", last)
    return text.replace("FROM", f"from = {first}").replace("TO", f"to = {end}")


GROWS = loop("a", "u = Concat <axis = 0> (s, e)", "u")
PREFIX = rows("a", "Concat <axis = 0> (a, e)", "Identity (first)", "Add (size, j1)")
MOVES = loop("k", "w = Slice (s, second, end, first) u = Concat <axis = 0> (w, e)", "u")
WINDOW = rows(
    "k", "Concat <axis = 0> (k, e)", "Identity (j1)", "Add (j1, three)", "Slice (all, n1, most)"
).replace("last =", "n1 = Unsqueeze (n, first) last =")


@pytest.mark.parametrize(("before", "after"), [(GROWS, PREFIX), (MOVES, WINDOW)])
def test_states_are_parts_of_all_rows(before, after):
    assert_proved(before, after, 17)
    assert_proved(after, before, 17)


@table(
    ("(s, e)", "(e, s)"),
    ("Exp (r)", "Exp (x)"),
    ("Concat <axis = 0> (s, e)", "Concat <axis = 0> (s, e, e)"),
    ("(u) }", "(s) }"),
    ("e = Exp (r)", "q = ReduceMax <axes = [0]> (s) e = Add (r, q)"),
)
def test_other_lists_are_other_rows(old, new):
    text = GROWS.replace(old, new)
    assert text != GROWS
    assert "valid" not in assert_open(text, PREFIX, opset=17, weaker=True).reason


@table(
    ("(w, e)", "(e, w)"), ("second, end", "first, behind"), ("(u) }", "(s) }"), ("(u) }", "(w) }")
)
def test_other_registers_are_other_windows(old, new):
    text = MOVES.replace(old, new)
    assert text != MOVES
    assert "valid" not in assert_open(text, WINDOW, opset=17, weaker=True).reason


def test_a_list_in_front_is_read_from_the_end():
    step = "u = Concat <axis = 0> (e, s)"
    before = loop("a", step, "u")
    after = loop("a", step.replace("e, s", "e, s0s").replace("u =", "s0s = Identity (s) u ="), "u")
    assert_proved(before, after, 17)
    assert_open(before, GROWS, opset=17)


def test_rows_of_random_numbers_are_no_closed_form():
    text = GROWS.replace("Exp (r)", "RandomNormalLike (r)")
    assert_open(text, PREFIX.replace("e = Exp (x)", "e = RandomNormalLike (x)"), opset=17)
