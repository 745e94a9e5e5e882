import numpy as np
import pytest
from harness import as_model, run_in_onnxruntime
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from straightline import reference
from tables import table


@pytest.mark.sample(6)
@table(
    "g = Greater (e, nil) t = Add (s, e) s2 = Where (g, t, s)",
    "g = Greater (e, nil) t = Sub (s, e) s2 = Where (g, s, t)",
    "g = Greater (e, nil) h = Less (e, nil) t = Add (s, e) u = Where (g, t, s)"
    " v = Sub (u, half) s2 = Where (h, v, u)",
    "t = ReduceSum <keepdims = 0> (e) g = Greater (t, nil) a = Add (s, e) s2 = Where (g, a, s)",
    "t = Sum (e, s, half) u = Sub (e, t) s2 = Neg (u)",
    "d = Div (e, half) t = Add (s, d) s2 = Cast <to = 1> (t)",
)
@pytest.mark.parametrize("is_all", [True, False])
def test_sums(body, is_all):
    outputs = "float[3] r" if is_all else ""
    text = loop(body + (" r = Identity (s2)" if is_all else ""), "float[3] s s0", outputs)
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])
    assert_same(text, model, numbers(40, [np.inf, np.nan]), s0=numbers(1)[0])


def test_a_count():
    body = (
        "t = ReduceSum <keepdims = 0> (e) g = Less (t, nil) a = Add (s, one) s2 = Where (g, a, s)"
    )
    text = loop(body, "int64 s s0")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length, [np.nan]), exact=True, s0=np.array(3))


def test_products():
    body = "g = Greater (e, nil) t = Mul (s, half) u = Div (s, half) s2 = Where (g, t, u)"
    text = loop(body, "float[3] s s0")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])


@pytest.mark.parametrize("bounds", ["Max (u, e)", "Min (u, e)", "Clip (u, half, half)"])
def test_a_reset_state_between_bounds(bounds):
    """The fresh value is between them, too."""
    body = "t = ReduceSum <keepdims = 0> (e) g = Greater (t, nil) a = Add (s, e) b = Neg (e)"
    text = loop(
        f"{body} u = Where (g, b, a) s2 = {bounds} r = Identity (s2)", "float[3] s s0", "float[3] r"
    )
    model = raised(text, kept=())
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])


@table(
    "a = Add (s, e) s2 = Clip (a, nil)",
    "a = Sub (s, e) s2 = Clip (a, , half)",
    "a = Max (s, e) s2 = Clip (a, nil)",
    "a = Min (s, e) b = Clip (a) s2 = Min (b, half)",
)
def test_an_absent_bound_is_the_largest_finite_number(body):
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = numbers(length)
        x[length // 2 :: 7] = np.inf
        assert_same(text, model, x, s0=numbers(1)[0])


def test_a_factor_of_bfloat16_beyond_1():
    """numpy has no products of bfloat16: `a @ b` is of float."""
    body = "a = Mul (s, k) s2 = Add (a, e)"
    text = loop(body, "bfloat16[3] s s0", inputs="bfloat16[N,3] x, int64 n")
    assert "do not compose" in reason(text.replace("<bool yes", "<bfloat16 k = {16448}, bool yes"))


@table(
    "a = Add (s, e) s2 = Clip (a, nil, half)",
    "a = Mul (s, half) b = Sub (a, e) d = Min (b, half) s2 = Max (d, nil)",
)
def test_infinities_between_constant_bounds(body):
    """The sum of both infinities would be NaN, where the loop has either bound."""
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = numbers(length, [np.inf, -np.inf, 3e38, np.inf, -3e38, -np.inf])
        assert_same(text, model, x, s0=numbers(1)[0])
        # An initial value beyond the bounds is added as it is, also to an infinity.
        for first in ([-1e30, -np.inf, np.inf], [-np.inf, np.inf, -3e38]):
            x[:1] = first
            assert_same(text, model, x, s0=np.float32([1e30, np.inf, np.inf]))


@table(
    "a = Add (s, e) s2 = Relu (a)",
    "a = Sub (s, e) s2 = Max (a, nil)",
    "a = Add (e, s) s2 = Min (half, a)",
    "a = Mul (s, half) b = Add (a, e) s2 = Relu (b)",
    "a = Mul (s, half) s2 = Max (a, half)",
)
def test_numbers_at_one_bound_stay(body):
    """Of -inf and inf the loop has a bound and then inf, where sums of both would be NaN."""
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model, rng = raised(text, kept=["Scan"]), np.random.default_rng(3)
    for length in (1, 2, 3, 9) * 6:
        x, start = numbers(length), numbers(1)[0]
        x[rng.random(x.shape) < 0.3] = np.inf
        x *= rng.choice([-1, 1], x.shape)
        start[:2] = rng.choice([-np.inf, np.inf, 0.5], 2)
        feeds = {"x": x, "n": np.array(length), "s0": start}
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(as_model(text), feeds), run(model, feeds), strict=True):
                number = ~np.isnan(one)
                np.testing.assert_allclose(other[number], one[number], rtol=1e-4, atol=1e-4)


def from_zero(body):
    """Loop whose state begins with zeros, which are a constant."""
    text = loop(body, "float[3] s z").replace(", float[3] z) =>", ") =>")
    return text.replace("<bool yes", "<float[3] z = {0, 0, 0}, float low = {-2}, bool yes")


@table(
    "q = Less (a, nil) g = Or (m, q) s2 = Where (g, a, nil)",
    "q = Less (a, nil) b = Where (q, a, nil) s2 = Where (m, b, e)",
    "q = Less (a, nil) b = Where (q, a, nil) s2 = Mul (b, e)",
    "q = Less (a, nil) b = Where (q, a, nil) s2 = Add (b, e)",
)
def test_a_nan_after_a_bound_that_replaces_it(body):
    """The bound would replace it in the next iteration only."""
    text = from_zero(f"m = Less (e, half) a = Add (s, e) {body}")
    assert "a NaN may follow the bound" in reason(text)


@table(
    "s2 = Mul (b, half)",
    "r = Greater (b, low) s2 = Where (r, b, low)",
    "m = Less (e, half) s2 = Where (m, b, s)",
)
def test_numbers_after_a_bound_that_replaces_a_nan(body):
    text = from_zero(f"a = Add (s, e) q = Less (a, nil) b = Where (q, a, nil) {body}")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length, [np.nan] * 3))


def test_a_choice_of_one_factor():
    """The factor has no axes, unlike the condition."""
    body = "m = Less (e, half) a = Mul (s, half) b = Where (m, a, a) s2 = Where (m, b, a)"
    text = loop(body, "float[3] s s0")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])
