"""Linear recurrences, as steps of doubling distance or as weighted sums."""

import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason

STEPS = [
    "t = Mul (s, half) s2 = Add (t, e)",
    "d = Sub (e, s) t = Mul (d, half) s2 = Add (s, t)",
    "t = Sigmoid (e) u = Mul (t, s) v = Tanh (e) s2 = Sub (v, u)",
    "i1 = Add (i, one) f = Cast <to = 1> (i1) d = Sub (e, s) t = Div (d, f) s2 = Add (s, t)",
    "q = ReduceMean <keepdims = 0> (e) t = Sigmoid (q) u = Mul (s, t) s2 = Add (e, u)",
    "m = Neg (s) s2 = Add (m, e)",
    "g = Sigmoid (e) t = Tanh (e) d = Sub (s, t) p = Mul (g, d) s2 = Add (t, p)",
]


@pytest.mark.parametrize("body", STEPS)
@pytest.mark.parametrize("is_all", [True, False])
def test_linear_recurrences(body, is_all):
    outputs = "float[3] r; float[3] q_" if is_all else ""
    more = " r = Identity (s2) q_ = Identity (s)" if is_all else ""
    text = loop(body + more, "float[3] s s0", outputs)
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])


def test_the_last_value_is_a_weighted_sum():
    model = raised(loop(STEPS[0], "float[3] s s0"))
    assert "Pow" in [node.op_type for node in model.graph.node]


def test_a_scalar_state():
    text = loop("t = ReduceSum <keepdims = 0> (e) u = Mul (s, half) s2 = Add (t, u)", "float s s0")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=np.array(2, np.float32))


def test_a_run_time_factor():
    text = loop(
        STEPS[0].replace("half", "k"), "float[3] s s0", inputs="float[N,3] x, int64 n, float k"
    )
    model = raised(text)
    for length in LENGTHS:
        for k in (0.0, -0.5, 1.0):
            assert_same(text, model, numbers(length), s0=numbers(1)[0], k=np.array(k, np.float32))


def test_integers_wrap_as_in_the_loop():
    body = "k = Cast <to = 7> (e) p = Mul (s, three) s2 = Add (p, k) r = Identity (s2)"
    text = loop(body, "int64[3] s s0", "int64[3] r").replace(
        "<bool yes", "<int64 three = {3}, bool yes"
    )
    model = raised(text, kept=["Scan"])
    for length in (*LENGTHS, 100):
        assert_same(text, model, numbers(length), exact=True, s0=np.array([1, -2, 1 << 60]))


def test_an_infinity_stays_where_it_is():
    text = loop(f"{STEPS[0]} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    x = numbers(8)
    x[3, 1] = np.inf
    assert_same(text, model, x, s0=numbers(1)[0])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("two = Constant <value_float = 2.0> () t = Mul (s, two) s2 = Add (t, e)", "overflow"),
        (
            "t = Mul (s, half) u = Add (t, e) g = Less (e, nil) s2 = Where (g, e, u)",
            "may replace it",
        ),
        ("t = Mul (s, s) s2 = Add (t, e)", "by itself"),
        (
            "g = Less (s, nil) t = Mul (s, half) u = Add (t, e) s2 = Where (g, u, s)",
            "makes the next value",
        ),
        ("t = Div (e, s) s2 = Add (t, e)", "divides"),
    ],
)
def test_near_misses(body, why):
    assert why in reason(loop(body, "float[3] s s0"))


def test_large_states_stay():
    text = loop(
        "t = Mul (s, half) s2 = Add (t, e) r = Identity (s2)", "float[300] s s0", "float[300] r"
    )
    assert "too large" in reason(text.replace("[N, 3]", "[N, 300]"))
