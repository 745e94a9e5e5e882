"""Loops that a number of trips ends."""

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from term_values import evaluated

LOOP = """g (int64 m, bool c, float[2] x) => (float[2] y, float[k, 2] z)
    <int64 none = {0}, bool yes = {1}> {
    y, z = Loop (%s, x) <body = b (int64 i, bool d, float[2] s)
        => (bool e, float[2] t, float[2] o) <bool on = {1}> {
        %s t = Neg (s) o = Sin (s) }> }"""


def test_a_condition_that_the_body_gives_on_counts_before_the_first_trip():
    stays, always = LOOP % ("m, c", "e = Identity (d)"), LOOP % ("m, c", "e = Identity (on)")
    assert_proved(stays, always)
    assert_open(stays, LOOP % ("m, yes", "e = Identity (d)"))


def test_a_condition_that_never_holds_leaves_one_trip():
    """The first one, about which the body is not asked."""
    never = LOOP % ("m, c", "w = Constant <value = int64 {-1}> () e = Less (i, w)")
    once = "w = Constant <value = bool {0}> () e = Identity (w)"
    assert_proved(never, LOOP % ("m, c", once))
    assert_open(never, LOOP % ("m, c", "e = Identity (d)"))


@pytest.mark.parametrize("m", [-1, 0, 2])
@pytest.mark.parametrize("c", [True, False])
def test_what_loops_give_that_may_make_no_trip(m, c):
    keep = "w = Constant <value = int64 {1}> () e = Less (i, w)"
    x = np.array([1, 2], np.float32)
    feeds = {"m": np.array(m), "c": np.array(c), "x": x}
    y, z = evaluated(model(LOOP % ("m, c", keep)), feeds)
    trips = max(m, 0) if c else 0
    np.testing.assert_array_equal(y, x * (-1) ** trips)
    assert z.shape == (trips, 2)
