import itertools

import numpy as np
import pytest
from depth import some
from proofs import assert_open, assert_proved, is_proved, model, over_reals
from sessions import by_reference
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.arithmetic.trip_counts import at_least, least
from tables import table
from term_values import evaluated, terms_of

LOOP = """g (int32 s, int32 n, int64 m, float[N] x) => (int64[k] z)
    <int64 none = {0}, int64 one = {1}, int64 three = {3}, int64 minus = {-3}, bool yes = {1}> {
    a = Cast <to = 7> (s) b = Cast <to = 7> (n) h = Shape (x) l = Squeeze (h)
    %s z = Loop (t, yes) <body = b (int64 i, bool c) => (bool d, int64 o) {
        d = Identity (c) o = Identity (i) }> }"""
SAME = [
    ["t = Sub (b, a)", "u = Sub (b, a) t = Max (u, none)", "u = Neg (a) t = Add (u, b)"],
    ["u = Sub (b, a) t = Min (u, m)", "u = Sub (b, a) w = Max (m, none) t = Min (w, u)"],
    ["t = Max (b, one)", "u = Max (b, none) t = Max (one, u)"],
    ["w = Max (m, three) t = Add (w, minus)", "w = Max (m, three) t = Sub (w, three)"],
    ["t = Add (m, minus)", "t = Add (m, minus)"],
    ["t = Identity (m)", "t = Min (m, m)", "w = Max (m, none) t = Min (m, w)"],
    ["t = Identity (l)", "t = Max (l, none)", "w = Add (l, three) t = Min (w, l)"],
]


@pytest.mark.parametrize("same", SAME)
def test_numbers_are_one_however_they_are_written(same):
    for one, other in itertools.pairwise(same):
        assert_proved(LOOP % one, LOOP % other)


def test_others_are_not():
    for one, other in itertools.combinations([same[0] for same in SAME], 2):
        assert_open(LOOP % one, LOOP % other)


@pytest.mark.sample(8)
@pytest.mark.parametrize("number", [number for same in SAME for number in same])
def test_numbers_are_what_runs_give(number):
    given = model(LOOP % number)
    for s, n, m in itertools.product((-(2**31), -1, 3), (-1, 2, 5), (-(2**63), -2, 0, 4)):
        iterations = expected(number, s, n, m)
        if iterations < 100:
            feeds = {"s": np.array(s, np.int32), "n": np.array(n, np.int32), "m": np.array(m)}
            (z,) = evaluated(given, {**feeds, "x": np.zeros(2, np.float32)})
            assert z.tolist() == list(range(iterations))


def expected(number, s, n, m):
    """The number of the same text, computed as integers of 64 bits."""
    values = {"a": s, "b": n, "m": m, "l": 2, "none": 0, "one": 1, "three": 3, "minus": -3}
    signs = {"Sub": lambda a, b: a - b, "Add": lambda a, b: a + b, "Neg": lambda a: -a}
    signs |= {"Min": min, "Max": max, "Identity": lambda a: a}
    for name, call in (part.split(" = ") for part in number.replace(") ", ")\n").split("\n")):
        kind, given = call.rstrip(")").split(" (")
        value = signs[kind](*[values[each] for each in given.split(", ")])
        values[name] = (value + 2**63) % 2**64 - 2**63
    return max(values["t"], 0)


def test_the_least_of_sizes():
    terms, (y,) = terms_of(model("g (int32 n) => (int32 y) { y = Identity (n) }"))
    size, one = at_least(terms, y, 0), Dimension.constant(1)
    assert at_least(terms, y, 1) != size + 1
    assert least(terms, [size, size]) == size == least(terms, [size + one, size])
    assert least(terms, [size, Dimension.constant(2**31)]) == size
    assert least(terms, [size, Dimension.constant(7)]) not in (size, 7)
    assert least(terms, [size, Dimension.constant(0)]) == 0


