"""Integers of 64 bits that are compared in two halves."""

import numpy as np
import pytest
from spelled import model, require_open, require_same, same_bits
from straightline import reference

TWO = "(int64[8] x, int64[8] z) => (bool[8] y)"
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
    require_same(model(text, 8, TWO), model(f"y = {test} (x, z)", 9, TWO))


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
    require_open(model(HALVES.replace(old, new), 8, TWO), model("y = Less (x, z)", 9, TWO))


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
