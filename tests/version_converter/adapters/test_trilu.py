import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_carried_everywhere, assert_writes


def test_numbers_of_rows_and_columns_are_compared():
    assert_becomes("""14 to 13, float[M, N] x: y = Trilu (x) =>
        shape = Shape (x)
        height = Gather <axis = 0> (shape, -2)
        numbers = Range (0, height, 1)
        rows = Unsqueeze (numbers, [1])
        width = Gather <axis = 0> (shape, -1)
        columns = Range (0, width, 1)
        mask = GreaterOrEqual (columns, rows)
        y = Where (mask, x, 0.0)""")
    assert_becomes("""14 to 13, float[2, 3] x, int64 k: y = Trilu <upper = 0> (x, k) =>
        shape = Shape (x)
        height = Gather <axis = 0> (shape, -2)
        numbers = Range (0, height, 1)
        rows = Unsqueeze (numbers, [1])
        width = Gather <axis = 0> (shape, -1)
        columns = Range (0, width, 1)
        distance = Sub (columns, rows)
        shift = Reshape (k, [])
        mask = LessOrEqual (distance, shift)
        y = Where (mask, x, 0.0)""")


def test_a_mask_of_known_sizes_is_constant():
    rows = "[[True, True, True], [False, True, True]]"
    assert_writes("y = Trilu (x)", 14, 13, [f"Where ({rows}, x, 0.0)"])
    body = "k = Constant <value_int = -1> () y = Trilu <upper = 0> (x, k)"
    rows = "[[False, False, False], [True, False, False]]"
    assert_writes(body, 14, 13, [f"Where ({rows}, x, 0)"], "int32[N, 2, 3] x")


@pytest.mark.sample(2)
@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("shift", [-(2**62), -4, -1, 0, 2, 2**62])
@pytest.mark.parametrize("sizes", ["3, 4", "M, N"])
def test_special_numbers_and_far_diagonals(upper, shift, sizes):
    targets = (13, 11, 9, 8, 7)
    body, signature = f"y = Trilu <upper = {upper}> (x, k)", f"float[{sizes}] x, int64 k"
    x = np.array([[np.nan, np.inf, 1, -np.inf], [-0.0, np.nan, 2, 3], [np.inf, -1, -0.0, 4]], "f4")
    feeds = {"x": x, "k": np.array(shift)}
    assert_carried_everywhere(body, 14, targets, feeds, signature, ("graph", "function"))
    body = f"k = Constant <value_int = {shift}> () y = Trilu <upper = {upper}> (x, k)"
    signature = f"float[{sizes}] x"
    assert_carried_everywhere(body, 14, targets, {"x": x}, signature, ("branch", "body"))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 2, 2), (2, 0, 0)])
def test_empty_ones(shape):
    sizes = ", ".join("MNK"[: len(shape)])
    feeds = {"x": np.zeros(shape, np.int64)}
    assert_carried_everywhere(
        "y = Trilu (x)", 14, (13, 9), feeds, f"int64[{sizes}] x", ("graph", "body")
    )


@pytest.mark.sample(18)
@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("shift", [None, -3, -1, 0, 1, 3])
@pytest.mark.parametrize("shape", ["2, 4", "3, 3", "2, 3, 2"])
def test_triangles(upper, shift, shape):
    before = "" if shift is None else f"k = Constant <value_int = {shift}> () "
    body = f"{before}y = Trilu <upper = {upper}> (x{', k' if before else ''})"
    x = np.arange(1, 1 + np.prod([int(d) for d in shape.split(",")]), dtype=np.int32)
    x = x.reshape([int(d) for d in shape.split(",")])
    assert_carried(body, 14, (13, 12), {"x": x}, f"int32[{shape}] x")
