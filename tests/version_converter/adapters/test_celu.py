import numpy as np
from conversions import assert_carried, assert_refuses


def test_its_function_bends_only_below_zero():
    feeds = {"x": np.array([-2, -0.5, -0.0, 0.5, 3], np.float32)}
    assert_carried("y = Celu <alpha = 2.0> (x)", 12, (11, 8), feeds, "float[N] x")
    assert_refuses("y = Celu <alpha = -2.0> (x)", 12, 11, "Celu does not exist in opset 11", "x")
