"""Pow: the type of the exponent."""

import numpy as np
import pytest
from conversions import (
    X,
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_there_and_back,
    converted,
)


def test_exponents_are_written_in_the_type_of_the_base():
    assert_becomes(
        "e = Constant <value = int32 {3}> () y = Pow (x, e)",
        12,
        11,
        """
        y = Pow (x, 3.0)
        """,
    )
    assert_becomes(
        "y = Pow (x, e)",
        12,
        11,
        """
        y = Pow (x, e)
        """,
        "float[2] x, float[2] e",
    )


def test_exponents_get_the_type_of_the_base():
    for value, exact in (("int32 {3}", True), ("double {0.5}", True), ("double {0.1}", False)):
        body = f"e = Constant <value = {value}> () y = Pow (x, e)"
        if exact:
            assert_carried(body, 13, (11,), {"x": np.abs(X)}, rtol=1e-6)
        else:
            assert_refuses(body, 13, 11, "exponents are not exact", "float[2, 3] x")
    assert converted("y = Pow (x, x)", 12, 11) == ["Pow (x, x)"]
    reason = "the exponent .of another type than the base"
    assert_refuses("y = Pow (x, e)", 12, 11, reason, "float[2] x, int32[2] e")


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("e = Constant <value_ints = [2]> () y = Pow (x, e)", "float[2, 3]", 13, (7, 11)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
