"""Quantized recurrent operators beside onnxruntime's kernels."""

import numpy as np
from kernels import assert_kernel
from tables import table

DRAW = np.random.default_rng(0)
NAME = "com.microsoft.DynamicQuantizeLSTM"


def floats(*shape):
    return DRAW.standard_normal(shape).astype(np.float32)


@table(("forward", 1, 11), ("reverse", 1, 17), ("bidirectional", 2, 21))
def test_an_lstm_of_integers(direction, count, opset):
    size, hidden = 3, 4
    w, r = (
        DRAW.integers(0, 256, (count, rows, 4 * hidden)).astype(np.uint8) for rows in (size, hidden)
    )
    scales, zeros = np.full(count, 0.01, np.float32), np.full(count, 128, np.uint8)
    weights = [scales, zeros, scales, zeros]
    settings = {"direction": direction, "hidden_size": hidden, "opset": opset, "constants": (1, 2)}
    # With more rows each thread of the kernel quantizes its own.
    states = [floats(count, 1, hidden), floats(count, 1, hidden), floats(count, 3 * hidden)]
    inputs = [floats(4, 1, size), w, r, floats(count, 8 * hidden), None, *states, *weights]
    assert_kernel(NAME, inputs, 3, **settings)
    few = [floats(4, 1, size), w, r, *[None] * 5, *weights]
    assert_kernel(NAME, few, "011", **settings)
