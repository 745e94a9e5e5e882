"""Rows that a mask of places, or a Split, writes."""

import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline import transform
from straightline.passes import StoreRows
from tables import table


def loop(body, out="float[N, 3]", start="x", count="n"):
    text = """g (float[N, 3] x, float[3, N] z, int64 k) => ({out} y)
            <bool yes = {{1}}, int64 zero = {{0}},
            int64 one = {{1}}, int64[1] v0 = {{0}}, int64[1] v1 = {{1}}, int64[1] v2 = {{2}}> {{
        sizes = Shape (x) n = Gather (sizes, zero) less = Sub (n, one) some = Min (k, n)
        places = Range (zero, n, one)
        count = Identity ({count}) start = Neg ({start})
        y = Loop (count, yes, start) <body = b (int64 i, bool c, {out} s) => (bool c2, {out} t) {{
            c2 = Identity (c) e = Gather (x, i) f = Exp (e) {body} }}> }}"""
    return text.format(body=body, out=out, start=start, count=count)


MASK = "q = Equal (places, i) m = Unsqueeze (q, v1) t = Where (m, f, s)"
SPLIT = "i1 = Unsqueeze (i, v0) r = Sub (n, i) r1 = Unsqueeze (r, v0) u = Unsqueeze (f, v0) "
SPLIT += "r2 = Sub (r1, v1) all = Concat <axis = 0> (i1, v1, r2) h, o, l = Split (s, all) "
SPLIT += "t = Concat <axis = 0> (h, u, l)"


@pytest.mark.sample(6)
@table(
    (MASK, {}),
    (MASK.replace("(places, i)", "(i, places)").replace("(m, f, s)", "(m, u, s)").replace("t =", "u"
        " = Unsqueeze (f, v0) t ="), {}),
    ("j = Sub (n, i) b = Sub (j, one) " + MASK.replace("(places, i)", "(places, b)"), {}),
    ("q = Equal (places, i) o = Not (q) m = Unsqueeze (o, v1) t = Where (m, s, f)", {}),
    (MASK.replace("q =", "own = Range (zero, n, one) q =").replace("(places", "(own"), {}),
    ("q = Equal (places, i) u = Unsqueeze (f, v1) t = Where (q, u, s)",
        {"out": "float[3, N]", "start": "z"}),
    (MASK.replace("(m, f, s)", "(m, g, s)").replace("t =", "g = ReduceMax <keepdims = 1> (f) t ="),
        {}),
    ("q = Equal (places, i) u = ReduceMax <keepdims = 1> (f) t = Where (q, u, s)",
        {"out": "float[3, N]", "start": "z"}),
    (MASK, {"count": "some"}),
    (SPLIT, {}),
    (SPLIT.replace("(h, u, l)", "(h, w, l)").replace("t =", "w = Add (o, u) t ="), {}))  # fmt: skip
def test_no_loop_is_left(body, options):
    text = loop(body, **options)
    assert run_passes(text, StoreRows()).changed
    rewrite = transform(as_model(text), "accelerate").model
    assert not {"Loop", "Scan"} & set(op_types(rewrite.graph))
    for length in (0, 1, 5):
        rng = np.random.default_rng(length)
        x, z = (rng.normal(size=s).astype(np.float32) for s in ((length, 3), (3, length)))
        assert_equal_outputs(text, rewrite, {"x": x, "z": z, "k": np.array(length - 1)})


@table(
    (MASK, {"count": "k"}),  # no row is written at a place beyond the buffer
    (MASK.replace("(places, i)", "(places, b)").replace("q =", "b = Add (i, one) q =", 1), {}),
    (MASK.replace("q =", "far = Add (places, one) q =").replace("(places, i)", "(far, i)"), {}),
    (MASK.replace("Equal", "Less"), {}),
    (MASK.replace("(m, f, s)", "(m, s, f)"), {}),
    (MASK.replace("(m, f, s)", "(m, f, u)").replace("t =", "u = Neg (s) t ="), {}),
    (SPLIT, {"count": "k"}),  # a Split of other sizes fails
    (SPLIT.replace("(i1, v1, r2)", "(r2, v1, i1)").replace("Sub (n, i)", "Sub (k, i)"), {}),
)
def test_near_misses(body, options):
    assert not run_passes(loop(body, **options), StoreRows()).changed
