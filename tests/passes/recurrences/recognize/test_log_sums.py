"""Logarithms of sums of exponentials as states."""

import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason

PLAIN = "p = Exp (s) q = Exp (e) a = Add (p, q) s2 = Log (a)"
SCALED = """m = Max (s, e) d = Sub (s, m) f = Sub (e, m) p = Exp (d) q = Exp (f) a = Add (p, q)
    l = Log (a) s2 = Add (m, l)"""
OTHER_WAY = """m = Max (e, s) d = Sub (s, m) f = Sub (e, m) p = Exp (d) q = Exp (f)
    a = Add (q, p) l = Log (a) s2 = Add (l, m)"""


def text_of(body, is_all=True):
    more = " r = Identity (s2) o = Neg (s)" if is_all else ""
    return loop(body + more, "float[3] s s0", "float[3] r; float[3] o" if is_all else "")


@pytest.mark.parametrize("body", [PLAIN, SCALED, OTHER_WAY])
@pytest.mark.parametrize("is_all", [True, False])
def test_logarithms_of_sums(body, is_all):
    model = raised(text_of(body, is_all), kept=["Scan"])
    types = [node.op_type for node in model.graph.node]
    assert "Log" in types and ("CumSum" in types) == (body is PLAIN)
    for length in LENGTHS:
        for scale in (1, 30):
            x = scale * numbers(length)
            assert_same(text_of(body, is_all), model, x, s0=scale * numbers(1)[0])


@pytest.mark.parametrize("body", [PLAIN, SCALED])
def test_infinities_and_nan(body):
    """The difference of two infinities is NaN from there on, as in the Loop."""
    text = text_of(body)
    model = raised(text, kept=["Scan"])
    low, high, nan = -np.inf, np.inf, np.nan
    for column in ([low, low, 1], [1, low, low], [2, high, 1], [low, 1, nan], [200, 1, -200]):
        for start in (0.5, low, high, nan, -1e30):
            x = np.repeat(np.array(column, np.float32)[:, None], 3, 1)
            assert_same(text, model, x, s0=np.full(3, start, np.float32))


@pytest.mark.parametrize(
    "body",
    [
        SCALED.replace("f = Sub (e, m)", "f = Sub (e, s)"),
        SCALED.replace("Max", "Min"),
        SCALED.replace("q = Exp (f)", "q = Tanh (f)"),
        PLAIN.replace("q = Exp (e)", "g = Neg (s) q = Exp (g)"),
        PLAIN.replace("p = Exp (s)", "p = Exp (e)").replace("a = Add (p, q)", "a = Add (p, s)"),
    ],
)
def test_others_stay(body):
    assert "no operator computes" in reason(text_of(body))


def test_large_states_stay():
    text = text_of(SCALED).replace("[3]", "[300]").replace("[N, 3]", "[N, 300]")
    assert "too large" in reason(text.replace("[T, 3]", "[T, 300]"))
