"""Which states only collect."""

import numpy as np
import pytest
from harness import as_model
from loops import HEAD, op_types
from vectorized import assert_same, numbers, vectorized

LOOP = """g (float[N, 2, 3] x, float[2, {k}] s0, float[5, 2, 3] o, int64 n, float[?] q) =>
        (float[{out}] y) <bool yes = {{1}}, int64[1, 1] at = {{0}}> {{
    y = Loop (n, yes, {initial}) <body = b (int64 i, bool c, {type} s) => (bool c2, {type} t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) {write} }}> }}"""
KEPT = {
    "another trip reads it": "u = ReduceSum <keepdims = 0> (s) v = Add (f, u) t = Max (s, v)",
    "places that may be the same": "r = ReduceMax <keepdims = 0> (s) j = Reshape (k, b)"
    " u = Unsqueeze (f, a) t = ScatterND (s, j, u)",
    "places that begin at the last one": "m = Constant <value_int = -1> () k2 = Add (i, m)"
    " j = Reshape (k2, b) u = Unsqueeze (f, a) t = ScatterND (s, j, u)",
    "sums": 'j = Reshape (i, b) u = Unsqueeze (f, a) t = ScatterND <reduction = "add"> (s, j, u)',
    "elements of places that may be the same": "d = Constant <value_ints = [1, 2, 3]> ()"
    " j = Expand (k, d) u = Unsqueeze (f, a) t = ScatterElements <axis = 0> (s, j, u)",
    "elements along another axis": "d = Constant <value_ints = [1, 2, 3]> () p = Mul (k, k)"
    " j = Expand (p, d) u = Unsqueeze (f, a) t = ScatterElements <axis = 2> (s, j, u)",
    "a mask": "m = Constant <value_int = 1> () p = Equal (k, m) t = Where (p, f, s)",
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_no_write(what):
    body = "a = Constant <value_ints = [0]> () b = Constant <value_ints = [1, 1]> ()"
    body += " l = Constant <value_int = 2> () k = Mod (i, l) " + KEPT[what]
    text = LOOP.format(out="5, 2, 3", initial="o", type="float[5, 2, 3]", write=body, k=1)
    model = as_model(HEAD + text)
    result = vectorized(model)
    assert "Loop" in op_types(result.model.graph)
    feed = {"x": numbers(5, 2, 3), "s0": numbers(2, 1), "o": numbers(5, 2, 3)}
    for n in (0, 1, 5):
        assert_same(model, result.model, {**feed, "n": np.array(n), "q": numbers(1)})
