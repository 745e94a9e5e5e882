import numpy as np
import pytest
from conversions import assert_becomes, assert_carried


def test_a_comparison_and_a_choice():
    assert_becomes("""10 to 9: y = ThresholdedRelu <alpha = 0.5> (x) =>
        above = Greater (x, 0.5)
        y = Where (above, x, 0.0)""")


@pytest.mark.parametrize("name", ["float", "float16", "double"])
def test_numbers(name):
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[name]
    x = np.array([-np.inf, -1, 0.5, 0.75, np.inf, np.nan], dtype)
    assert_carried("y = ThresholdedRelu <alpha = 0.5> (x)", 10, (9, 8), {"x": x}, f"{name}[6] x")
