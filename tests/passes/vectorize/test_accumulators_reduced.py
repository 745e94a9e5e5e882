"""Buffers of which each iteration adds to one place."""

import numpy as np
import pytest
from harness import HEAD, as_model
from loops import op_types
from vectorized import assert_same, vectorized

LOOP = """g (float[N] x, float[N, 2] r, int64[N] p, float[{size}] h0, int64 n) => (float[{size}] h)
        <bool yes = {{1}}, int64[1] a = {{0}}, int64[2] b = {{0, 1}}, int64[1] two = {{2}},
        int64[1] one_v = {{1}}, int64 one_s = {{1}}, int64 two_s = {{2}}> {{
    h = Loop (n, yes, h0) <body = b1 (int64 i, bool c, float[{size}] s)
            => (bool c2, float[{size}] t) {{
        c2 = Identity (c) e = Gather (x, i) j = Gather (p, i) row = Gather (r, i) {body} }}> }}"""
AT = "j1 = Unsqueeze (j, a) at = Unsqueeze (j1, a)"
SPAN = """i1 = Unsqueeze (i, a) i2 = Add (i1, two) j2 = Add (i1, one_v) r1 = Unsqueeze (row, a)
    first = Unsqueeze (i1, a) second = Unsqueeze (j2, a) at = Concat <axis = 0> (first, second)"""
BODIES = {
    "a ScatterND": ("4", f"{AT} o = Gather (s, j) w = Add (o, e) u = Unsqueeze (w, a)"
        " t = ScatterND (s, at, u)"),
    "the element first": ("4", f"{AT} o = Gather (s, j) w = Add (e, o) u = Unsqueeze (w, a)"
        " t = ScatterND (s, at, u)"),
    "rows": ("4, 2", f"{AT} o = Gather (s, j) w = Add (o, row) u = Unsqueeze (w, a)"
        " t = ScatterND (s, at, u)"),
    "rows of an open size": ("4, W", f"{AT} o = Gather (s, j) w = Add (o, row)"
        " u = Unsqueeze (w, a) t = ScatterND (s, at, u)"),
    "a reduction": ("4", f"{AT} u = Unsqueeze (e, a)"
        ' t = ScatterND <reduction = "add"> (s, at, u)'),
    "elements": ("4", "j1 = Unsqueeze (j, a) o = GatherElements (s, j1) u = Unsqueeze (e, a)"
        " w = Add (o, u) t = ScatterElements (s, j1, w)"),
    "a scalar": ("4", "j1 = Unsqueeze (j, a) o = Gather (s, j1) w = Add (o, e)"
        " t = ScatterElements (s, j1, w)"),
    "elements of rows": ("4, 2", "j1 = Unsqueeze (j, b) j2 = Tile (j1, k) u = Unsqueeze (row, a)"
        ' t = ScatterElements <reduction = "add"> (s, j2, u)'),
    "rows that overlap": ("10, 2", f"{SPAN} o = Slice (s, i1, i2, a)"
        " rows = Concat <axis = 0> (r1, r1) w = Add (o, rows) t = ScatterND (s, at, w)"),
    "elements that overlap": ("10", f"{SPAN} o = GatherND (s, at) w = Add (row, o)"
        " t = ScatterND (s, at, w)"),
    "places beside each other": ("18", "q = Mul (i, two_s) q1 = Add (q, one_s)"
        " i1 = Unsqueeze (q, a) i2 = Add (i1, two) m = Unsqueeze (i1, a) n1 = Unsqueeze (q1, b)"
        " at = Concat <axis = 0> (m, n1) o = Slice (s, i1, i2) w = Mul (row, o)"
        " t = ScatterND (s, at, w)"),
    "frames that overlap": ("10", "i1 = Unsqueeze (i, a) iv = Add (i1, b)"
        ' t = ScatterElements <reduction = "add"> (s, iv, row)'),
    "the last frames": ("4, 2", "i1 = Mod (i, k4) i2 = Unsqueeze (i1, b) i3 = Sub (i2, k2x2)"
        " u = Unsqueeze (row, a) w = Concat <axis = 0> (u, u) t = ScatterElements (s, i3, w)"),
    "the last write": ("4", f"{AT} u = Unsqueeze (e, a) t = ScatterND (s, at, u)"),
    "the last row": ("4, W", f"{AT} u = Unsqueeze (row, a) t = ScatterND (s, at, u)"),
    "the last of rows at any places": ("4, 2", f"{AT} at3 = Mod (at, two) r1 = Unsqueeze (row, a)"
        " at2 = Concat <axis = 0> (at3, two2) u = Concat <axis = 0> (r1, r1)"
        " t = ScatterND (s, at2, u)"),
    "the last element": ("4", "j1 = Unsqueeze (j, a) u = Unsqueeze (e, a)"
        " t = ScatterElements (s, j1, u)"),
    "the last elements of columns": ("2, 4", "j1 = Unsqueeze (j, b) j2 = Tile (j1, k2)"
        " u = Unsqueeze (row, one_v) t = ScatterElements <axis = 1> (s, j2, u)"),
    "the last write that a condition lets in": ("4", f"{AT} u = Unsqueeze (e, a) z = Sub (e, e)"
        " f = Greater (e, z) v = ScatterND (s, at, u) t = Where (f, v, s)"),
}  # fmt: skip
PLACES = np.array([1, 1, -1, 3, 1, 0, 2, -4, 1], np.int64)