HEAD = """g (%(kind)s s, %(kind)s n, int64 m, bool ask, float[N] x) => (int64 t, float[k] z)
    <%(kind)s zero = {0}, %(kind)s seven = {7}, bool yes = {1}, int64 none = {0},
    int64 far = {9223372036854775807}, int64 p1 = {1}, int64 p2 = {2}, int64 p3 = {3},
    int64 m1 = {-1}, int64 m2 = {-2}, int64 m128 = {-128}, int64[1] front = {0}> {
    %(nodes)s
    e, t, z = Loop (%(given)s, %(start)s, none) <
        body = b (int64 i, bool c, %(kind)s k, int64 u) => (bool d, %(kind)s j, int64 v, float o)
        <%(kind)s step = {%(step)d}, int64 more = {1}> {
        j = Add (k, step) v = Add (u, more) o = Cast <to = 1> (i) %(keep)s }> }"""


def loop(keep, first="go = Less (s, n)", given=", go", start="s", step=1, kind="int32"):
    """A loop with a condition."""
    parts = {"keep": keep, "nodes": first, "given": given, "start": start, "step": step}
    return HEAD % {**parts, "kind": kind}


def counted(nodes, given="iterations, yes", **options):
    """A loop that its iterations end, which are computed before it."""
    return loop("d = Identity (c)", nodes, given, **options)


WIDE = "a = Cast <to = 7> (s) b = Cast <to = 7> (n) "
LESS = loop("d = Less (j, n)")
SAME_COUNT = counted(WIDE + "iterations = Sub (b, a)")


@table(
    "d = Less (j, n)",
    "d = Greater (n, j)",
    "h = GreaterOrEqual (j, n) d = Not (h)",
    "h = Less (j, n) d = And (h, c)",
    "h = GreaterOrEqual (j, n) l = LessOrEqual (n, j) w = Or (h, l) d = Not (w)",
    "w = Cast <to = 7> (j) y = Cast <to = 7> (n) d = Less (w, y)",
    "w = Cast <to = 11> (j) y = Cast <to = 11> (n) d = Less (w, y)",
)
def test_up_to_a_bound(keep):
    assert_proved(loop(keep), SAME_COUNT)


@table(
    "iterations = Sub (b, a)",
    "u = Neg (a) iterations = Add (u, b)",
    "u = Sub (a, b) iterations = Neg (u)",
    "u = Sub (b, a) w = Max (u, none) iterations = Min (w, far)",
    "u = Add (b, p3) w = Add (a, p3) iterations = Sub (u, w)",
)
def test_however_the_iterations_are_written(iterations):
    assert_proved(LESS, counted(WIDE + iterations))


@table(
    "u = Sub (b, a) iterations = Add (u, p1)",
    "u = Sub (b, a) iterations = Add (u, m1)",
    "iterations = Sub (a, b)",
    "iterations = Identity (b)",
    "u = Sub (b, a) iterations = Max (u, p1)",
    "u = Sub (b, a) iterations = Min (u, m)",
    "u = Sub (b, a) iterations = Max (u, m)",
    "u = Sub (n, s) iterations = Cast <to = 7> (u)",
    "u = Cast <to = 1> (n) w = Cast <to = 1> (s) q = Sub (u, w) iterations = Cast <to = 7> (q)",
)
def test_other_iterations_are_not_as_many(iterations):
    assert_open(LESS, counted(WIDE + iterations))


@table(
    ("d = LessOrEqual (j, n)", "go = Less (s, n)"),
    ("d = Less (j, n)", "go = LessOrEqual (s, n)"),
    ("d = LessOrEqual (j, n)", "go = LessOrEqual (s, n)"),
    ("d = Less (k, n)", "go = Less (s, n)"),
    ("d = Less (j, n)", "go = Less (zero, n)"),
    ("d = Less (j, n)", "go = Greater (s, n)"),
    ("d = Less (j, n)", "go = Identity (ask)"),
    ("d = Less (j, n)", "go = Identity (yes)"),
    ("d = Less (j, n)", "h = Less (s, n) go = And (h, ask)"),
    ("d = Less (n, j)", "go = Less (n, s)"),
    ("h = Less (j, n) d = Or (h, c)", "go = Less (s, n)"),
    ("h = Less (j, n) l = Less (j, seven) d = And (h, l)", "go = Less (s, n)"),
    ("h = Less (j, n) l = Less (j, seven) d = Or (h, l)", "go = Less (s, n)"),
    ("w = Cast <to = 1> (j) y = Cast <to = 1> (n) d = Less (w, y)", "go = Less (s, n)"),
)
def test_other_conditions_do_not_allow_as_many(keep, first):
    assert_open(loop(keep, first), SAME_COUNT)


