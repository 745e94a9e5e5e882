"""Reshape to sizes that may be zero: as one node, and padded, reshaped and cut."""

import itertools

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import outputs
from straightline.reference import run
from tables import table

GRAPH = """g (float[R, 16] x, float[B, S] u) => (float[K, L, M] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] all = {{-1}},
     int64[1] c = {{16}}, int64[1] far = {{9223372036854775807}}, float[1] pad = {{0}}> {{
        b = Shape <end = 1> (u) t = Shape <start = 1> (u)
        s = Concat <axis = 0> (b, t, c) turned = Concat <axis = 0> (t, b, c)
        rest = Concat <axis = 0> (b, t, all) {} }}"""
BEFORE = GRAPH.format("y = Reshape <allowzero = 1> (x, s)")
LONG = """is = Equal (s, zero) ones = Where (is, one, s)
    n = ReduceProd (ones, zero) m = ReduceProd (s, zero) none = Equal (m, zero)
    miss = Where (none, n, zero) fill = Expand (pad, miss) flat = Reshape (x, all)
    whole = Concat <axis = 0> (flat, fill) full = Reshape (whole, ones)
    open = Less (s, zero) ends = Where (open, far, s) starts = Sub (s, s)
    y = Slice (full, starts, ends)"""


@table(
    ("", ""),
    ("ones = Where (is, one, s)", "ones = Max (one, s)"),
    ("ones = Where (is, one, s)", "ones = Where (is, two, s)"),
    ("is = Equal (s, zero)", "is = Equal (zero, s)"),
    ("Where (open, far, s)", "Identity (s)"),
)
def test_padded_reshaped_and_cut(old, new):
    assert_proved(BEFORE, GRAPH.format(LONG.replace(old, new)))


def test_minus_one_beside_sizes_by_which_the_original_divides():
    before = GRAPH.format("y = Reshape <allowzero = 1> (x, rest)")
    assert_proved(before, GRAPH.format(LONG.replace("(s", "(rest").replace(", s)", ", rest)")))


@table(
    ("Where (is, one, s)", "Where (is, one, turned)"),
    ("is = Equal (s, zero)", "is = Equal (s, one)"),
    ("miss = Where (none, n, zero)", "miss = Where (none, zero, n)"),
    ("miss = Where (none, n, zero)", "miss = Where (none, n, one)"),
    ("none = Equal (m, zero)", "none = Equal (m, c)"),
    ("starts = Sub (s, s)", "starts = Div (ones, ones)"),
    ("Where (open, far, s)", "Identity (ones)"),
    ("Where (open, far, s)", "Identity (turned)"),
    ("Concat <axis = 0> (flat, fill)", "Concat <axis = 0> (flat, flat, fill)"),
    ("flat = Reshape (x, all)", "e = Exp (x) flat = Reshape (e, all)"),
)
def test_other_paddings_and_cuts(old, new):
    assert old in LONG
    assert_open(BEFORE, GRAPH.format(LONG.replace(old, new)))


@pytest.mark.parametrize("runtime", [run, outputs])
def test_all_sizes_of_zero_and_more(runtime):
    for b, s in itertools.product((0, 1, 2), (0, 1, 3)):
        x = np.arange(b * s * 16, dtype=np.float32).reshape(b * s, 16)
        feeds = {"x": x, "u": np.zeros((b, s), np.float32)}
        one, other = (runtime(model(t), feeds)[0] for t in (BEFORE, GRAPH.format(LONG)))
        assert one.shape == other.shape == (b, s, 16)
        np.testing.assert_array_equal(one, other)


UNCUT = """g (float[R, 16] x, float[B, S] u, bool t) => (float[K, L, M] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] all = {{-1}}, int64[1] c = {{16}},
     int64[1] two = {{2}}, float[1] pad = {{0}}> {{
        b = Shape <end = 1> (u) t2 = Shape <start = 1> (u) s = Concat <axis = 0> (b, t2, c)
        wide = Concat <axis = 0> (b, t2, two, two) {} e = Unsqueeze (x, zero) y = Exp (e) }}"""
PADS = """is = Equal (s, zero) ones = Where (is, one, s)
    n = ReduceProd (ones, zero) m = ReduceProd (s, zero) none = Equal (m, zero)
    miss = Where (none, n, zero) fill = Expand (pad, miss) flat = Reshape (x, all)
    whole = Concat <axis = 0> (flat, fill) full = Reshape (whole, ones)"""


def test_so_many_elements_of_such_sizes():
    assert_proved(UNCUT.format("r = Reshape <allowzero = 1> (x, s)"), UNCUT.format(PADS))


@table(
    "",
    "r = Reshape (x, s)",  # in which a 0 copies an axis
    "r = Reshape <allowzero = 1> (x, wide)",
    "a = Concat <axis = 0> (x, x) r = Reshape <allowzero = 1> (a, s)",
    """r = If (t) <then_branch = f () => (float[P, Q, O] p) {
            p = Reshape <allowzero = 1> (x, s) },
            else_branch = h () => (float[U, V, W] o) { o = Unsqueeze (x, zero) }>""",
)
def test_elements_of_which_the_original_does_not_ask_that(nodes):
    assert_open(UNCUT.format(nodes), UNCUT.format(PADS), "may fail")


def test_another_length_of_the_padding():
    before = UNCUT.format("r = Reshape <allowzero = 1> (x, s)")
    for old, new in (("Where (none, n, zero)", "Where (none, n, one)"), ("(m, zero)", "(m, c)")):
        assert_open(before, UNCUT.format(PADS.replace(old, new)), "may fail")
