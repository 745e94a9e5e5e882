import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from tables import table

NUMBERS = "two = Constant <value = float {2}> () root = Constant <value = float {0.5}> () "
BODIES = {
    "a norm": "a = Mul (s, s) f = Mul (e, e) b = Add (a, f) s2 = Sqrt (b)",
    "a norm by powers": "a = Pow (s, two) f = Pow (e, two) b = Sum (f, a) s2 = Pow (b, root)",
    "a mean of squares": "a = Mul (s, s) p = Mul (a, half) f = Mul (e, e) q = Mul (half, f)"
    " b = Add (p, q) s2 = Sqrt (b)",
    "the largest square": "a = Mul (s, s) f = Pow (e, two) b = Max (a, f) s2 = Sqrt (b)",
    "a decayed sum of exponentials": "a = Exp (s) p = Mul (a, half) f = Abs (e) b = Add (p, f)"
    " s2 = Log (b)",
    "the largest magnitude": "a = Abs (s) f = Abs (e) s2 = Max (f, a)",
    "a decayed magnitude": "a = Abs (s) p = Mul (half, a) f = Mul (e, e) s2 = Add (p, f)",
    "a bounded ascent": "a = Relu (s) f = Exp (e) b = Add (a, half) s2 = Min (b, f)",
    "resistors beside each other": "a = Reciprocal (s) b = Add (a, e) s2 = Reciprocal (b)",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("is_all", [True, False])
def test_images(name, kind, is_all):
    body = f"{NUMBERS}{BODIES[name]}" + " r = Neg (s2)" * is_all
    text = loop(body, f"{kind}[3] s s0", f"{kind}[3] r" * is_all)
    if kind == "double":
        text = text.replace("float", "double")
    model = raised(text, kept=["Scan"])
    dtype = np.float64 if kind == "double" else np.float32
    for length in LENGTHS:
        x = numbers(length, dtype=dtype)
        x = np.abs(x) + 1 if "resistors" in name else x
        for start in ([-1.5, 0.5, 2.0], [0.25, np.nan, np.inf]):
            assert_same(text, model, x, s0=np.array(start, dtype))


@table(
    "a = Mul (s, s) b = Add (a, e) s2 = Sqrt (b)",
    "a = Mul (s, s) f = Mul (e, e) b = Sub (a, f) s2 = Sqrt (b)",
    "a = Mul (s, s) f = Mul (e, e) b = Add (a, f) q = Sqrt (b) s2 = Add (q, s)",
    "a = Pow (s, one1) f = Mul (e, e) b = Add (a, f) s2 = Sqrt (b)",
    "a = Abs (s) b = Add (a, e) s2 = Neg (b)",
    "a = Abs (s) f = Neg (a) s2 = Min (f, e)",
    "a = Floor (s) f = Abs (e) s2 = Max (a, f)",
    "a = Log (s) b = Add (a, e) s2 = Exp (b)",
    "a = Exp (s) b = Add (a, e) s2 = Log (b)",
)
def test_near_misses(body):
    """A negative number under a root, a second reader, a function that saturates."""
    ones = "one1 = Constant <value = float {3}> () "
    assert "carries 's'" in reason(loop(NUMBERS + ones + body, "float[3] s s0"))


def test_roots_of_values_that_may_be_negative():
    body = "a = Mul (s, s) b = Add (a, e) s2 = Sqrt (b)"
    assert "may be negative" in reason(loop(body, "float[3] s s0"))
