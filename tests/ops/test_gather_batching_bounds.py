"""Kinds of slices by their bounds in each iteration."""

import pytest
from harness import as_model
from straightline.ops import gather_batching
from straightline.ops.batching import Kind
from straightline.ops.gather_batching import bounds_kind
from vectorized import vectorized

TEXT = """g (float[N] x, int64 n, int64 k, int64[K] ks) => (float[M] z) <int64[1] at = {{0}},
        int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 low = {{-1}},
        bool yes = {{1}}> {{
    over = Add (k, one) beyond = Sub (over, k) k32 = Cast <to = 6> (k) more = Add (k32, k32)
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {{
        c2 = Identity (c) {body} a = Unsqueeze (s, at) b = Unsqueeze (e, at)
        part = Slice (x, a, b, at) r = ReduceSum <keepdims = 0> (part) }}> }}"""
CUT = "q = Sub (i, k) s = Max (q, zero)"
KINDS = [
    ("s = Identity (zero) e = Gather (ks, i)", Kind.PREFIX),
    ("s = Identity (i) e = Add (k, i)", Kind.WINDOW),
    ("s = Add (i, one) f = Add (i, k) e = Add (f, two)", Kind.WINDOW),
    ("s = Identity (i) m = Neg (k) e = Sub (i, m)", Kind.WINDOW),
    ("f = Add (i, k) e = Min (f, n)  s = Identity (i)", Kind.WINDOW),
    (f"{CUT} e = Add (s, k)", Kind.WINDOW),
    ("j = Gather (ks, i) s = Max (j, zero) e = Add (s, k)", Kind.WINDOW),
    (f"{CUT} f = Add (s, k) e = Min (f, n)", Kind.WINDOW),
    ("s = Gather (ks, i) e = Add (s, k)", None),
    (f"{CUT} e = Add (i, one)", Kind.CUT_WINDOW),
    (f"{CUT} f = Add (i, k) e = Add (f, one)", Kind.CUT_WINDOW),
    (f"{CUT} e = Add (i, over)", Kind.CUT_WINDOW),
    ("s = Add (i, beyond) e = Add (i, over)", Kind.WINDOW),
    ("j = Cast <to = 7> (more) s = Identity (i) f = Add (i, j) e = Min (f, n)", Kind.WINDOW),
    (f"{CUT} f = Add (i, k) h = Min (n, f) e = Max (h, zero)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) h = Max (q, zero) s = Min (h, n) e = Min (i, n)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) s = Clip (q, zero) e = Add (i, one)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) s = Clip (q, zero, n) e = Min (i, n)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) s = Clip (q, zero, n) e = Identity (i)", None),
    # The limit of the start cuts windows that the end does not.
    ("q = Sub (i, k) h = Max (q, zero) s = Min (h, n) e = Identity (i)", None),
    # Such an end may count from the last element, where the start is cut.
    (f"{CUT} f = Sub (i, k) e = Add (f, two)", None),
    ("q = Sub (i, k) s = Max (q, low) e = Add (i, one)", None),
    ("s = Sub (i, one) e = Add (i, k)", None),
    ("s = Sub (i, k) e = Add (i, one)", None),
    ("s = Identity (i) d = Mul (i, two) e = Add (d, k)", None),
    ("s = Identity (i) d = Gather (ks, i) e = Add (i, d)", None),
    ("s = Identity (i) d = Gather (ks, i) f = Add (i, k) e = Min (f, d)", None),
]


@pytest.mark.sample(12)
@pytest.mark.parametrize(("body", "kind"), KINDS)
def test_kinds(body, kind, monkeypatch):
    found = []

    def read(*arguments):
        found.append(bounds_kind(*arguments))
        return found[-1]

    monkeypatch.setattr(gather_batching, "bounds_kind", read)
    vectorized(as_model(TEXT.format(body=body)))
    assert found[:1] == [kind]