def test_another_step_is_another_number():
    assert_open(loop("d = Less (j, n)", step=2), counted(WIDE + "iterations = Sub (b, a)", step=2))
    assert_open(
        loop("d = Less (j, n)", step=-1), counted(WIDE + "iterations = Sub (b, a)", step=-1)
    )


def test_down_to_a_bound():
    text = loop("d = Greater (j, n)", "go = Greater (s, n)", step=-1)
    assert_proved(text, counted(WIDE + "iterations = Sub (a, b)", step=-1))
    assert_open(text, counted(WIDE + "iterations = Sub (b, a)", step=-1))
    assert_open(text, counted(WIDE + "u = Sub (a, b) iterations = Add (u, p1)", step=-1))


def test_up_to_a_number_itself():
    """Where it may be the largest one of its type the loop may never end."""
    text = loop("d = LessOrEqual (j, seven)", "go = LessOrEqual (s, seven)")
    eight = "q = Constant <value = int64 {8}> () a = Cast <to = 7> (s) iterations = Sub (q, a)"
    assert_proved(text, counted(eight))
    assert_open(text, counted(eight.replace("8", "7")))
    endless = loop("d = LessOrEqual (j, n)", "go = LessOrEqual (s, n)")
    assert_open(endless, counted(WIDE + "u = Sub (b, a) iterations = Add (u, p1)"))


def test_the_first_iteration_is_not_asked_about():
    """Unless the initial condition says of the start what the body says of the counter."""
    for first, given, start in (
        ("", "iterations, yes", "yes"),
        ("go = Identity (ask)", "iterations, go", "go"),
    ):
        text = loop("d = Less (j, n)", first, f", {start}", start="zero")
        most = counted(f"{first} {WIDE} iterations = Max (b, p1)", given, start="zero")
        assert_proved(text, most)
        for wrong in ("Max (b, none)", "Max (b, p2)", "Identity (b)", "Max (a, p1)"):
            assert_open(text, counted(f"{first} {WIDE} iterations = {wrong}", given, start="zero"))
    text = loop("d = Less (j, n)", "go = Identity (ask)", ", go", start="zero")
    assert_open(text, counted(f"{WIDE} iterations = Max (b, p1)", start="zero"))


def test_a_start_that_may_overflow_is_asked_about():
    """s + 1 is the least number if s is the largest one."""
    text = loop("d = Less (j, n)", "go = Identity (yes)")
    assert_open(text, counted(WIDE + "u = Sub (b, a) iterations = Max (u, p1)"))
    text = loop("d = Less (k, n)", "go = Identity (yes)")
    assert_proved(text, counted(WIDE + "u = Sub (b, a) w = Add (u, p1) iterations = Max (w, p1)"))


def test_the_number_of_the_iteration_is_a_counter():
    text = loop("d = Less (i, m)", "", "far, yes")
    assert_open(text, counted("w = Add (m, p1) iterations = Max (w, p1)"))  # m + 1 may overflow
    text = loop("y = Cast <to = 7> (n) d = Less (i, y)", "", "m, ask")
    most = "b = Cast <to = 7> (n) u = Add (b, p1) w = Max (u, p1) iterations = Min (%s)"
    assert_proved(text, counted(most % "w, m", "iterations, ask"))
    assert_open(text, counted(most % "w, w", "iterations, ask"))
    assert_open(
        text, counted((most % "w, m").replace("Max (u, p1)", "Max (b, p1)"), "iterations, ask")
    )


def test_several_ends():
    keep = "h = Less (j, n) l = Less (j, seven) d = And (h, l)"
    first = "g1 = Less (s, n) g2 = Less (s, seven) go = And (g1, g2)"
    both = WIDE + "w = Cast <to = 7> (seven) u = Sub (b, a) q = Sub (w, a) iterations = "
    assert_proved(loop(keep, first), counted(both + "Min (u, q)"))
    assert_proved(loop(keep, first), counted(both + "Min (q, u, q)"))
    for wrong in ("Identity (u)", "Identity (q)", "Max (u, q)", "Min (u, q, m)"):
        assert_open(loop(keep, first), counted(both + wrong))