def model_of(size, body, opset=18):
    head = HEAD.replace('"" : 17', f'"" : {opset}')
    text = LOOP.format(size=size, body=body.replace("(j1, k)", "(j1, k)"))
    more = "int64[2] k = {1, 2}, int64[2] k2 = {2, 1}, int64[1,1] two2 = {3}, int64 k4 = {4},"
    more += " int64[2,2] k2x2 = {0, 0, 1, 1}, int64[1] two"
    return as_model(head + text.replace("int64[1] two", more))


@pytest.mark.parametrize("case", BODIES)
def test_one_operator_combines_all_places(case):
    size, body = BODIES[case]
    model = model_of(size, body)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    types = [node.op_type for node in result.model.graph.node]
    assert "ScatterElements" in types and "ScatterND" not in types
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 9):
        sizes = [int(d) for d in size.replace("W", "2").split(",")]
        feed = {
            "x": rng.normal(size=9).astype(np.float32),
            "r": rng.normal(size=(9, 2)).astype(np.float32),
            "p": PLACES,
            "h0": rng.normal(size=sizes).astype(np.float32),
            "n": np.array(n),
        }
        assert_same(model, result.model, feed, exact=True)


KEPT = {
    "elements of another size": f"{SPAN} o = Slice (s, i1, i2, a) w = Add (o, e)"
    " t = ScatterND (s, at, w)",
    "another span": f"{SPAN} o = Slice (s, a, two, a) w = Add (o, row) t = ScatterND (s, at, w)",
    "a span that moves faster": f"{SPAN} q = Mul (i1, two) q2 = Add (q, two)"
    " o = Slice (s, q, q2, a) w = Add (o, row) t = ScatterND (s, at, w)",
    "another place": f"{AT} o = Gather (s, i) w = Add (o, e) u = Unsqueeze (w, a)"
    " t = ScatterND (s, at, u)",
    "read elsewhere": f"{AT} o = Gather (s, j) w = Add (o, e) v = Mul (w, o) u = Unsqueeze (v, a)"
    " t = ScatterND (s, at, u)",
    "twice the place": f"{AT} o = Gather (s, j) w = Add (o, o) u = Unsqueeze (w, a)"
    " t = ScatterND (s, at, u)",
    "a greatest of floats, which may be NaN": f"{AT} o = Gather (s, j) w = Max (o, e)"
    " u = Unsqueeze (w, a) t = ScatterND (s, at, u)",
    "a difference": f"{AT} o = Gather (s, j) w = Sub (e, o) u = Unsqueeze (w, a)"
    " t = ScatterND (s, at, u)",
    "two places": "j1 = Unsqueeze (j, a) at = Concat <axis = 0> (j1, j1)"
    " o = GatherElements (s, at) u = Expand (e, two) w = Add (o, u)"
    " t = ScatterElements (s, at, w)",
    "the buffer": f"{AT} o = Gather (s, j) m = ReduceMax <keepdims = 0> (s) w = Add (o, m)"
    " u = Unsqueeze (w, a) t = ScatterND (s, at, u)",
}


@pytest.mark.parametrize("case", KEPT)
def test_near_misses(case):
    assert "Loop" in op_types(vectorized(model_of("4", KEPT[case])).model.graph)


def test_the_last_write_to_a_part_of_each_row():
    body = "j1 = Unsqueeze (j, b) u = Unsqueeze (e, b) t = ScatterElements (s, j1, u)"
    assert "Loop" in op_types(vectorized(model_of("4, 2", body)).model.graph)


@pytest.mark.parametrize("case, opset", [("a ScatterND", 15), ("the last write", 17)])
def test_an_older_opset_has_no_such_scatter(case, opset):
    body = BODIES[case][1]
    assert "Loop" in op_types(vectorized(model_of("4", body, opset=opset)).model.graph)


def test_greatest_integers():
    text = LOOP.format(
        size="4",
        body=f"{AT} o = Gather (s, j) w = Max (o, k) u = Unsqueeze (w, a) t = ScatterND (s, at, u)",
    )
    text = text.replace("float[4]", "int64[4]").replace(
        "e = Gather", "k = Gather (p, i) e = Gather"
    )
    for opset in (17, 18):
        model = as_model(text, opset)
        result = vectorized(model)
        assert ("Loop" in op_types(result.model.graph)) is (opset == 17)
        for n in (0, 1, 9):
            feed = {"x": np.zeros(9, np.float32), "r": np.zeros((9, 2), np.float32), "p": PLACES}
            feed |= {"h0": np.array([1, -2, 0, 3]), "n": np.array(n)}
            assert_same(model, result.model, feed, exact=True)
