"""The larger and the smaller of integers."""

from spelled import model, require_open, require_same
from tables import table

TWO = "(int64[3] x, int64[3] z) => (int64[3] y)"
ONE = "(int64[3] x) => (int64[3] y)"


@table(
    ("Greater", "x", "z", "Max"),
    ("Less", "x", "z", "Min"),
    ("Greater", "z", "x", "Min"),
    ("Less", "z", "x", "Max"),
    ("GreaterOrEqual", "x", "z", "Max"),
    ("LessOrEqual", "x", "z", "Min"),
)
def test_a_choice_by_comparison(test, x, z, name):
    old = model(f"c = {test} ({x}, {z}) y = Where (c, x, z)", 12, TWO)
    require_same(old, model(f"y = {name} (x, z)", 12, TWO))
    other = {"Max": "Min", "Min": "Max"}[name]
    require_open(old, model(f"y = {other} (x, z)", 12, TWO))


def test_scalars_and_ifs():
    signature = "(int64 x, int64 z) => (int64 y)"
    new = model("y = Max (x, z)", 12, signature)
    require_same(model("c = Greater (x, z) y = Where (c, x, z)", 11, signature), new)
    branches = (
        "c = Greater (x, z) y = If (c) <then_branch = a () => (int64 p) { p = Identity (x) },"
        " else_branch = b () => (int64 q) { q = Identity (z) }>"
    )
    require_same(model(branches, 11, signature), new)


def test_a_choice_of_floats_is_no_maximum():
    signature = "(float[3] x, float[3] z) => (float[3] y)"
    old = model("c = Greater (x, z) y = Where (c, x, z)", 12, signature)
    require_open(old, model("y = Max (x, z)", 12, signature))


def test_comparisons_in_a_narrower_type():
    signature = "(int32[3] x) => (int64[3] y)"
    old = "<int64 n = {1}> { w = Cast <to = 7> (x) c = Less (w, n) y = Where (c, w, n) }"
    new = "<int64 n = {1}> { w = Cast <to = 7> (x) y = Min (w, n) }"
    require_same(model(old, 11, signature), model(new, 12, signature))
    require_open(model(old, 11, signature), model(new.replace("{1}", "{2}"), 12, signature))


def test_the_maximum_of_a_value_and_itself():
    require_same(model("y = Max (x, x)", 12, ONE), model("y = Min (x, x)", 12, ONE))
    floats = "(float[3] x) => (float[3] y)"
    require_same(model("y = Max (x)", 12, floats), model("y = Identity (x)", 12, floats))


def test_axes_of_length_1_are_no_part_of_a_scalar():
    signature = "(int64[1] x, int64[1] z) => (int64[1] y)"
    old = "c = Greater (x, z) y = Where (c, x, z)"
    require_same(model(old, 11, signature), model("y = Max (x, z)", 12, signature))
    stretched = "(int64[1] x, int64[3] z) => (int64[3] y)"
    require_same(model(old, 11, stretched), model("y = Max (x, z)", 12, stretched))


def test_a_condition_may_have_more_axes():
    signature = "(int64[1,1] x, int64[1,1] z) => (int64[1,1] y)"
    old = (
        "<int64[2] a = {0, 1}> { c = Greater (x, z) v = Squeeze (x, a) w = Squeeze (z, a)"
        " y = Where (c, v, w) }"
    )
    scalar = "<int64[2] a = {0, 1}> { v = Squeeze (x, a) w = Squeeze (z, a) y = Max (v, w) }"
    require_open(model(old, 13, signature), model(scalar, 13, signature))


def test_another_choice():
    old = model("c = Greater (x, z) w = Abs (z) y = Where (c, x, w)", 12, TWO)
    require_open(old, model("y = Max (x, z)", 12, TWO))


def test_a_maximum_of_several_values():
    signature = "(int64[3] x, int64[1] z, int64 w) => (int64[3] y)"
    old = "b = Greater (x, z) a = Where (b, x, z) c = Greater (a, w) y = Where (c, a, w)"
    require_same(model(old, 9, signature), model("y = Max (x, z, w)", 12, signature))


def test_integers_that_are_clipped():
    old = (
        "<int64 low = {-1}, int64 high = {2}> { b = Greater (x, low) a = Where (b, x, low)"
        " c = Less (a, high) y = Where (c, a, high) }"
    )
    new = "<int64 low = {-1}, int64 high = {2}> { y = Clip (x, low, high) }"
    require_same(model(old, 9, ONE), model(new, 12, ONE))
    require_same(
        model(new.replace("{2}", "{-3}"), 12, ONE), model(old.replace("{2}", "{-3}"), 9, ONE)
    )
    require_open(model(old, 9, ONE), model(new.replace("{2}", "{3}"), 12, ONE))
    upper = '<int64 high = {2}> { y = Clip (x, "", high) }'
    require_same(model(upper, 12, ONE), model("<int64 high = {2}> { y = Min (x, high) }", 12, ONE))


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


def test_an_absent_bound_is_the_last_finite_number():
    old = model("y = Clip <min = -1.5> (x)", 8)
    new = "<float low = {-1.5}> { y = Clip (x, low) }"
    require_same(old, model(new, 11))
    require_same(old, model(new, 13))
    require_open(old, model("<float low = {-1.5}> { y = Max (x, low) }", 13))
    infinite = "<float low = {-1.5}, float high = {inf}> { y = Clip (x, low, high) }"
    require_open(old, model(infinite, 13))