def test_a_maximum_beside_it():
    text = loop("d = Less (j, n)", given="m, go")
    for iterations in ("Min (u, m)", "Min (m, u)"):
        assert_proved(text, counted(f"{WIDE} u = Sub (b, a) iterations = {iterations}"))
    for iterations in ("Identity (u)", "Identity (m)", "Max (u, m)"):
        assert_open(text, counted(f"{WIDE} u = Sub (b, a) iterations = {iterations}"))


def test_64_bits():
    """The distance of two of them may be no number of 64 bits."""
    start = {"kind": "int64", "start": "seven"}
    text = loop("d = Less (j, n)", "go = Less (seven, n)", **start)
    iterations = "w = Max (n, seven) iterations = Sub (w, seven)"
    assert_proved(text, counted(iterations, **start))
    assert_open(text, counted("iterations = Sub (n, seven)", **start))
    first, keep = "go = Identity (ask)", "d = Less (j, n)"
    iterations = (
        "go = Identity (ask) w = Max (n, seven) u = Sub (w, seven) iterations = Max (u, p1)"
    )
    assert_proved(loop(keep, first, **start), counted(iterations, "iterations, go", **start))
    assert_open(
        loop("d = Less (j, n)", kind="int64"), counted("iterations = Sub (n, s)", kind="int64")
    )


THREES = {"kind": "int64", "start": "seven", "step": 3}
UP_BY_3 = "x1 = Max (n, seven) x2 = Sub (x1, seven) x3 = Min (x2, far2) x4 = Add (x3, p2) "
FAR_2 = "far2 = Constant <value = int64 {9223372036854775805}> () "


def test_steps():
    """Over 2^63 / 3 iterations the counter wraps: such a loop counts as one that does not end."""
    text = loop("d = Less (j, n)", "go = Less (seven, n)", **THREES)
    up = f"{FAR_2}{UP_BY_3}"
    assert_proved(text, counted(up + "iterations = Div (x4, p3)", **THREES))
    assert_open(text, counted(up + "iterations = Div (x4, p2)", **THREES))
    assert_open(text, counted(up + "iterations = Div (x3, p3)", **THREES))
    narrow = loop("d = Less (j, n)", "go = Less (seven, n)", start="seven", step=3)
    assert "counted" not in terms_of(model(narrow))[0].used


def test_narrow_counters_do_not_reach_wide_bounds():
    text = loop("w = Cast <to = 7> (j) d = Less (w, m)", "go = Less (none, m)", start="zero")
    assert_open(text, counted("iterations = Max (m, none)", start="zero"))


ROUNDED = "w = Cast <to = 1> (j) y = Cast <to = 1> (n) d = Less (w, y)"
FIRST = "p = Cast <to = 1> (s) q = Cast <to = 1> (n) go = Less (p, q)"


def test_numbers_that_float32_rounds_do_not_count():
    for text in (loop(ROUNDED, FIRST), loop(ROUNDED, "go = Less (zero, n)", start="zero")):
        assert "counted" not in terms_of(model(text))[0].used
        assert_open(text, SAME_COUNT)


def test_real_numbers_count():
    models = model(loop(ROUNDED, FIRST)), model(SAME_COUNT)
    assert over_reals(*models)
    assert not is_proved(*models, equality="values")
    other = model(counted(WIDE + "iterations = Sub (a, b)"))
    assert not over_reals(models[0], other)


def test_an_end_behind_another_one_ends_nothing():
    """i < n and i + 1 < n, where the type of i alone is not shown to hold n."""
    both = "w = Cast <to = 7> (j) h = Less (i, m) l = Less (w, m) d = And (h, l)"
    options = {"start": "zero", "kind": "int32"}
    far = loop(both, "b = Cast <to = 7> (n) go = Less (zero, n)", **options).replace("m)", "b)")
    near = loop("d = Less (j, n)", "go = Less (zero, n)", **options)
    assert_proved(far, near)
    assert_open(far, loop("d = Less (k, n)", "go = Less (zero, n)", **options))
    assert_open(far.replace("h = Less (i, b)", "z2 = Add (v, more) h = Less (z2, b)"), near)


