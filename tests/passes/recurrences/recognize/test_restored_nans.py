import numpy as np
import pytest
from recurred import assert_same, loop, raised
from tables import table

ADD = "m = Max ({a}, {b}) o = Sub ({a}, m) y = Sub ({b}, m) x1 = Exp (o) y1 = Exp (y)"
ADD += " z = Add (x1, y1) l = Log (z) {to} = Add (m, l) "
ONE = ADD.format(a="s", b="e", to="u")
GUARDED = "g = Less (e, half) s2 = Where (g, u, s)"
RESET = "g = Greater (e, half) s2 = Where (g, e, u)"
TWO = "a1 = Add (s, e) " + ADD.format(a="a1", b="t", to="s2")
LOW, HIGH, NAN = -np.inf, np.inf, np.nan


@pytest.mark.parametrize("last", [GUARDED, RESET, "s2 = Identity (u)"])
def test_a_nan_stays_until_a_reset(last):
    text = loop(f"{ONE} {last} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for column in ([LOW, LOW, 0, 2, 0, 0], [HIGH, 1, 2], [NAN, 0, 1, 0], [0, LOW, 3, -1]):
        for start in (0.5, LOW, HIGH, NAN):
            x = np.repeat(np.array(column, np.float32)[:, None], 3, 1)
            assert_same(text, model, x, s0=np.full(3, start, np.float32))


@pytest.mark.parametrize("other", ["t2 = Identity (t)", "t2 = Add (s, half)", "t2 = Add (t, e)"])
def test_a_nan_spreads_to_states_that_read_it(other):
    text = loop(f"{TWO} {other} r = Add (s2, t)", "float[3] s s0; float[3] t t0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for column in ([LOW, LOW, 0, 2, 0, 0], [1, NAN, 2], [0, LOW, 3, -1]):
        for first, second in ((0.5, LOW), (LOW, LOW), (LOW, 1), (NAN, 0), (1, NAN)):
            x = np.repeat(np.array(column, np.float32)[:, None], 3, 1)
            fed = {"s0": np.full(3, first, np.float32), "t0": np.full(3, second, np.float32)}
            assert_same(text, model, x, **fed)


@table(
    "h = Greater (a, b) s2 = Where (h, a, b) t2 = Add (s, e)",
    "h = Greater (b, a) s2 = Where (h, b, a) t2 = Identity (b)",
    "h = GreaterOrEqual (a, b) s2 = Where (h, a, b) d = Add (t, half) g = Greater (d, s)"
    " t2 = Where (g, d, s)",
)
def test_choices_between_functions_of_states(body):
    """The first one is dropped where it is NaN, and the second one stays NaN."""
    body = f"a = Add (s, e) b = Add (t, e) {body}"
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0; float[3] t t0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for column in ([], [1, NAN, 2], [NAN, NAN, 1, -1, NAN], [2, -1, 0.5, NAN, 3, -2, 1]):
        for first, second in ((0.5, 1), (NAN, 0), (1, NAN), (LOW, 0)):
            x = np.repeat(np.array(column, np.float32)[:, None], 3, 1)
            fed = {"s0": np.full(3, first, np.float32), "t0": np.full(3, second, np.float32)}
            assert_same(text, model, x, **fed)


@pytest.mark.parametrize("chosen", ["Greater (a, e)", "LessOrEqual (a, e)"])
def test_a_choice_between_a_state_and_a_row(chosen):
    text = loop(
        f"w = Sin (e) a = Add (s, w) h = {chosen} s2 = Where (h, a, e) r = Identity (s2)",
        "float[3] s s0",
        "float[3] r",
    )
    model = raised(text, kept=["Scan"])
    for column in ([1, NAN, 2], [NAN, NAN, 1, -1, NAN, 3]):
        for start in (0.5, NAN, LOW):
            x = np.repeat(np.array(column, np.float32)[:, None], 3, 1)
            assert_same(text, model, x, s0=np.full(3, start, np.float32))
