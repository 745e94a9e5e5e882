import numpy as np
import pytest
from conversions import assert_becomes, assert_carried


def test_below_opset_9_it_is_a_difference_of_comparisons():
    assert_becomes("""9 to 8: y = Sign (x) =>
        greater = Greater (x, 0.0)
        above = Cast <to = 1> (greater)
        less = Less (x, 0.0)
        below = Cast <to = 1> (less)
        sign = Sub (above, below)
        low = Less (x, 1.0)
        high = Greater (x, 0.0)
        any = Or (low, high)
        is_nan = Not (any)
        not_nan = Not (is_nan)
        number = Cast <to = 1> (not_nan)
        y = Div (sign, number)""")


@pytest.mark.parametrize("elem_type", ["float", "double", "int32", "int64", "uint8"])
def test_numbers(elem_type):
    x = np.array([3, 0, -0.0, 1, 100, 7], np.float64)
    if elem_type in ("float", "double"):
        x[1:] = [-0.0, np.nan, -np.inf, np.inf, -1e-40]
    elif elem_type != "uint8":
        x[3:] = [-1, -100, 2**31 - 1]
    x = x.astype({"float": np.float32, "double": np.float64}.get(elem_type, elem_type))
    assert_carried("y = Sign (x)", 13, (8, 7), {"x": x}, f"{elem_type}[6] x")