def test_a_condition_that_never_holds_allows_one_iteration():
    text = loop("w = Constant <value = int64 {-1}> () d = Less (i, w)", "", "m, ask")
    assert_proved(text, counted("iterations = Min (m, p1)", "iterations, ask"))
    assert_open(text, counted("iterations = Min (m, p2)", "iterations, ask"))


def test_a_size_of_32_bits_is_a_start():
    sizes = "l = Shape (x) q = Squeeze (l) size = Cast <to = 6> (q) "
    options = {"start": "size", "step": -1}
    text = loop("d = Greater (j, n)", sizes + "go = Greater (size, n)", **options)
    iterations = sizes + "b = Cast <to = 7> (n) iterations = Sub (q, b)"
    assert_proved(text, counted(iterations, **options))
    assert_open(text, counted(iterations.replace("Sub (q, b)", "Sub (b, q)"), **options))


def test_conditions_that_do_more_than_count():
    for keep in (
        "h = Less (j, n) d = Xor (h, ask)",
        "d = Equal (j, n)",
        "w = Mul (j, j) d = Less (w, n)",
        "w = Cast <to = 6> (v) q = Mul (w, w) d = Less (j, q)",
    ):
        terms, _ = terms_of(model(loop(keep, given="m, go")))
        assert "counted" not in terms.used


EXTREMES = {
    "int32": [-(2**31), 1 - 2**31, -1, 0, 3, 7, 2**24 + 1, 2**31 - 2, 2**31 - 1],
    "int64": [-(2**63), 1 - 2**63, -1, 0, 3, 7, 2**31, 2**53 + 1, 2**63 - 2, 2**63 - 1],
}


@table(
    ("less", LESS, "int32"),
    ("equal", loop("d = LessOrEqual (j, seven)", "go = LessOrEqual (s, seven)"), "int32"),
    ("down", loop("d = Greater (j, n)", "go = Greater (s, n)", step=-1), "int32"),
    ("first", loop("d = Less (k, n)", "go = Identity (ask)"), "int32"),
    ("wide", loop("d = Less (j, n)", kind="int64"), "int64"),
    ("threes", loop("d = Less (j, n)", "go = Less (seven, n)", **THREES), "int64"),
    ("twos", loop("d = GreaterOrEqual (j, n)", "go = Identity (ask)", **{**THREES, "step": -2}),
     "int64"))  # fmt: skip
def test_loops_make_as_many_iterations_as_are_counted(case, text, kind):
    """At most five are made, since the distances of these numbers are large."""
    text = text.replace("(, go", "(m, go")
    given = model(text)
    terms, _ = terms_of(given)
    assert "counted" in terms.used
    cast = {"int32": np.int32, "int64": np.int64}[kind]
    extremes = itertools.product(EXTREMES[kind], EXTREMES[kind], (True, False))
    for s, n, ask in some(extremes, 40):
        feed = {"s": cast(s), "n": cast(n), "m": np.int64(5), "ask": np.bool_(ask)}
        feed = {name: np.array(value) for name, value in feed.items()}
        feed["x"] = np.zeros(1, np.float32)
        (made, *_), (wanted, *_) = evaluated(given, feed), by_reference(given, feed)
        assert made == wanted, (s, n, ask)


COUNTED = """g (float[n] x, float s) => (float y) {{
    t = Constant <value = bool {{1}}> () one = Constant <value_float = {}> ()
    w = Shape (x) a = Squeeze (w) f = Cast <to = 1> (a) q = {} c = Ceil (q) m = Cast <to = 7> (c)
    y = Loop <body = b (int64 i, bool g, float h) => (bool g2, float h2) {{
        g2 = Identity (g) h2 = Sin (h) }}> (m, t, s) }}"""


def test_a_trip_count_divided_by_one_is_itself():
    assert_proved(COUNTED.format("1.0", "Div (f, one)"), COUNTED.format("1.0", "Identity (f)"))
    assert_open(COUNTED.format("2.0", "Div (f, one)"), COUNTED.format("2.0", "Identity (f)"))
