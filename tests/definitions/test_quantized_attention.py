import numpy as np
import pytest
from kernels import assert_kernel, normal

DRAW = np.random.default_rng(0)
SIZE, HEADS, BATCH, STEPS = 16, 2, 2, 4


def codes(*shape, dtype=np.uint8):
    return DRAW.integers(0, 100, shape).astype(dtype)


floats = normal(DRAW)


def one(number, dtype=np.float32):
    return np.array(number, dtype)


MASKS = {
    "none": None,
    "lengths": np.array([3, 4], np.int32),
    "flags": np.array([[1, 1, 1, 0], [1, 0, 1, 1]], np.int32),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("columns", [False, True])
def test_attention_of_numbers(columns, mask):
    weight = codes(SIZE, 3 * SIZE, dtype=np.int8)
    scale = DRAW.random(3 * SIZE).astype(np.float32) / 50 if columns else one(0.01)
    zero = np.full(3 * SIZE, 30, np.int8) if columns else one(30, np.int8)
    inputs = [codes(BATCH, STEPS, SIZE), weight, floats(3 * SIZE), one(0.02), scale]
    inputs += [MASKS[mask], one(50, np.uint8), zero]
    settings = {"num_heads": HEADS, "opset": 11 if columns else 17}
    assert_kernel("com.microsoft.QAttention", inputs, unidirectional=int(columns), **settings)


def test_attention_with_a_past():
    weight, past = codes(SIZE, 3 * SIZE), floats(2, BATCH, HEADS, 3, SIZE // HEADS)
    inputs = [codes(BATCH, STEPS, SIZE), weight, floats(3 * SIZE), one(0.02), one(0.01), None]
    inputs += [one(50, np.uint8), one(30, np.uint8), past]
    assert_kernel("com.microsoft.QAttention", inputs, 2, num_heads=HEADS, unidirectional=1)


@pytest.mark.parametrize("segments", [False, True])
def test_embeddings_from_quantized_tables(segments):
    ids = DRAW.integers(0, 9, (BATCH, STEPS)).astype(np.int32)
    tables = [codes(9, SIZE), codes(6, SIZE), codes(2, SIZE), codes(SIZE), codes(SIZE)]
    scales, zeros = [one(0.01 * (i + 1)) for i in range(5)], [one(40, np.uint8)] * 5
    kinds = ids % 2
    if not segments:
        kinds = tables[2] = scales[2] = zeros[2] = None
    inputs = [ids, kinds, *tables, MASKS["flags"], *scales, *zeros]
    assert_kernel("com.microsoft.QEmbedLayerNormalization", inputs, 2)
