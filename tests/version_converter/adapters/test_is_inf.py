import itertools

import numpy as np
import pytest
from conversions import assert_becomes, assert_carried


def test_values_beyond_the_largest_number_are_infinite():
    assert_becomes("""10 to 9: y = IsInf (x) =>
        above = Greater (x, 3.4028234663852886e+38)
        below = Less (x, -3.4028234663852886e+38)
        y = Or (above, below)""")
    assert_becomes("""10 to 9: y = IsInf <detect_negative = 0> (x) =>
        y = Greater (x, 3.4028234663852886e+38)""")
    assert_becomes("""10 to 9: y = IsInf <detect_positive = 0> (x) =>
        y = Less (x, -3.4028234663852886e+38)""")
    assert_becomes("""10 to 9: y = IsInf <detect_negative = 0, detect_positive = 0> (x) =>
        y = Less (x, x)""")


@pytest.mark.parametrize("signs", list(itertools.product([0, 1], repeat=2)))
@pytest.mark.parametrize("type_", ["float", "double"])
def test_infinities(signs, type_):
    dtype = np.float32 if type_ == "float" else np.float64
    largest = np.finfo(dtype).max
    x = np.array([np.nan, 0, 1e30, largest, -largest, np.inf, -np.inf], dtype)
    how = f"<detect_positive = {signs[0]}, detect_negative = {signs[1]}>"
    assert_carried(f"y = IsInf {how} (x)", 10, (9,), {"x": x}, f"{type_}[7] x")
