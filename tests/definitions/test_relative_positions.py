import math

import numpy as np
import pytest
from kernels import feeds_of, lowered, normal, one_node, run_kernel

DRAW = np.random.default_rng(0)
floats = normal(DRAW)


def run(name, inputs, **attributes):
    model = one_node(f"com.microsoft.{name}", inputs, **attributes)
    return run_kernel(lowered(model), feeds_of(inputs))[0]


def bucket(way, count, both, most):
    count = count // 2 if both else count
    first, exact, way = count * (both and way > 0), count // 2, abs(way)
    if way < exact:
        return first + way
    far = math.log(way / exact) / math.log(most / exact) * (count - exact)
    return first + min(exact + int(far), count - 1)


@pytest.mark.parametrize("both", [0, 1])
def test_far_positions_share_a_bucket(both):
    table, size = floats(32, 3), np.array([40])
    bias = run("RelativePositionBias", [table, size, size], is_bidirectional=both, max_distance=20)
    buckets = [[bucket(j - i, 32, both, 20) for j in range(40)] for i in range(40)]
    assert np.array_equal(bias[0], table.reshape(3, 32)[:, buckets])


def test_gates_of_queries_scale_the_bias():
    query, bias, places = floats(2, 4, 8), floats(8), floats(1, 2, 4, 4)
    weight, shift, eco = floats(4, 6), floats(6), floats(1, 2, 1, 1)
    inputs = [query, bias, places, weight, shift, eco]
    heads = (query + bias).reshape(2, 4, 2, 4).transpose(0, 2, 1, 3) @ weight + shift
    u, r = np.split(1 / (1 + np.exp(-heads.reshape(2, 2, 4, 2, 3).sum(-1))), 2, -1)
    expected = (u * (r * eco - 1) + 2) * places
    result = run("GatedRelativePositionBias", inputs, num_heads=2)
    np.testing.assert_allclose(result, expected, atol=1e-5)
