"""Loops that may make no iterations, and what reads the sizes of what they give."""

import random

import pytest
import zero_iterations


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", [*range(6), 5335, 5018, 20287])
def test_rewrites_have_the_sizes_of_the_original(seed):
    model = zero_iterations.drawn_model(random.Random(seed))
    assert zero_iterations.faults_of(model) + zero_iterations.reference_faults(model) == []


def test_another_size_is_noticed():
    one, other = zero_iterations.np.zeros((0, 3)), zero_iterations.np.zeros((0, 0))
    assert zero_iterations.same([one], [one]) and not zero_iterations.same([one], [other])
    assert zero_iterations.same(None, [one]) and not zero_iterations.same([one], None)
