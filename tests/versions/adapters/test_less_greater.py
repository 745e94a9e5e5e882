"""Less and Greater: integers by way of doubles."""

import pytest
from conversions import assert_becomes, assert_refuses, assert_there_and_back, converted


def test_integers_are_compared_as_doubles():
    assert_becomes(
        "y = Less (x, z)",
        9,
        8,
        """
        double_x = Cast <to = 11> (x)
        double_z = Cast <to = 11> (z)
        y = Less (double_x, double_z)
        """,
        "int8[2] x, int8[2] z",
    )
    assert_becomes(
        "y = Greater (x, z)",
        9,
        8,
        """
        y = Greater (x, z)
        """,
        "float[2] x, float[2] z",
    )


def test_long_integers_are_not_exact_as_doubles():
    for type_ in ("int64", "uint64"):
        reason = f"is a tensor.{type_}., which Less does not take in opset 8"
        assert_refuses("y = Less (x, x)", 9, 8, reason, f"{type_}[2] x")


@pytest.mark.parametrize("op_type", ["Less", "Greater"])
@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_comparisons_of_integers_by_way_of_doubles(op_type, type_):
    found = converted(f"y = {op_type} (x, x)", 9, 8, f"{type_}[2] x")
    assert found == ["Cast <to = 11> (x)"] * 2 + [f"{op_type} (y_cast, y_cast_1)"]


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("a = Cast <to = 6> (x) b = Cast <to = 6> (n) y = Less (a, b)", "bool[2, 3]", 13, (7, 8)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
