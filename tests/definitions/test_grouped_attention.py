import numpy as np
import pytest
from kernels import assert_kernel, normal
from tables import table

DRAW = np.random.default_rng(0)
GROUPED = "com.microsoft.GroupQueryAttention"
N, K, D = 4, 2, 16
floats = normal(DRAW)


def check(count, past, total, ends, packed=False, dtype=np.float32, **settings):
    """Compare one call: new tokens, rows of the cache, the total length, last places."""
    batch = len(ends)
    query, key, value = (floats(batch, count, n * D, dtype=dtype) for n in (N, K, K))
    rows = [np.concatenate([query, key, value], -1), None, None] if packed else [query, key, value]
    cache = [None, None]
    if past is not None:
        cache = [floats(batch, K, past, D, dtype=dtype) for _ in range(2)]
    angles = [floats(20, D // 2, dtype=dtype) for _ in range(2)]
    more = [settings.pop(name, None) for name in ("positions", "bias", "sink")]
    lengths = [np.array(ends, np.int32), np.array(total, np.int32)]
    rotated = angles if settings.get("do_rotary") else [None, None]
    inputs = [*rows, *cache, *lengths, *rotated, *more]
    outputs = settings.pop("outputs", 3)
    assert_kernel(GROUPED, inputs, outputs, num_heads=N, kv_num_heads=K, **settings)


CALLS = [(3, None, 3, (2, 2)), (1, 4, 5, (4, 3)), (1, 8, 5, (4, 4)), (3, 4, 7, (6,))]


@pytest.mark.sample(5)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("packed", [False, True])
def test_prompts_and_tokens(call, packed):
    check(*call, packed, do_rotary=1, rotary_interleaved=int(packed), scale=0.25)
    check(*call, packed, dtype=np.float16)


@table(
    {"softcap": 2.0},
    {"local_window_size": 2},
    {"smooth_softmax": 1},
    {"causal": 0},
    {"sink": floats(N)},
    {"outputs": 4, "qk_output": 1, "softcap": 2.0},
    {"outputs": 4, "qk_output": 2, "smooth_softmax": 1},
)
def test_scores(settings):
    for call in (CALLS[0], CALLS[3]):
        check(*call, **settings)


def test_positions_and_a_bias():
    places = np.array([[5, 9, 2], [0, 1, 2]])
    check(3, None, 3, (2, 2), do_rotary=1, positions=places)
    check(3, 4, 7, (6,), do_rotary=1, positions=places[:1])
    check(3, None, 3, (2, 2), bias=floats(2, 1, 3, 3))
