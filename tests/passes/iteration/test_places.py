import numpy as np
import pytest
from harness import as_model
from loops import op_types
from vectorized import assert_same, numbers, vectorized

LOOP = """g (float[6, 2] x, float[6, 2] o, int64 n, int64[K] list) => (float[6, 2] y)
        <bool yes = {{1}}, int64 zero = {{0}}, int64 two = {{2}}, int64 five = {{5}},
        int64 six = {{6}}, int64[1] first = {{0}},
        int64[1] one = {{1}}, int64[2] both = {{1, 2}}, int64[2, 1] down = {{0, 1}},
        int64[2, 1] ones = {{1, 1}}> {{
    sizes = Shape ({counted}) m = Gather (sizes, zero)
    y, last = Loop (m, yes, o, {first}) <body = b (int64 i, bool c, float[6, 2] s, int64 k)
            => (bool c2, float[6, 2] t, int64 k2) {{
        c2 = Identity (c) k2 = Add (k, two) e = Gather (x, {read}) f = Exp (e) {write} }}> }}"""
ROW = "p = Reshape ({0}, one) t = ScatterND (s, p, f)"
GONE = {
    "the number of the iteration": ("x", "zero", "i", ROW.format("i")),
    "from the end": ("x", "zero", "i", "p0 = Sub (five, i) " + ROW.format("p0")),
    "ahead": ("list", "zero", "i", "p0 = Add (i, two) " + ROW.format("p0")),
    "a counter": ("list", "zero", "k", ROW.format("k")),
    "each element of a row": ("x", "zero", "i",
     "q = Mul (ones, i) p = Concat <axis = -1> (q, down) t = ScatterND (s, p, f)")}  # fmt: skip
WRAPPED = "g = Less (d, zero) w = Add (d, six) p0 = Where (g, w, d) "
GONE |= {
    "every second": ("list", "zero", "i", "p0 = Mul (i, two) " + ROW.format("p0")),
    "below 0": ("x", "zero", "i", f"d = Sub (i, six) {WRAPPED}" + ROW.format("p0")),
    "never below 0": ("x", "zero", "i", f"d = Identity (i) {WRAPPED}" + ROW.format("p0")),
    "with more axes": (
        "x",
        "zero",
        "i",
        "q = Mul (ones, i) p1 = Concat <axis = -1> (q, down) p = Unsqueeze (p1, first)"
        " h = Unsqueeze (f, first) t = ScatterND (s, p, h)",
    ),
}
STAYS = {
    "partly below 0": ("x", "zero", "i", f"d = Sub (i, two) {WRAPPED}" + ROW.format("p0")),
    "through 0": ("x", "zero", "i", "p0 = Sub (two, i) " + ROW.format("p0")),
    "a number of iterations that is not known": ("list", "zero", "i",
     "p0 = Sub (five, i) " + ROW.format("p0")),
    "twice the same": ("x", "zero", "i", "p0 = Div (i, two) " + ROW.format("p0"))}  # fmt: skip


@pytest.mark.parametrize("what", [*GONE, *STAYS])
def test_places(what):
    counted, first, read, write = {**GONE, **STAYS}[what]
    model = as_model(LOOP.format(counted=counted, first=first, read=read, write=write))
    result = vectorized(model)
    assert ("Loop" in op_types(result.model.graph)) == (what in STAYS), result.remarks
    for count in (0, 1, 3):
        given = {"list": np.zeros(count, np.int64), "n": np.array(0)}
        feed = {"x": numbers(6, 2), "o": numbers(6, 2), **given}
        assert_same(model, result.model, feed)
