"""Loops that may make no trips, and what reads the sizes of what they give."""

import random

import pytest
import zero_trips


@pytest.mark.parametrize("seed", [*range(6), 5335, 5018, 20287])
def test_rewrites_have_the_sizes_of_the_original(seed):
    model = zero_trips.drawn_model(random.Random(seed))
    assert zero_trips.faults_of(model) + zero_trips.reference_faults(model) == []


def test_another_size_is_noticed():
    one, other = zero_trips.np.zeros((0, 3)), zero_trips.np.zeros((0, 0))
    assert zero_trips.same([one], [one]) and not zero_trips.same([one], [other])
    assert zero_trips.same(None, [one]) and not zero_trips.same([one], None)
