"""Loop over rows, each with all rows of another matrix, and a pass that makes blocks of four."""

from straightline.passes import BlockLoops
from vectorized import numbers

PAIRS = """g (float[N, D] x, float[M, D] w) => (float[N] y) <bool yes = {1}, int64 zero = {0}> {
    s = Shape (x) n = Gather (s, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
        c2 = Identity (c) e = Gather (x, i) d = Sub (w, e) r = ReduceMax <keepdims = 0> (d) }> }"""
MANY = BlockLoops(block_bytes=8 * 24)
"""Four iterations of two rows of three floats."""


def pairs(length, width=3, rows=2):
    return {"x": numbers(length, width), "w": numbers(rows, width)}
