"""Clip: bounds that were attributes and are inputs."""

from spelled import model, require_open, require_same


def test_bounds_that_became_inputs():
    old = model("y = Clip <min = -1.5, max = 1.0> (x)", 8)
    new = "<float low = {-1.5}, float high = {1}> { y = Clip (x, low, high) }"
    require_same(old, model(new, 11))
    require_same(old, model(new, 13))
    crossed = "<float low = {1}, float high = {-1.5}> { y = Clip (x, low, high) }"
    require_open(old, model(crossed, 13))


def test_an_absent_attribute_is_the_largest_float():
    old = model("y = Clip <min = -1.5> (x)", 8)
    new = "<float low = {-1.5}, float high = {3.4028235e38}> { y = Clip (x, low, high) }"
    require_same(old, model(new, 11))


def test_an_absent_bound_lets_infinities_pass_in_the_reference_only():
    old = model("y = Clip <min = -1.5> (x)", 8)
    new = "<float low = {-1.5}> { y = Clip (x, low) }"
    require_open(old, model(new, 11))
