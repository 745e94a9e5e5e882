"""Comparisons said by other ones."""

import pytest
from spelled import model, require_open, require_same
from straightline.verification.proof import prove

TWO = "(float[2,8] x, float[2,8] z) => (bool[2,8] y)"
EQUAL = (
    "l = Less (x, z) g = Greater (x, z) d = Or (l, g)"
    " a = IsNaN (x) b = IsNaN (z) n = Or (a, b) o = Or (d, n) y = Not (o)"
)


@pytest.mark.parametrize(("test", "name"), [("Less", "LessOrEqual"), ("Greater", "GreaterOrEqual")])
def test_or_equal(test, name):
    old = f"a = {test} (x, z) b = Equal (x, z) y = Or (a, b)"
    new = model(f"y = {name} (x, z)", 16, TWO)
    require_same(model(old, 11, TWO), new)
    require_same(model(old.replace("(a, b)", "(b, a)"), 11, TWO), new)
    require_open(model(old.replace("Or", "And"), 11, TWO), new)
    require_open(model(old.replace(f"{test} (x, z)", f"{test} (z, x)"), 11, TWO), new)


def test_it_is_not_the_opposite_of_greater():
    old = model("a = Greater (x, z) y = Not (a)", 11, TWO)
    require_open(old, model("y = LessOrEqual (x, z)", 16, TWO))


def test_equal_floats():
    new = model("y = Equal (x, z)", 11, TWO)
    require_same(model(EQUAL, 9, TWO), new)
    require_open(model(EQUAL.replace("IsNaN (z)", "IsNaN (x)"), 9, TWO), new)
    require_open(model("l = Less (x, z) g = Greater (x, z) d = Or (l, g) y = Not (d)", 9, TWO), new)


def test_a_constant_is_a_number_or_none():
    signature = "(float[2,8] x) => (bool[2,8] y)"
    old = f"<float z = {{1.5}}> {{ {EQUAL} }}"
    new = "<float z = {1.5}> { y = Equal (x, z) }"
    require_same(model(old, 9, signature), model(new, 11, signature))
    unasked = old.replace("b = IsNaN (z) n = Or (a, b)", "n = Identity (a)")
    require_same(model(unasked, 9, signature), model(new, 11, signature))
    careless = old.replace("n = Or (a, b) o = Or (d, n)", "o = Identity (d)")
    require_open(model(careless, 9, signature), model(new, 11, signature))


def test_what_is_not_a_number():
    signature = "(float[2,8] x) => (bool[2,8] y)"
    old = (
        "<float a = {1}, float b = {0}>"
        " { l = Less (x, a) g = Greater (x, b) o = Or (l, g) y = Not (o) }"
    )
    new = model("y = IsNaN (x)", 9, signature)
    require_same(model(old, 8, signature), new)
    require_open(model(old.replace("{0}", "{1}"), 8, signature), new)
    require_open(model(old.replace("{0}", "{2}"), 8, signature), new)


@pytest.mark.parametrize("constant", ["x", "z"])
def test_floats_of_any_rank_are_compared_with_a_number(constant):
    """Whether the number is one is asked, too, and known; what has no rank has its shape."""
    other = "z" if constant == "x" else "x"
    signature = f"(float[] {other}) => (bool[] y)"
    asked = (
        "p = Less (x, one) q = Greater (x, none) r = Or (p, q) a = Not (r)"
        " s = Less (z, one) t = Greater (z, none) v = Or (s, t) b = Not (v)"
    )
    nodes = EQUAL.replace("a = IsNaN (x) b = IsNaN (z)", asked)
    numbers = f"<float {constant} = {{1.5}}, float one = {{1}}, float none = {{0}}>"
    new = f"<float {constant} = {{1.5}}> {{ y = Equal (x, z) }}"
    assert prove(model(f"{numbers} {{ {nodes} }}", 8, signature), model(new, 11, signature)).proved
    wide = numbers.replace("float one = {1}", "float[1] one = {1}")
    assert not prove(model(f"{wide} {{ {nodes} }}", 8, signature), model(new, 11, signature)).proved
