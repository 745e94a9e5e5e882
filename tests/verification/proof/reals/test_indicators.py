import numpy as np
import proofs
import pytest
from proofs import model
from sessions import by_reference
from tables import table

TEXT = """g (float[n,4] x, float[n,4] y, bool[n,1] c, bool[n,4] d) => (float[n,4] z)
    <float none = {{0}}, float one = {{1}}, float ten = {{10}}> {{ {} }}"""


def is_proved(before, after):
    pair = [model(TEXT.format(nodes)) for nodes in (before, after)]
    return proofs.is_proved(*pair, equality="reals")


def runs(*bodies):
    rng = np.random.default_rng(0)
    feeds = {name: rng.integers(-2, 3, size=(5, 4)).astype(np.float32) for name in "xy"}
    feeds |= {"c": rng.normal(size=(5, 1)) > 0, "d": rng.normal(size=(5, 4)) > 0}
    return [by_reference(model(TEXT.format(nodes)), feeds)[0] for nodes in bodies]


MASKED = "f = Cast <to = 1> (c) z = Mul (x, f)"
BLEND = "f = Cast <to = 1> (c) g = Sub (one, f) a = Mul (x, f) b = Mul (g, y) z = Add (a, b)"
BOTH = "a = Cast <to = 1> (c) b = Cast <to = 1> (d) f = Mul (a, b) z = Mul (f, x)"
TWICE = "f = Cast <to = 1> (c) a = Mul (x, f) z = Mul (f, a)"
EITHER = (
    "a = Cast <to = 1> (c) b = Cast <to = 1> (d) s = Add (a, b) p = Mul (a, b) f = Sub (s, p)"
    " z = Mul (x, f)"
)
EQUAL = [
    (MASKED, "z = Where (c, x, none)"),
    (TWICE, "z = Where (c, x, none)"),
    (MASKED, "e = Not (c) z = Where (e, none, x)"),
    (BLEND, "z = Where (c, x, y)"),
    (BLEND, "f = Cast <to = 1> (c) e = Sub (x, y) a = Mul (e, f) z = Add (y, a)"),
    (BOTH, "e = And (d, c) z = Where (e, x, none)"),
    (EITHER, "e = Or (c, d) z = Where (e, x, none)"),
    ("z = Where (c, one, ten) ", "f = Cast <to = 1> (c) g = Mul (f, ten) h = Sub (ten, g) "
     "z = Add (h, f)"),
    ("a = Max (x, none) z = Min (a, ten)", "z = Clip (x, none, ten)"),
    ("a = Add (x, one) z = Max (none, a)", "a = Add (one, x) z = Relu (a)"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [*EQUAL, *[pair[::-1] for pair in EQUAL]])
def test_formulas_of_a_choice_are_proved(before, after):
    one, other = runs(before, after)
    if one.shape == other.shape:
        np.testing.assert_allclose(one, other, rtol=1e-5)
        assert is_proved(before, after)


@table(
    (MASKED, "z = Where (c, none, x)"),
    (MASKED, "z = Where (d, x, none)"),
    (MASKED, "z = Where (c, x, y)"),
    (BLEND, "z = Where (c, y, x)"),
    (BOTH, "e = Or (d, c) z = Where (e, x, none)"),
    (EITHER, "e = Xor (c, d) z = Where (e, x, none)"),
    ("a = Max (x, none) z = Min (a, ten)", "z = Clip (x, one, ten)"),
    ("z = Max (x, one)", "z = Relu (x)"),
    ("z = Max (x, y, none)", "z = Relu (x)"),
)
def test_other_choices_are_open(before, after):
    one, other = runs(before, after)
    assert one.shape != other.shape or not np.allclose(one, other)
    assert not is_proved(before, after) and not is_proved(after, before)


@table(
    ("p = Greater (x, none) l = Log (x) z = Where (p, l, none)",
     "p = Greater (x, none) l = Log (x) f = Cast <to = 1> (p) z = Mul (l, f)"),
    ("p = Greater (x, none) l = Div (y, x) z = Where (p, l, none)",
     "p = Greater (x, none) l = Div (y, x) f = Cast <to = 1> (p) z = Mul (l, f)"),
    ("i = Constant <value_float = -inf> () z = Where (d, x, i)",
     "i = Constant <value_float = -inf> () f = Cast <to = 1> (d) g = Sub (one, f) a = Mul (x, f) "
     "b = Mul (i, g) z = Add (a, b)"),
)  # fmt: skip
def test_a_branch_without_a_value_is_not_multiplied(before, after):
    one, other = runs(before, after)
    assert not np.array_equal(one, other, equal_nan=True)
    assert not is_proved(before, after)


def test_a_state_that_begins_with_an_infinity_is_not_multiplied():
    text = """g (float[n] x, bool[n] m) => (float[n] y)
        <float low = {{-inf}}, float none = {{0}}> {{ last, y = Scan <num_scan_inputs = 2,
            body = b (float s, float e, bool c) => (float t, float o) {{
                t = Max (s, e) {} }}> (low, x, m) }}"""
    bodies = "o = Where (c, s, none)", "f = Cast <to = 1> (c) o = Mul (f, s)"
    pair = [model(text.format(nodes)) for nodes in bodies]
    assert not proofs.is_proved(*pair, equality="reals")
    finite = [model(text.replace("-inf", "-9").format(nodes)) for nodes in bodies]
    assert proofs.is_proved(*finite, equality="reals")
