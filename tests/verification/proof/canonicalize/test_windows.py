"""Attributes of windows with the values that they have when absent."""

import pytest
from proofs import assert_open, assert_proved

TEXT = "g (float[n, 2, h, w] x, float[3, 2, 3, 3] k) => (float[] y) {{ y = {} }}"


@pytest.mark.parametrize(
    ("node", "plain"),
    [
        ("Conv <pads = [0, 0, 0, 0]> (x, k)", "Conv (x, k)"),
        ("Conv <kernel_shape = [3, 3]> (x, k)", "Conv (x, k)"),
        ("Conv <strides = [1, 1], dilations = [1, 1]> (x, k)", "Conv (x, k)"),
        (
            "MaxPool <kernel_shape = [2, 2], strides = [1, 1], dilations = [1, 1]> (x)",
            "MaxPool <kernel_shape = [2, 2]> (x)",
        ),
        (
            "AveragePool <kernel_shape = [2, 2], pads = [0, 0, 0, 0]> (x)",
            "AveragePool <kernel_shape = [2, 2]> (x)",
        ),
    ],
)  # fmt: skip
def test_defaults_change_nothing(node, plain):
    assert_proved(TEXT.format(node), TEXT.format(plain))
    assert_proved(TEXT.format(plain), TEXT.format(node))


@pytest.mark.parametrize(
    "node",
    [
        "Conv <pads = [0, 0, 1, 1]> (x, k)",
        "Conv <strides = [1, 2]> (x, k)",
        "Conv <dilations = [2, 1]> (x, k)",
        'Conv <auto_pad = "SAME_UPPER"> (x, k)',
    ],
)
def test_other_values_do(node):
    assert_open(TEXT.format(node), TEXT.format("Conv (x, k)"))
