import numpy as np
import pytest
from conversions import assert_becomes, assert_carried_everywhere


def test_it_goes_up_from_more_than_a_half_or_from_an_odd_one():
    assert_becomes("""11 to 10: y = Round (x) =>
        below = Floor (x)
        above = Ceil (x)
        distance = Sub (x, below)
        part = Mul (below, 0.5)
        halved = Floor (part)
        even = Add (halved, halved)
        rest = Sub (below, even)
        odd = Greater (rest, 0.5)
        more = Greater (distance, 0.5)
        less = Less (distance, 0.5)
        not_less = Not (less)
        tie = And (not_less, odd)
        up = Or (more, tie)
        y = Where (up, above, below)""")


@pytest.mark.parametrize("type_", ["float", "double", "float16"])
def test_numbers(type_):
    dtype = {"float": np.float32, "double": np.float64, "float16": np.float16}[type_]
    near = [k + 0.5 for k in range(-5, 6)] + [float(k) for k in range(-3, 4)]
    x = np.array([*near, -0.0, 1e4, -1e4, np.nan, np.inf, -np.inf, 2047, 6e-8, -6e-8], dtype)
    above, below = (np.nextafter(x, dtype(end)) for end in (np.inf, -np.inf))
    large = np.array([2**23 + 1, -(2**24) - 2, 2**23 - 0.5, 2**52 + 1], np.float64).astype(dtype)
    feeds = {"x": np.concatenate([x, above, below, large])}
    body, signature = "y = Round (x)", f"{type_}[N] x"
    assert_carried_everywhere(body, 11, (10, 9, 8, 7), feeds, signature)
