import numpy as np
import pytest
from kernels import assert_kernel, normal

DRAW = np.random.default_rng(0)
B, T, K, V = 2, 5, 4, 3
floats = normal(DRAW)


@pytest.mark.parametrize(("heads", "states"), [(2, 2), (2, 4)])
@pytest.mark.parametrize(
    ("rule", "settings"),
    [("linear", {"scale": 0.5}), ("gated", {}), ("delta", {"qk_l2_norm": 1}),
     ("gated_delta", {"beta_activation": "sigmoid"}),
     ("gated_delta", {"gate_activation": "softplus"})],
)  # fmt: skip
def test_rules(heads, states, rule, settings):
    count = B * T
    key = floats(count, heads, K)
    key = key / np.linalg.norm(key, axis=-1, keepdims=True)
    decay = -abs(floats(count, states)) if "gated" in rule else None
    beta = DRAW.random((count, states)).astype(np.float32) if "delta" in rule else None
    more = [floats(states), floats(states)] if "gate_activation" in settings else []
    past = floats(B, states, V, K)
    tokens = [floats(count, heads, K), key, floats(count, states, V)]
    for ends in (None, np.array([0, 3, count], np.int32)):  # sequences of other lengths
        inputs = [*tokens, ends, decay, beta, past, *more]
        assert_kernel("com.microsoft.GatedDeltaNet", inputs, 2, update_rule=rule, **settings)


@pytest.mark.parametrize("outputs", [1, 2])
def test_rows_of_tokens_without_a_state(outputs):
    inputs = [floats(B, T, 2, K), floats(B, T, 2, K), floats(B, T, 4, V), None]
    inputs[1] /= np.linalg.norm(inputs[1], axis=-1, keepdims=True)
    gates = [-abs(floats(B, T, 4)), DRAW.random((B, T, 4)).astype(np.float32)]
    for past in (None, floats(B, 4, V, K)):
        assert_kernel("com.microsoft.GatedDeltaNet", [*inputs, *gates, past], outputs)
