"""Truth values that And, Or, Not and Xor compute of their previous value."""

import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason

FLAG = "g = Greater (e, nil) k = Less (e, half) "
BODIES = [
    "t = Not (g) o = And (t, s) s2 = Or (g, o)",
    "o = And (s, k) s2 = Or (o, g)",
    "s2 = Xor (s, g)",
    "t = Not (s) s2 = Xor (g, t)",
    "s2 = Not (s)",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("is_all", [True, False])
def test_truth_values(body, is_all):
    text = loop(
        FLAG + body + (" r = Identity (s2)" if is_all else ""),
        "bool[3] s s0",
        "bool[3] r" if is_all else "",
    )
    model = raised(text, kept=["Scan"] if is_all else ["Loop", "Scan"])
    for length in LENGTHS:
        for start in ([True, False, True], [False] * 3):
            assert_same(text, model, numbers(length, [np.nan]), exact=True, s0=np.array(start))


def test_a_scalar():
    text = loop(f"{SUM} t = Not (g) o = And (t, s) s2 = Or (g, o)", "bool s s0")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.array(False))


SUM = "u = ReduceSum <keepdims = 0> (e) g = Greater (u, nil)"


@pytest.mark.parametrize("body", ["t = Not (s) s2 = And (t, g)", "t = Xor (s, k) s2 = Or (t, g)"])
def test_values_that_iterations_may_replace_or_negate(body):
    assert "carries 's'" in reason(loop(FLAG + body, "bool[3] s s0"))


@pytest.mark.parametrize(
    "body", ["s2 = Xor (s, s)", "t = Not (s) s2 = Xor (t, s)", "t = Xor (s, g) s2 = Xor (s, t)"]
)
def test_a_next_value_that_cancels_the_state(body):
    text = loop(f"{FLAG}{body} r = Or (s2, g)", "bool[3] s s0", "bool[3] r")
    assert "carries 's'" in reason(text)
