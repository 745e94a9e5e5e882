import numpy as np
import pytest
from kernels import feeds_of, lowered, normal, one_node, run_kernel

DRAW = np.random.default_rng(0)
COUNTS = np.array([1, 2, 4], np.int32)
PLACES = [0, 4, 5, 8, 9, 10, 11]
"""The tokens of three sequences of up to four."""
floats = normal(DRAW)


def run(name, inputs, outputs=1, opset=17, **attributes):
    model = one_node(f"com.microsoft.{name}", inputs, outputs, opset, **attributes)
    return run_kernel(lowered(model), feeds_of(inputs))


def padded(tokens):
    rows = np.zeros((12, tokens.shape[1]), np.float32)
    rows[PLACES] = tokens
    return rows.reshape(3, 4, -1)


def test_padding_is_removed_and_restored():
    x = floats(3, 4, 5)
    tokens, offsets, ends, longest = run("RemovePadding", [x, COUNTS], 4)
    assert offsets.ravel().tolist() == [*PLACES, 1, 2, 3, 6, 7]
    assert (ends.tolist(), longest.tolist()) == ([0, 1, 3, 7], [4])
    assert np.array_equal(tokens, x.reshape(-1, 5)[PLACES])
    (restored,) = run("RestorePadding", [tokens, offsets], opset=11)
    assert np.array_equal(restored, padded(tokens))


@pytest.mark.parametrize("opset", [13, 21])
def test_attention_stays_within_a_sequence(opset):
    _, offsets, ends, _ = run("RemovePadding", [floats(3, 4, 8), COUNTS], 4)
    rest = {"num_heads": 2, "opset": opset}
    x, w, b = floats(7, 5), floats(5, 24), floats(24)
    inputs = [padded(x), w, b, COUNTS]
    lowest = float(np.finfo(np.float32).min)
    kernel = one_node("com.microsoft.Attention", inputs, num_heads=2, mask_filter_value=lowest)
    (expected,) = run_kernel(kernel, feeds_of(inputs))
    (own,) = run("PackedAttention", [x, w, b, offsets, ends], **rest)
    np.testing.assert_allclose(own, expected.reshape(12, -1)[PLACES], atol=1e-5)
    tokens = floats(7, 8), floats(7, 8), floats(7, 6)
    b, bias = floats(22), floats(1, 2, 4, 4)
    inputs = [*map(padded, tokens), b, COUNTS, bias]
    name = "com.microsoft.MultiHeadAttention"
    kernel = one_node(name, inputs, num_heads=2, mask_filter_value=lowest)
    (expected,) = run_kernel(kernel, feeds_of(inputs))
    (own,) = run("PackedMultiHeadAttention", [*tokens, b, offsets, ends, bias], **rest)
    np.testing.assert_allclose(own, expected.reshape(12, -1)[PLACES], atol=1e-5)
