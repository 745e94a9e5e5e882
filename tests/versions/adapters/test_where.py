"""Where: below opset 9 elements are gathered."""

import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_refuses, assert_there_and_back


def test_both_tensors_are_laid_end_to_end():
    assert_becomes(
        "y = Where (c, x, z)",
        9,
        8,
        """
        full_c = Expand (c, [2])
        full_x = Expand (x, [2])
        full_z = Expand (z, [2])
        flat_c = Reshape (full_c, [2])
        flat_x = Reshape (full_x, [2])
        flat_z = Reshape (full_z, [2])
        both = Concat <axis = 0> (flat_x, flat_z)
        second = Not (flat_c)
        number = Cast <to = 7> (second)
        offset = Mul (number, [2])
        places = Add (offset, [0, 1])
        chosen = Gather <axis = 0> (both, places)
        y = Reshape (chosen, [2])
        """,
        "bool[2] c, float[2] x, float[2] z",
    )


def test_choices_are_gathered_in_opset_8():
    c = np.array([[True], [False]])
    for type_, dtype in (("float", np.float32), ("int32", np.int32), ("bool", np.bool_)):
        x, z = np.arange(3).astype(dtype), np.arange(6, 12).reshape(2, 3).astype(dtype)
        signature = f"bool[2, 1] c, {type_}[3] x, {type_}[2, 3] z"
        assert_carried("y = Where (c, x, z)", 9, (8,), {"c": c, "x": x, "z": z}, signature)
    for shape in ("N", ""):
        signature = f"bool[{shape or 2}] c, float{'[N]' if shape else ''} x"
        if shape:
            assert_refuses("y = Where (c, x, x)", 9, 8, "needs the shape of its output", signature)


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("c = Greater (x, n) y = Where (c, x, n)", "float[2, 3]", 13, (8, 9)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
