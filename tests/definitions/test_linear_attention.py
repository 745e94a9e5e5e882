import numpy as np
import pytest
from kernels import assert_kernel, normal

DRAW = np.random.default_rng(0)
LINEAR, CONV = "com.microsoft.LinearAttention", "com.microsoft.CausalConvWithState"
B, T, K, V = 2, 5, 4, 3
floats = normal(DRAW)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("heads", "groups"), [(2, 2), (4, 2), (1, 2)])
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_rules(heads, groups, rule):
    key = floats(B, T, groups, K)
    key = (key / np.linalg.norm(key, axis=-1, keepdims=True)).reshape(B, T, -1)
    decay = -abs(floats(B, T, groups * (K if heads == 4 else 1))) if "gated" in rule else None
    beta = DRAW.random((B, T, groups)).astype(np.float32) if "delta" in rule else None
    past = floats(B, groups, K, V) if heads < 4 else None
    inputs = [floats(B, T, heads * K), key, floats(B, T, groups * V), past, decay, beta]
    settings = {"q_num_heads": heads, "kv_num_heads": groups, "update_rule": rule}
    assert_kernel(LINEAR, inputs, 2, **settings)


@pytest.mark.parametrize("activation", ["none", "silu"])
@pytest.mark.parametrize("has_past", [False, True])
def test_causal_convolutions(activation, has_past):
    past = floats(2, 6, 3) if has_past else None
    inputs = [floats(2, 6, 5), floats(6, 1, 4), floats(6), past]
    settings = {"activation": activation, "constants": (1,)}
    assert_kernel(CONV, inputs, 2, dynamic=True, **settings)
    wide = [*inputs[:3], floats(2, 6, 6) if has_past else None]
    assert_kernel(CONV, wide, 2, dilation=2, **settings)
    turned = [floats(2, 5, 6), *inputs[1:3], floats(2, 3, 6) if has_past else None]
    assert_kernel(CONV, turned, 2, channels_last=1, **settings)


@pytest.mark.parametrize("past", [None, floats(B, 2, K, V)])
def test_no_token(past):
    """onnxruntime's Scan and Conv refuse these (1.32)."""
    inputs = [floats(B, 0, 2 * K), floats(B, 0, 2 * K), floats(B, 0, 2 * V), past]
    settings = {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}
    assert_kernel(LINEAR, inputs, 2, **settings)
    for sizes in ((2, 4, 0), (2, 0, 5)):
        state = None if past is None else floats(2, sizes[1], 2)
        assert_kernel(CONV, [floats(*sizes), floats(sizes[1], 1, 3), None, state], 2)
