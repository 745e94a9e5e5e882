import numpy as np
import pytest
from kernels import assert_kernel, normal

DRAW = np.random.default_rng(0)
ROTARY, MULTI = "com.microsoft.RotaryEmbedding", "com.microsoft.MRotaryEmbedding"
PLACES = np.array([[0, 1, 2], [3, 1, 2]])
floats = normal(DRAW)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize(("opset", "dtype"), [(11, np.float32), (23, np.float16)])
def test_rotations(interleaved, opset, dtype):
    settings = {"interleaved": interleaved, "opset": opset}
    for width, more in ((4, {}), (2, {"num_heads": 2, "rotary_embedding_dim": 4})):
        caches = floats(10, width, dtype=dtype), floats(10, width, dtype=dtype)
        x = floats(2, 3, 16, dtype=dtype)
        assert_kernel(ROTARY, [x, np.array([4]), *caches], **settings, **more)
        x = floats(2, 2, 3, 8, dtype=dtype)
        assert_kernel(ROTARY, [x, PLACES, *caches], is_packed_batching=1, **settings, **more)


@pytest.mark.parametrize(("layout", "section"), [(0, [2, 1, 1]), (0, [1, 1, 2]), (1, [2, 1, 1])])
def test_three_streams_of_positions(layout, section):
    caches, places = (floats(10, 4), floats(10, 4)), DRAW.integers(0, 10, (3, 2, 3))
    settings = {"mrope_section": section, "mrope_layout": layout}
    assert_kernel(MULTI, [floats(2, 2, 3, 8), places, *caches], **settings)
    assert_kernel(MULTI, [floats(2, 3, 16), places, *caches], num_heads=2, **settings)
