"""Operators that are replaced by the function that defines them."""

import pytest
from conversions import assert_there_and_back


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = HardSwish (x)", "float[2, 3]", 14, (7, 11, 13, 22)),
        ("y = Gelu (x)", "float[2, 3]", 20, (9, 13, 19)),
        ("y = Mish (x)", "float[2, 3]", 18, (9, 13, 17)),
        ("y = LayerNormalization (x, w)", "float[2, 3]", 17, (9, 13, 16)),
        ("a = Cast <to = 7> (x) y = Range (zero, seven, two)", "int64[4]", 13, (9, 10)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
