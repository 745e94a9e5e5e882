import numpy as np
import pytest
from conversions import assert_becomes, assert_carried_everywhere, converted, model
from sessions import open_session
from straightline import convert_version, reference

ODD = [0.0, -0.0, 1, -1, 1e-3, -9.9e-4, 1e-36, 88.8, 89.4, -89.4, 3e38, np.inf, -np.inf, np.nan]
X = np.float32([*np.linspace(-3, 3, 301), *np.linspace(0.999, 1.001, 101), *ODD])


def test_below_opset_9_they_are_said_by_exponentials_and_logarithms():
    assert_becomes("""9 to 8: y = Sinh (x) =>
        tanh = Tanh (x)
        abs = Abs (x)
        half = Mul (abs, 0.5)
        root = Exp (half)
        halved = Mul (root, 0.5)
        more = Mul (halved, root)
        inverse = Div (0.5, root)
        less = Div (inverse, root)
        cosh = Add (more, less)
        y = Mul (tanh, cosh)""")
    assert_becomes("""9 to 8: y = Acosh (x) =>
        wide = Cast <to = 11> (x)
        inverse = Div (1.0, wide)
        less = Sub (1.0, inverse)
        more = Add (1.0, inverse)
        square = Mul (less, more)
        root = Sqrt (square)
        log = Log (wide)
        inner = Add (1.0, root)
        other = Log (inner)
        sum = Add (log, other)
        y = Cast <to = 1> (sum)""")
    assert {line.partition(" ")[0] for line in converted("y = Atanh (x)", 9, 8)} >= {
        "Log",
        "Gather",
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("op_type", ["Sinh", "Cosh", "Asinh", "Acosh", "Atanh"])
def test_numbers_in_every_place(op_type):
    with np.errstate(all="ignore"):
        feeds = {"x": X}
        assert_carried_everywhere(f"y = {op_type} (x)", 13, (8, 7), feeds, "float[N] x", rtol=1e-6)


@pytest.mark.parametrize("op_type", ["Cosh", "Asinh"])
def test_half_precision(op_type):
    with np.errstate(all="ignore"):
        feeds = {"x": X.astype(np.float16)}
        assert_carried_everywhere(
            f"y = {op_type} (x)", 9, (8,), feeds, "float16[N] x", ["graph"], rtol=2e-3
        )


def test_doubles():
    with np.errstate(all="ignore"):
        feeds = {"x": np.float64([*X, 709, -710.4, 711, 1e300])}
        for op_type in ("Sinh", "Cosh"):
            body = f"y = {op_type} (x)"
            assert_carried_everywhere(body, 9, (8,), feeds, "double[N] x", ["graph"], rtol=1e-14)


@pytest.mark.parametrize("op_type", ["Asinh", "Acosh", "Atanh"])
def test_inverses_of_doubles(op_type):
    """Within a few units in the last place, also next to zero and one."""
    tiny = 10.0 ** np.random.default_rng(0).uniform(-300, 0, 40)
    x = {
        "Asinh": np.concatenate([tiny, -tiny, 1 / tiny, [0.0, -0.0, np.inf, -np.inf, np.nan, 1]]),
        "Acosh": np.concatenate([1 + tiny, 1 / tiny, [1, 2, np.inf, np.nan, 0.5, -3]]),
        "Atanh": np.concatenate([tiny, -tiny, 1 - tiny, [0.0, -0.0, 1, -1, 2, np.nan]]),
    }[op_type]
    before = model(f"y = {op_type} (x)", 9, "double[N] x")
    after = convert_version(before, 8)
    with np.errstate(all="ignore"):
        (wanted,) = reference.run(before, {"x": x})
        for found in (
            reference.run(after, {"x": x})[0],
            open_session(after).run(None, {"x": x})[0],
        ):
            np.testing.assert_allclose(found, wanted, rtol=2e-15)
            zeros = (x == 0) & (wanted == 0)
            np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))
