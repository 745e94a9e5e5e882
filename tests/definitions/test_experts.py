import numpy as np
import pytest
from kernels import assert_kernel, normal, pack
from tables import table

DRAW = np.random.default_rng(0)
EXPERTS, WIDTH, INNER = 4, 32, 16
floats = normal(DRAW)


@table(
    ("relu", {}),
    ("gelu", {"k": 2}),
    ("silu", {"k": 2, "normalize_routing_weights": 1}),
    ("identity", {"opset": 11}),
    ("swiglu", {"swiglu_fusion": 1, "swiglu_limit": 1.5, "activation_alpha": 1.702, "k": 2}),
)
def test_a_router_chooses_experts(activation, settings):
    gates = 2 if activation == "swiglu" else 1
    x, router = floats(2, 3, WIDTH), floats(6, EXPERTS)
    first, second = (EXPERTS, gates * INNER, WIDTH), (EXPERTS, WIDTH, INNER)
    settings = {**settings, "activation_type": activation, "scale": 10}
    layers = [floats(*first), floats(*first[:2]), floats(*second), floats(*second[:2])]
    assert_kernel("com.microsoft.MoE", [x, router, *layers], **settings)
    packed = [pack(DRAW.integers(0, 16, shape), 4) for shape in (first, second)]
    scales = [np.abs(floats(*shape[:2])) for shape in (first, second)]
    inputs = [x, router, packed[0], scales[0], layers[1], packed[1], scales[1]]
    assert_kernel("com.microsoft.QMoE", inputs, **settings)


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_in_blocks_with_zero_points(bits):
    shapes, top = ((EXPERTS, INNER, WIDTH), (EXPERTS, WIDTH, INNER)), 1 << bits
    weights = [pack(DRAW.integers(0, top, shape), bits) for shape in shapes]
    scales = [np.abs(floats(*shape[:2], shape[2] // 16)) for shape in shapes]
    zeros = [pack(DRAW.integers(0, top, s.shape), bits) for s in scales]
    x = [floats(5, WIDTH), floats(5, EXPERTS)]
    inputs = [*x, weights[0], scales[0], None, weights[1], scales[1], *[None] * 4, *zeros]
    settings = {"expert_weight_bits": bits, "block_size": 16, "scale": 10}
    assert_kernel("com.microsoft.QMoE", inputs, **settings)
