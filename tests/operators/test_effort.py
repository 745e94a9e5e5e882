"""How much the reference has to do: what takes long is told before it is begun."""

import math
import time

import numpy as np
import pytest
from operator_facts import make_node
from straightline.operators import rules_of
from straightline.operators.effort import EACH, matching
from straightline.reference import operator_kernel

STEPS_A_SECOND = 1e9


def work(op_type, arrays, **attributes):
    node = make_node(op_type, arrays, **attributes)
    return rules_of(node.op).work(node, arrays)


def ones(*shape):
    return np.ones(shape, np.float32)


IMAGE = ones(1, 2, 40, 40)
LIMITED = [
    ("Add", [ones(200, 200), ones(200, 200)], {}),
    ("MaxPool", [IMAGE], {"kernel_shape": [9, 9], "pads": [4] * 4}),
    ("AveragePool", [IMAGE], {"kernel_shape": [9, 9], "pads": [4] * 4}),
    ("LpPool", [IMAGE], {"kernel_shape": [9, 9], "pads": [4] * 4}),
    ("Conv", [IMAGE, ones(3, 2, 9, 9)], {"pads": [4] * 4}),
    ("ConvTranspose", [ones(1, 2, 12, 12), ones(2, 3, 4, 4)], {}),
    ("DeformConv", [ones(1, 1, 9, 9), ones(1, 1, 3, 3), ones(1, 18, 7, 7)], {}),
    ("Col2Im", [ones(1, 9, 196), np.array([16, 16]), np.array([3, 3])], {}),
    ("Einsum", [ones(40, 40), ones(40, 40), ones(40, 40)], {"equation": "ab,bc,cd->ad"}),
    ("LSTM", [ones(100, 1, 4), ones(1, 64, 4), ones(1, 64, 16)], {"hidden_size": 16}),
    ("GRU", [ones(100, 1, 4), ones(1, 48, 4), ones(1, 48, 16)], {"hidden_size": 16}),
    ("RoiAlign", [ones(1, 2, 9, 9), 4 * ones(4, 4), np.zeros(4, np.int64)], {}),
    ("GridSample", [ones(1, 1, 8, 8), ones(1, 40, 40, 2)], {}),
    ("ScatterElements", [ones(60, 60), np.zeros((60, 60), np.int64), ones(60, 60)], {}),
]


@pytest.mark.parametrize(("op_type", "arrays", "attributes"), LIMITED)
def test_no_kernel_takes_longer_than_is_said(op_type, arrays, attributes):
    """With room for a slow machine, and for what a first call makes ready."""
    message = make_message(op_type, arrays, attributes)
    kernel = operator_kernel(message, {"": 20})
    kernel(arrays)
    started = time.process_time()
    kernel(arrays)
    spent = time.process_time() - started
    assert spent < 3 * work(op_type, arrays, **attributes) / STEPS_A_SECOND + 0.05


def make_message(op_type, arrays, attributes):
    from onnx import helper

    return helper.make_node(op_type, [f"i{k}" for k in range(len(arrays))], ["y"], **attributes)


def test_windows_take_as_many_steps_as_they_have_elements():
    small = work("MaxPool", [IMAGE], kernel_shape=[3, 3])
    assert work("MaxPool", [IMAGE], kernel_shape=[30, 30]) == 100 * small
    assert work("Conv", [IMAGE, ones(1, 2, 30, 30)]) == 100 * work(
        "Conv", [IMAGE, ones(1, 2, 3, 3)]
    )
    assert work("MaxPool", [IMAGE], kernel_shape=[3, 3], pads=[100] * 4) > 20 * small


def test_samples_without_a_number_are_as_many_as_a_bin_is_wide():
    arrays = [ones(1, 1, 4, 4), 1e9 * ones(1, 4), np.zeros(1, np.int64)]
    assert work("RoiAlign", arrays) > 1e18
    assert work("RoiAlign", arrays, sampling_ratio=2) < 1e6


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(x+x+)+y", "(a*){3}", r"(.)\1", "(ab?)?" * 3]
)
def test_patterns_whose_ways_have_no_end(pattern):
    assert matching(pattern, np.array(["a" * 30], object)) == math.inf


@pytest.mark.parametrize("pattern", [r"\d+\.\d\d", "ab*c", "[a-z]+", "hello", "a|b|c"])
def test_simple_patterns_take_little(pattern):
    assert matching(pattern, np.array(["a" * 30], object)) < 1e9


def test_what_may_be_left_out_doubles_the_ways():
    texts = np.array(["a" * 30], object)
    assert matching("a?" * 30 + "a" * 30, texts) > 1e12
    assert matching("a*" * 10 + "b", texts) > 1e15
    assert matching("(a+)+$", np.array([""], object)) == EACH
