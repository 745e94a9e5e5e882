"""Trilu: below opset 14 rows and columns are compared."""

import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_there_and_back


def test_numbers_of_rows_and_columns_are_compared():
    assert_becomes(
        "y = Trilu (x)",
        14,
        13,
        """
        shape = Shape (x)
        height = Gather <axis = 0> (shape, -2)
        numbers = Range (0, height, 1)
        rows = Unsqueeze (numbers, [1])
        width = Gather <axis = 0> (shape, -1)
        columns = Range (0, width, 1)
        mask = GreaterOrEqual (columns, rows)
        y = Where (mask, x, 0.0)
        """,
    )


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("shift", [None, -3, -1, 0, 1, 3])
@pytest.mark.parametrize("shape", ["2, 4", "3, 3", "2, 3, 2"])
def test_triangles(upper, shift, shape):
    before = "" if shift is None else f"k = Constant <value_int = {shift}> () "
    body = f"{before}y = Trilu <upper = {upper}> (x{', k' if before else ''})"
    x = np.arange(1, 1 + np.prod([int(d) for d in shape.split(",")]), dtype=np.int32)
    x = x.reshape([int(d) for d in shape.split(",")])
    assert_carried(body, 14, (13, 12), {"x": x}, f"int32[{shape}] x")


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = Trilu (x)", "float[2, 3]", 14, (9, 13)),
        (
            "k = Constant <value_int = -1> () y = Trilu <upper = 0> (x, k)",
            "float[2, 3]",
            14,
            (9, 13),
        ),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
