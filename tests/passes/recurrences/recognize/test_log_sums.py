import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from tables import table

PLAIN = "p = Exp (s) q = Exp (e) a = Add (p, q) s2 = Log (a)"
SCALED = """m = Max (s, e) d = Sub (s, m) f = Sub (e, m) p = Exp (d) q = Exp (f) a = Add (p, q)
    l = Log (a) s2 = Add (m, l)"""
OTHER_WAY = """m = Max (e, s) d = Sub (s, m) f = Sub (e, m) p = Exp (d) q = Exp (f)
    a = Add (q, p) l = Log (a) s2 = Add (l, m)"""


SPELLINGS = {
    "plain": PLAIN,
    "scaled": SCALED,
    "other way": OTHER_WAY,
    "softplus": "d = Sub (e, s) a = Softplus (d) s2 = Add (s, a)",
    "softplus of the magnitude": "m = Max (s, e) d = Sub (s, e) f = Abs (d) p = Neg (f)"
    " l = Softplus (p) s2 = Add (m, l)",
    "log1p": "m = Max (s, e) d = Sub (e, s) f = Abs (d) p = Neg (f) q = Exp (p)"
    " a = Add (unit, q) l = Log (a) s2 = Add (l, m)",
    "least": "m = Max (s, e) w = Min (e, s) d = Sub (w, m) p = Exp (d) a = Add (p, unit)"
    " l = Log (a) s2 = Add (m, l)",
    "least as the scale": SCALED.replace("Max", "Min"),
    "chosen": SCALED.replace("m = Max (s, e)", "h = Less (s, e) m = Where (h, e, s)"),
    "reduced": "a = Unsqueeze (s, at) d = Unsqueeze (e, at) p = Concat <axis = 0> (d, a)"
    " s2 = ReduceLogSumExp <axes = [0], keepdims = 0> (p)",
    "tempered": "d = Mul (s, half) f = Mul (e, half) p = Exp (d) q = Exp (f) a = Add (p, q)"
    " l = Log (a) s2 = Div (l, half)",
    "soft minimum": "d = Neg (s) f = Neg (e) p = Exp (d) q = Exp (f) a = Add (p, q) l = Log (a)"
    " s2 = Neg (l)",
    "with a decay": SCALED.replace("Max (s, e)", "Max (v, e)")
    .replace("Sub (s, m)", "Sub (v, m)")
    .replace("m = Max", "v = Sub (s, half) m = Max"),
    "softplus of a sum": "a = Add (s, e) s2 = Softplus (a)",
    "guarded": SCALED.replace("s2", "t") + " g = Less (e, nil) s2 = Where (g, t, s)",
    "reset": PLAIN.replace("s2", "t") + " g = Less (e, nil) s2 = Where (g, half, t)",
}


def text_of(body, is_all=True):
    more = " r = Identity (s2) o1 = Neg (s)" if is_all else ""
    pre = "unit = Constant <value = float {1}> () at = Constant <value = int64[1] {0}> () "
    body = (pre if "unit" in body or "at)" in body else "") + body
    return loop(body + more, "float[3] s s0", "float[3] r; float[3] o1" if is_all else "")


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("is_all", [True, False])
def test_logarithms_of_sums(name, is_all):
    body = SPELLINGS[name]
    model = raised(text_of(body, is_all), kept=["Scan"])
    types = [node.op_type for node in model.graph.node]
    assert ("CumSum" in types) == (name in ("plain", "tempered", "soft minimum"))
    for length in LENGTHS:
        for scale in (1,) if length > 5 and "plain" not in name else (1, 10):
            x = scale * numbers(length)
            assert_same(text_of(body, is_all), model, x, s0=scale * numbers(1)[0])


@pytest.mark.parametrize("body", [PLAIN, SCALED, SPELLINGS["softplus"]])
def test_infinities_and_nan(body):
    """The difference of two infinities is NaN from there on, as in the Loop."""
    text = text_of(body)
    model = raised(text, kept=["Scan"])
    low, high, nan = -np.inf, np.inf, np.nan
    for column in ([low, low, 1], [1, low, low], [2, high, 1], [low, 1, nan], [200, 1, -200]):
        # The Softplus of a far distance cancels: -1e30 + 1e30 is 0 in the Loop.
        for start in (0.5, low, high, nan, *([] if "Softplus" in body else [-1e30])):
            x = np.repeat(np.array(column, np.float32)[:, None], 3, 1)
            assert_same(text, model, x, s0=np.full(3, start, np.float32))


@table(
    SCALED.replace("f = Sub (e, m)", "f = Sub (e, s)"),
    SCALED.replace("q = Exp (f)", "q = Tanh (f)"),
    PLAIN.replace("q = Exp (e)", "g = Neg (s) q = Exp (g)"),
    SCALED.replace("p = Exp (d)", "p1 = Exp (d) p = Mul (p1, p1)"),
    SPELLINGS["softplus"].replace("Sub (e, s)", "Sub (s, e)"),
    SPELLINGS["log1p"].replace("unit, q", "half, q"),
    PLAIN.replace("p = Exp (s)", "p = Exp (e)").replace("a = Add (p, q)", "a = Add (p, s)"),
)
def test_others_stay(body):
    assert "no operator computes" in reason(text_of(body))


def test_large_states_stay():
    text = text_of(SCALED).replace("[3]", "[300]").replace("[N, 3]", "[N, 300]")
    assert "too large" in reason(text.replace("[T, 3]", "[T, 300]"))


def test_a_state_that_cancels_is_kept():
    """max (s, e) alone reads it, and over the reals the sum does not depend on the scale."""
    assert "computes the next value" in reason(
        text_of(SCALED.replace("d = Sub (s, m)", "d = Sub (half, m)"))
    )
