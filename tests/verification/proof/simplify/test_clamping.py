"""Positions that are clamped, and other small numbers: a rule gives what the reference does."""

import attacked_rules
import pytest
from proofs import assert_open, assert_proved


@pytest.mark.sample(14)
@pytest.mark.parametrize("family", sorted(attacked_rules.FAMILIES))
def test_rules_give_what_the_reference_gives(family):
    wrong, counts = attacked_rules.checked(family, sample=25, seed=1)
    assert not wrong
    assert counts["held"] >= 10


def test_a_slice_backward_from_before_the_first_element_takes_that_one():
    text = """g (float[3] x) => (float[m] y) <int64[1] s = {%d}, int64[1] e = {%d},
        int64[1] a = {0}, int64[1] k = {%d}> { y = Slice (x, s, e, a, k) }"""
    assert_proved(text % (-10, -100, -1), text % (0, 1, 1))
    assert_open(text % (-10, -100, -1), text % (0, 0, 1))


def test_an_axis_that_may_be_stretched_is_not_read_as_it_is():
    head = "g (float[n, 2] x) => (float[1, 2] y) <int64[2] s = {4, 2}, int64[1] i = {1}> "
    assert_open(head + "{ z = Expand (x, s) y = Gather (z, i) }", head + "{ y = Gather (x, i) }")


def test_a_scalar_is_stretched_to_itself():
    text = "g (float x) => (float y) <int64[0] s = {}> { y = %s }"
    assert_proved(text % "Expand (x, s)", text % "Identity (x)")
