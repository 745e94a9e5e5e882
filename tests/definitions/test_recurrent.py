import numpy as np
from kernels import assert_kernel, normal
from tables import table

DRAW = np.random.default_rng(0)
NAME = "com.microsoft.DynamicQuantizeLSTM"
floats = normal(DRAW)


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
    few = [floats(4, 1, size), w, r, None, np.array([2], np.int32), *[None] * 3, *weights]
    for outputs, more in ((3, {}), ("011", {"clip": 0.3, "input_forget": 1})):
        assert_kernel(NAME, few, outputs, **settings, **more)


@table(("forward", 1, False), ("bidirectional", 2, True))
def test_an_lstm_attends_to_a_memory(direction, count, has_layer):
    hidden, width, depth, steps = 4, 3, 5, 7
    attended = 2 if has_layer else depth
    inputs = [
        *(floats(4, 2, width), floats(count, 4 * hidden, width + attended)),
        *(floats(count, 4 * hidden, hidden), floats(count, 8 * hidden)),
        *(np.array([2, 4], np.int32), None, None, floats(count, 3 * hidden)),
        *(floats(count, hidden, 6), floats(count, depth, 6), floats(count, 6)),
        *(floats(2, steps, depth), np.array([3, 7], np.int32)),
        floats(count, depth + hidden, attended) if has_layer else None,
    ]
    settings = {"direction": direction, "hidden_size": hidden}
    assert_kernel("com.microsoft.AttnLSTM", inputs, 3, **settings)
