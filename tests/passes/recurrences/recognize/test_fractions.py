import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from tables import table

BODIES = {
    "a gain": "p = Add (s, q) b = Add (p, half) k = Div (p, b) d = Mul (k, p) s2 = Sub (p, d)",
    "one less a gain": "p = Add (s, q) b = Add (p, half) k = Div (p, b) d = Sub (unit, k)"
    " s2 = Mul (d, p)",
    "a sum of inverses": "a = Reciprocal (s) b = Add (a, q) d = Reciprocal (b) s2 = Add (d, half)",
    "a saturated growth": "a = Add (s, half) b = Div (s, a) d = Mul (b, q) s2 = Add (d, q)",
    "a continued fraction": "a = Add (s, q) b = Div (half, a) s2 = Add (b, unit)",
}
CONSTANTS = "q = Constant <value = float {0.125}> () unit = Constant <value = float {1}> () "


def text_of(body, kind="float", start="s0 = {1, 0.25, 30}", more=""):
    text = loop(f"{CONSTANTS}{body}{more}", f"{kind}[3] s s0", f"{kind}[3] r" if more else "")
    if start:
        text = text.replace(f", {kind}[3] s0)", ")")
        text = text.replace("<bool yes", f"<{kind}[3] {start}, bool yes")
    return text.replace("float", kind) if kind != "float" else text


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("more", ["", " r = Identity (s)"])
def test_fractions(name, kind, more):
    dtype = np.float64 if kind == "double" else np.float32
    text = text_of(BODIES[name], kind, more=more)
    model = raised(text)
    for length in (*LENGTHS, 400):
        assert_same(text, model, numbers(length, dtype=dtype))


@table("a gain", "one less a gain", "a saturated growth")
def test_any_initial_value(name):
    """An infinite or NaN one goes through the first iteration as it is."""
    text = text_of(BODIES[name], start="")
    model = raised(text)
    for start in (0, -1, -3, -0.5, -0.7, np.inf, np.nan, 1e30):
        for length in LENGTHS:
            fed = np.array([start, 1, 2], np.float32)
            assert_same(text, model, numbers(length), s0=fed)


@table(
    "a = Add (s, q) s2 = Div (s, a) r0 = Add (e, q)",
    "a = Add (s, e) s2 = Div (half, a)",
    "a = Mul (s, s) b = Add (a, q) s2 = Div (s, b)",
    "a = Sub (s, q) b = Div (half, a) s2 = Add (b, unit)",
    "a = Div (s, s) b = Add (s, q) d = Div (s, b) s2 = Mul (a, d)",
)
def test_near_misses(body):
    """A slow one, a coefficient of the iteration, a square, two poles."""
    slow = body.replace("Add (s, q)", "Add (s, unit)") if "r0" in body else body
    assert "carries 's'" in reason(text_of(slow))


@table(
    ("a sum of inverses", ""),
    ("a sum of inverses", "s0 = {1, 0, 2}"),
    ("a continued fraction", ""),
    ("a continued fraction", "s0 = {1, -0.125, 2}"),
)
def test_a_division_by_an_initial_value_that_may_be_0(name, start):
    """Of -0.125 a continued fraction makes an infinity, and then a number."""
    assert "for its initial value" in reason(text_of(BODIES[name], start=start))
