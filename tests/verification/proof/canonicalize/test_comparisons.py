"""Comparisons said by other ones."""

import pytest
from spelled import model, require_open, require_same
from tables import table

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


def test_less_or_equal_is_not_the_opposite_of_greater():
    old = model("a = Greater (x, z) y = Not (a)", 11, TWO)
    require_open(old, model("y = LessOrEqual (x, z)", 16, TWO))


def test_equal_floats():
    new = model("y = Equal (x, z)", 11, TWO)
    require_same(model(EQUAL, 9, TWO), new)
    require_open(model(EQUAL.replace("IsNaN (z)", "IsNaN (x)"), 9, TWO), new)
    require_open(model("l = Less (x, z) g = Greater (x, z) d = Or (l, g) y = Not (d)", 9, TWO), new)


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


@table(
    ("xl = Sub (x, xw)", "xl = Sub (xw, x)"),
    ("zl = Sub (z, zw)", "zl = Sub (x, zw)"),
    ("Less (b, a)", "Less (a, b)"),
    ("And", "Or"),
    ("y = Or", "y = And"),
    ("low = Less", "low = Greater"),
    ("{4294967296}", "{2}"),
    ("Sub (x, xw)", "Sub (x, zw)"),
    ("against = Less (b, a)", "against = Less (d, c)"),
)
def test_other_parts_are_no_halves(old, new):
    assert old in HALVES
    require_open(
        model(HALVES.replace(old, new), 8, TWO_HALVES), model("y = Less (x, z)", 9, TWO_HALVES)
    )
