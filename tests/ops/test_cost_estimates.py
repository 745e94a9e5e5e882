import math

import numpy as np
import pytest
from operator_facts import make_node
from straightline.ops import rules_of
from straightline.ops.cost_estimates import EACH, matching
from tables import table


def work(op_type, arrays, **attributes):
    node = make_node(op_type, arrays, **attributes)
    return rules_of(node.op).work(node, arrays)


def ones(*shape):
    return np.ones(shape, np.float32)


IMAGE = ones(1, 2, 40, 40)


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


@table("(a+)+$", "(a|a)*b", "(x+x+)+y", "(a*){3}", r"(.)\1", "(ab?)?" * 3)
def test_patterns_whose_ways_have_no_end(pattern):
    assert matching(pattern, np.array(["a" * 30], object)) == math.inf


@pytest.mark.parametrize("pattern", [r"\d+\.\d\d", "ab*c", "[a-z]+", "hello", "a|b|c"])
def test_simple_patterns_take_little(pattern):
    assert matching(pattern, np.array(["a" * 30], object)) < 1e9


def test_optional_parts_of_a_pattern_double_the_steps():
    texts = np.array(["a" * 30], object)
    assert matching("a?" * 30 + "a" * 30, texts) > 1e12
    assert matching("a*" * 10 + "b", texts) > 1e15
    assert matching("(a+)+$", np.array([""], object)) == EACH
