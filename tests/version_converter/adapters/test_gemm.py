"""Gemm: the matrix that is added."""

import pytest
from conversions import assert_there_and_back, assert_writes


def test_a_product_without_a_sum_gets_one_of_zeros():
    signature = "float16[2, 2] x"
    assert_writes("y = Gemm (x, x)", 11, 10, ["Gemm (x, x, [-0.0])"], signature)
    assert_writes("y = Gemm (x, x, x)", 11, 10, ["Gemm (x, x, x)"], signature)


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = Gemm (x, v)", "float[2, 2]", 13, (7, 10, 11)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
