"""Normalizations beside onnxruntime's kernels."""

import numpy as np
import pytest
from kernels import assert_kernel

DRAW = np.random.default_rng(0)
SKIP = "com.microsoft.SkipLayerNormalization"
SIMPLE = "com.microsoft.SkipSimplifiedLayerNormalization"


def floats(*shape, dtype=np.float32):
    return DRAW.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(("opset", "dtype"), [(11, np.float32), (17, np.float16)])
@pytest.mark.parametrize("shape", [(2, 3, 8), (5, 8)])
def test_skip_normalizations(opset, dtype, shape):
    x, skip = floats(*shape, dtype=dtype), floats(*shape, dtype=dtype)
    gamma, beta, bias = (floats(8, dtype=dtype) for _ in range(3))
    assert_kernel(SKIP, [x, skip, gamma, beta, bias], "1001", opset=opset)
    assert_kernel(SKIP, [x, skip, gamma, None, bias], opset=opset, epsilon=1e-3)
    assert_kernel(SIMPLE, [x, skip, gamma, bias], "1011", opset=opset)
    assert_kernel(SIMPLE, [x, skip, gamma], opset=opset, dynamic=True)


def test_all_outputs_and_a_skip_that_broadcasts():
    x, gamma = floats(2, 3, 8), floats(8)
    assert_kernel(SKIP, [x, floats(3, 8), gamma], 4)
    assert_kernel(SKIP, [x, floats(1, 3, 8), gamma], 1, opset=23)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_normalizations_in_the_domain_of_onnx(dtype):
    x, gamma, beta = floats(2, 3, 8, dtype=dtype), floats(8, dtype=dtype), floats(8, dtype=dtype)
    for opset in (11, 16):
        outputs = 1 if dtype == np.float16 else 3
        assert_kernel("LayerNormalization", [x, gamma, beta], outputs, opset=opset, axis=-1)
        assert_kernel("LayerNormalization", [x, gamma], opset=opset, axis=-1, epsilon=1e-2)
    for opset in (11, 23):
        assert_kernel("SimplifiedLayerNormalization", [x, gamma], 2, opset=opset, axis=-1)
    assert_kernel("SimplifiedLayerNormalization", [x, gamma], opset=23, axis=-1)


def test_other_axes():
    x, gamma = floats(2, 3, 4), floats(3, 4)
    assert_kernel("LayerNormalization", [x, gamma, gamma], 3, opset=13, axis=1)
    assert_kernel("SimplifiedLayerNormalization", [x, gamma], 2, opset=13, axis=1)
