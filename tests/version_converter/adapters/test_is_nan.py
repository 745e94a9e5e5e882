import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_writes


def test_comparisons_that_find_nan():
    assert_becomes("""9 to 8: y = IsNaN (x) =>
        below = Less (x, 1.0)
        above = Greater (x, 0.0)
        number = Or (below, above)
        y = Not (number)""")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_nans(dtype):
    x = np.array([np.nan, 0.0, -0.0, 0.5, 1.0, -3, np.inf, -np.inf], dtype)
    type_ = {2: "float16", 4: "float", 8: "double"}[x.itemsize]
    assert_carried("y = IsNaN (x)", 9, (8,), {"x": x}, f"{type_}[8] x")


def test_floats_of_8_bits_are_tested_as_floats():
    nodes = ["Cast <to = 1> (x)", "IsNaN (y_cast)"]
    assert_writes("y = IsNaN (x)", 20, 19, nodes, "float8e4m3fn[N] x")
