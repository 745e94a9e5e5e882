import numpy as np
import pytest
from conversions import assert_carried, assert_refuses, converted


def test_below_opset_9_it_is_a_constant():
    assert converted("y = EyeLike (x) z = Add (y, x)", 9, 8, "float[2, 2] x") == [
        "Add ([[1.0, 0.0], [0.0, 1.0]], x)"
    ]


def test_a_large_one_is_computed():
    ops = {line.split()[0] for line in converted("y = EyeLike (x)", 9, 8, "float[300, 300] x")}
    assert {"Equal", "Cast"} <= ops


@pytest.mark.parametrize("shape", ["2, 3", "N, M"])
@pytest.mark.parametrize("how", ["", "<k = 1>", "<k = -1, dtype = 7>"])
def test_numbers(shape, how):
    x = np.zeros((2, 3), np.float32)
    assert_carried(f"y = EyeLike {how} (x)", 13, (8, 7), {"x": x}, f"float[{shape}] x")


def test_shapes_that_are_no_matrix():
    reason = "it supports only matrices"
    for shape in ("3", "2, 3, 4"):
        assert_refuses("y = EyeLike (x)", 9, 8, reason, f"float[{shape}] x")
