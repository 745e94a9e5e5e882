import numpy as np
import pytest
from harness import assert_keeps
from layers import assert_expands, expanded, one_layer
from straightline.passes import ExpandRecurrences

NUMBERS = np.random.default_rng(3)


def numbers(*shape):
    return NUMBERS.normal(size=shape).astype(np.float32)


INPUTS = "float[2, N, 1] x, float[2, 6, 1] w, float[2, 6, 2] r, float[2, 12] b, float[2, N, 2] h0"


@pytest.mark.parametrize("before", [0, 1])
def test_weights_of_run_time_are_cut_once(before):
    node = f'GRU <direction = "bidirectional", linear_before_reset = {before}> (x, w, r, b, , h0)'
    shapes = {"w": (2, 6, 1), "r": (2, 6, 2), "b": (2, 12)}
    feed = {name: numbers(*shape) for name, shape in shapes.items()}
    feeds = [feed | {"x": numbers(2, n, 1), "h0": numbers(2, n, 2)} for n in (1, 3)]
    for opset in (7, 17):
        used = assert_expands(one_layer(node, INPUTS, opset), *feeds)
        assert used.count("Transpose") == 2 * 2 + 2  # weights, what is fed, what comes out


def test_a_product_with_zeros_is_none():
    inputs = "float[2, N, 1] x"
    constants = "<float[1, 1, 1] w = {2}, float[1, 1, 1] r = {3}>"
    model = one_layer("RNN (x, w, r)", inputs, constants=constants)
    used = assert_expands(model, {"x": numbers(2, 3, 1)})
    assert used.count("MatMul") == 2 and used.count("Add") == 2


@pytest.mark.parametrize("steps", ["0", "T"])
def test_zeros_for_rows_of_which_run_time_tells_the_number(steps):
    inputs = f"float[{steps}, N, 1] x, float[1, 1, 1] w, float[1, 1, 1] r"
    model = one_layer("RNN (x, w, r)", inputs)
    after, _ = expanded(model)
    assert "Expand" in {node.op_type for node in after.graph.node}
    feed = {"w": numbers(1, 1, 1), "r": numbers(1, 1, 1)}
    if steps == "T":
        assert_expands(model, feed | {"x": numbers(2, 3, 1)})
    else:
        assert_expands(model, feed | {"x": np.zeros((0, 3, 1), np.float32)})
        old = one_layer("RNN (x, w, r)", inputs, 7)
        assert_keeps(ExpandRecurrences(), old, "it has no steps; convert to opset 8 first")


def test_rows_of_their_own_lengths_want_a_choice():
    inputs = "float[2, 3, 1] x, float[1, 1, 1] w, float[1, 1, 1] r, int32[3] n"
    model = one_layer("RNN (x, w, r, , n)", inputs, 8)
    assert_keeps(ExpandRecurrences(), model, "rows of different lengths; convert to opset 9")
