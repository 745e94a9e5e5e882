import numpy as np
import pytest
from conversions import assert_carried, assert_carried_everywhere, converted


def test_below_opset_9_it_is_a_choice():
    written = converted("y = Shrink <bias = 0.25, lambd = 1.5> (x)", 9, 8)
    for line in ("Greater (x, 1.5)", "Less (x, -1.5)", "Sub (x, 0.25)", "Add (x, 0.25)"):
        assert line in written


@pytest.mark.sample(1)
@pytest.mark.parametrize("elem_type", ["float", "double", "float16"])
def test_numbers_in_every_place(elem_type):
    dtype = {"float": np.float32, "double": np.float64, "float16": np.float16}[elem_type]
    body = "y = Shrink <bias = 0.25, lambd = 1.5> (x)"
    x = [-3, -1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 3, np.inf, -np.inf, np.nan]
    assert_carried_everywhere(body, 9, (8, 7), {"x": np.array(x, dtype)}, f"{elem_type}[N] x")


@pytest.mark.parametrize("attributes", ["lambd = 0.5", "lambd = -1.5, bias = 2.0"])
def test_whole_numbers_beyond_a_bound_between_them(attributes):
    body = f"y = Shrink <{attributes}> (x)"
    assert_carried(body, 9, (8, 7), {"x": np.arange(-4, 5, dtype=np.int32)}, "int32[N] x")
