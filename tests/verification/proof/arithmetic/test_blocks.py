"""Loops over blocks of rows: proved for any number of rows, where the blocks cover all of them."""

import pytest
from proofs import assert_open, assert_proved

ROWS = """g (float[N, 3] x) => (float[N, 3] y) <bool yes = {1}, int64 zero = {0}> {
    s = Shape (x) n = Gather (s, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[3] r) {
        d = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
BLOCKS = """g (float[N, 3] x) => (float[N, 3] y) <bool yes = {1}, int64 zero = {0}, int64 one = {1},
    int64 four = {4}, int64 five = {5}, int64[2] flat = {-1, 3}, int64[1] none = {0}> {
    s = Shape (x) n = Gather (s, zero) vector = Unsqueeze (n, none) last = Sub (n, one)
    padded = Add (last, four) blocks = Div (padded, four) some = Max (blocks, one)
    full = Div (last, some) length = Add (full, one) k = Max (length, one)
    offsets = Range (zero, k, one)
    all = Loop (blocks, yes) <body = b (int64 i, bool c) => (bool d, float[?, 3] r) {
        d = Identity (c) start = Mul (i, k) p = Add (start, offsets) q = Min (last, p)
        places = Max (q, zero) e = Gather (x, places) r = Exp (e) }>
    joined = Reshape (all, flat) y = Slice (joined, none, vector, none) }"""


def test_any_number_of_rows():
    assert_proved(ROWS, BLOCKS)
    assert_proved(ROWS, BLOCKS.replace("Add (last, four)", "Add (four, last)"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("blocks = Div (padded, four)", "blocks = Div (padded, five)"),
        ("blocks = Div (padded, four)", "blocks = Div (last, four)"),
        ("k = Max (length, one)", "k = Max (full, one)"),
        ("full = Div (last, some)", "full = Div (last, five)"),
        # Without rows there would be a block, which reads one.
        ("padded = Add (last, four)", "padded = Add (last, five)"),
        ("start = Mul (i, k)", "start = Mul (i, four)"),
        ("start = Mul (i, k)", "t = Add (i, one) start = Mul (t, k)"),
        ("q = Min (last, p)", "o = Sub (last, one) q = Min (o, p)"),
        ("places = Max (q, zero)", "places = Max (q, one)"),
        ("y = Slice (joined, none, vector, none)", "y = Slice (joined, ones, more, none)"),
        ("offsets = Range (zero, k, one)", "t = Add (k, k) offsets = Range (zero, t, two)"),
    ],
)
def test_what_misses_or_moves_rows(old, new):
    assert old in BLOCKS
    after = BLOCKS.replace(old, new).replace("> {\n    s = Sh", ", int64 two = {2}> {\n    s = Sh")
    if "ones" in new:
        after = after.replace("int64 two = {2}", "int64[1] ones = {1}")
        after = after.replace("y = Slice", "more = Add (vector, ones) y = Slice")
    assert_open(ROWS, after)
