"""Comparisons said by other ones."""

import numpy as np
import pytest
from spelled import model, require_open, require_same, same_bits
from straightline import reference
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


TWO_HALVES = "(int64[8] x, int64[8] z) => (bool[8] y)"
HALVES = """<int64 u = {4294967296}> {
    xh = Div (x, u) zh = Div (z, u) xw = Mul (xh, u) zw = Mul (zh, u)
    xl = Sub (x, xw) zl = Sub (z, zw)
    a = Cast <to = 11> (xh) b = Cast <to = 11> (zh) c = Cast <to = 11> (xl) d = Cast <to = 11> (zl)
    decided = Less (a, b) against = Less (b, a) open = Not (against)
    low = Less (c, d) by = And (open, low) y = Or (decided, by) }"""


@pytest.mark.parametrize("test", ["Less", "Greater"])
@pytest.mark.parametrize(("old", "new"), [("", ""), ("(open, low)", "(low, open)")])
def test_halves_are_compared_as_the_whole(test, old, new):
    text = HALVES.replace("Less", test).replace(old, new) if old else HALVES.replace("Less", test)
    require_same(model(text, 8, TWO_HALVES), model(f"y = {test} (x, z)", 9, TWO_HALVES))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("xl = Sub (x, xw)", "xl = Sub (xw, x)"),
        ("zl = Sub (z, zw)", "zl = Sub (x, zw)"),
        ("Less (b, a)", "Less (a, b)"),
        ("And", "Or"),
        ("y = Or", "y = And"),
        ("low = Less", "low = Greater"),
        ("{4294967296}", "{2}"),
        ("Sub (x, xw)", "Sub (x, zw)"),
        ("against = Less (b, a)", "against = Less (d, c)"),
    ],
)
def test_other_parts_are_no_halves(old, new):
    assert old in HALVES
    require_open(
        model(HALVES.replace(old, new), 8, TWO_HALVES), model("y = Less (x, z)", 9, TWO_HALVES)
    )


ONE = "(int64[4] x) => (bool[4] y)"


@pytest.mark.parametrize("number", [0, -1, 5, 2**40 + 3, -(2**40) - 3, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("test", ["Less", "Greater"])
def test_a_constant_has_halves_too(number, test):
    text = HALVES.replace("Less", test).replace("<int64 u", f"<int64 z = {{{number}}}, int64 u")
    before, after = model(text, 8, ONE), f"<int64 z = {{{number}}}> {{ y = {test} (x, z) }}"
    require_same(before, model(after, 9, ONE))
    near = [number, max(number - 1, -(2**63)), min(number + 1, 2**63 - 1), -number // 3]
    feeds = {"x": np.array(near, np.int64)}
    results = (reference.run(m, feeds) for m in (before, model(after, 9, ONE)))
    assert same_bits(*results)
