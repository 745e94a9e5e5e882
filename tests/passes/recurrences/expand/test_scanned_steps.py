import numpy as np
import pytest
from layers import assert_expands, one_layer

NUMBERS = np.random.default_rng(5)
SHAPES = {"w": (2, 4, 1), "r": (2, 4, 1), "h0": (2, 2, 1), "c0": (2, 2, 1)}
INPUTS = ", ".join(f"float{list(shape)} {name}" for name, shape in SHAPES.items())


def feeds(*steps):
    for count in steps:
        shapes = SHAPES | {"x": (count, 2, 1)}
        yield {n: NUMBERS.normal(size=shape).astype(np.float32) for n, shape in shapes.items()}


@pytest.mark.parametrize("lengths", [(), ([1, 0], [1, 1]), ([3, 1], [0, 2])])
def test_each_direction_is_one(lengths):
    node = 'LSTM <direction = "bidirectional"> (x, w, r, "", {}, h0, c0)'
    inputs = f"float[T, 2, 1] x, {INPUTS}"
    if not lengths:
        model = one_layer(node.format('""'), inputs)
        given = list(feeds(1, 4))
    else:
        model = one_layer(node.format("n"), f"{inputs}, int32[2] n")
        steps = max(map(max, lengths))
        given = [
            feed | {"n": np.array(n, np.int32)}
            for n, feed in zip(lengths, feeds(steps, steps), strict=True)
        ]
    assert assert_expands(model, *given).count("Scan") == 2


def test_a_body_gives_out_nothing_that_nothing_reads():
    model = one_layer("RNN (x, w, r)", "float[T, 2, 1] x, float[1, 1, 1] w, float[1, 1, 1] r")
    model.graph.node[0].output[0] = ""
    del model.graph.output[0]
    feed = {"x": np.ones((3, 2, 1), np.float32), "w": np.ones((1, 1, 1), np.float32)}
    assert assert_expands(model, feed | {"r": np.ones((1, 1, 1), np.float32)}).count("Scan") == 1
