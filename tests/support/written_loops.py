"""Loops as people write them, in the forms that exporters give them.

Each loop has a kind and a name, a model with an open length, and feeds by length.
"""

import re
import zlib
from typing import NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper

FAR = np.iinfo(np.int64).max
CONSTANTS = {
    "zero": np.int64(0),
    "one": np.int64(1),
    "two": np.int64(2),
    "minus": np.int64(-1),
    "v0": np.array([0]),
    "v1": np.array([1]),
    "v2": np.array([2]),
    "v3": np.array([3]),
    "v11": np.array([1, 1]),
    "vm": np.array([-1]),
    "far": np.array([FAR]),
    "most": np.int64(FAR),
    "yes": np.bool_(True),
    "f0": np.float32(0),
    "f1": np.float32(1),
    "half": np.float32(0.5),
    "decay": np.float32(0.9),
    "quarter": np.float32(0.25),
    "fmin": np.float32(-3e38),
    "win": np.array([4]),
    "n_hop": np.int64(2),
    "n_win": np.int64(4),
}
LENGTH = "shape = Shape (x) length = Gather <axis = 0> (shape, zero)"
CASES = []


class Case(NamedTuple):
    """A loop: its kind, its name, its model, and the function of a length that returns feeds."""

    kind: str
    name: str
    model: onnx.ModelProto
    feeds: object


def weights(name, **shapes):
    """Small float32 weights by name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return {key: (rng.normal(size=shape) * 0.4).astype(np.float32) for key, shape in shapes.items()}


def rng(length):
    return np.random.default_rng(length + 11)


def rows(length):
    return {"x": rng(length).normal(size=(length, 3)).astype(np.float32)}


def vector(length):
    return {"x": rng(length).normal(size=length).astype(np.float32)}


def batch(length):
    return {"x": rng(length).normal(size=(2, length, 3)).astype(np.float32)}


def columns(length):
    return {"x": rng(length).normal(size=(2, length)).astype(np.float32)}


def masked(length):
    return {**rows(length), "m": rng(length + 1).random(length) < 0.5}


def signal(length):
    return {"x": rng(length).normal(size=2 * length + 2).astype(np.float32)}


def sequence(length):
    return {"x": rng(length).normal(size=(length, 2, 3)).astype(np.float32)}


def case(
    kind,
    name,
    states=(),
    body="",
    scans=(),
    *,
    inputs="float[T, 3] x",
    outputs,
    before="",
    after="",
    style="torch",
    count="length",
    length=LENGTH,
    feeds=rows,
    w=None,
):
    """Add a Loop, for a count ("torch") or while a counter is below one ("tf").

    Args:
        states: name, type and initial value of each state; the next value has the suffix _n, the
            final one _end.
        scans: value, type and outer name of each scan output.
        before, after: nodes around the Loop.
    """
    arguments = "".join(f", {kind} {state}" for state, kind, _ in states)
    results = "".join(f", {kind} {state}_n" for state, kind, _ in states)
    results += "".join(f", {kind} {value}" for value, kind, _ in scans)
    finals = ", ".join([*(f"{state}_end" for state, *_ in states), *(outer for *_, outer in scans)])
    initial = "".join(f", {value}" for *_, value in states)
    if style == "torch":
        loop = f"""{finals} = Loop ({count}, yes{initial}) <body = step (int64 i, bool c{arguments})
            => (bool c2{results}) {{ c2 = Identity (c) {body} }}>"""
    else:
        loop = f"""begin = Less (zero, {count}) k_end, {finals} = Loop (most, begin, zero{initial})
            <body = step (int64 it, bool c, int64 i{arguments}) => (bool c2, int64 i_n{results}) {{
            i_n = Add (i, one) {body} c2 = Less (i_n, {count}) }}>"""
    add(kind, name, f"({inputs}) => ({outputs}) {{ {length} {before} {loop} {after} }}", feeds, w)


def add(kind, name, text, feeds, w=None):
    """Add a model, with the constants that its text names."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> main {text}')
    words = set(re.findall(r"\w+", text))
    for key, array in {**CONSTANTS, **(w or {})}.items():
        if key in words:
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), key))
    CASES.append(Case(kind, name, model, feeds))


LEN1 = LENGTH.replace("zero", "one")
# fmt: off

# Slices assigned and concatenated -----------------------------------------------------------------

A = "slices"
ROW = "e = Gather <axis = 0> (x, i) g = Tanh (e)"
BUF = "buffer = ConstantOfShape (shape)"
UP = "i1 = Unsqueeze (i, v0) j1 = Add (i1, v1)"
UP2 = "j = Add (i, one) i1 = Reshape (i, vm) j1 = Unsqueeze (j, v0)"
S = [("s", "float[T, 3]", "buffer")]
OUT = "float[T, 3] s_end"
for style in ("torch", "tf"):
    case(A, f"assign_concat_{style}", S, f"{ROW} {UP} a = Slice (s, v0, i1, v0, v1) r = "
        "Unsqueeze (g, v0) z = Slice (s, j1, far, v0, v1) s_n = Concat <axis = 0> (a, r, z)",
        outputs=OUT, before=BUF, style=style)
case(A, "assign_concat_end_is_length", S, f"{ROW} {UP2} n1 = Unsqueeze (length, v0) a = Slice "
    "(s, v0, i1, v0) r = Unsqueeze (g, v0) z = Slice (s, j1, n1, v0) s_n = Concat <axis = 0> "
    "(a, r, z)", outputs=OUT, before=BUF)
case(A, "assign_column_concat", [("s", "float[2, T]", "buffer")], "e = Gather <axis = 1> (x, "
    f"i) g = Tanh (e) {UP} a = Slice (s, v0, i1, v1) r = Unsqueeze (g, v1) z = Slice (s, j1, "
    "far, v1) s_n = Concat <axis = 1> (a, r, z)", inputs="float[2, T] x", outputs=
    "float[2, T] s_end", before=BUF, length=LEN1, feeds=columns)
case(A, "assign_middle_axis_concat", [("s", "float[2, T, 3]", "buffer")],
    f"e = Gather <axis = 1> (x, i) g = Tanh (e) {UP} a = Slice (s, v0, i1, v1) r = Unsqueeze "
    "(g, v1) z = Slice (s, j1, far, v1) s_n = Concat <axis = 1> (a, r, z)", inputs=
    "float[2, T, 3] x", outputs="float[2, T, 3] s_end", before=BUF, length=LEN1, feeds=batch)
case(A, "assign_scatter_1", S, f"{ROW} {UP} s_n = ScatterND (s, i1, g)", outputs=OUT, before=BUF)
case(A, "assign_range_scatter", S, f"{ROW} j = Add (i, one) p = Range (i, j, one) q = "
    "Unsqueeze (p, vm) r = Unsqueeze (g, v0) s_n = ScatterND (s, q, r)", outputs=OUT, before=BUF)
case(A, "assign_where_mask", S, f"{ROW} p = Range (zero, length, one) q = Equal (p, i) m = "
    "Unsqueeze (q, v1) r = Unsqueeze (g, v0) s_n = Where (m, r, s)", outputs=OUT, before=BUF)
case(A, "assign_transposed", [("s", "float[2, T, 3]", "buffer")], "e = Gather <axis = 1> (x, "
    "i) g = Tanh (e) t = Transpose <perm = [1, 0, 2]> (s) ix = Reshape (i, v11) r = Unsqueeze "
    "(g, v0) u = ScatterND (t, ix, r) s_n = Transpose <perm = [1, 0, 2]> (u)", inputs=
    "float[2, T, 3] x", outputs="float[2, T, 3] s_end", before=BUF, length=LEN1, feeds=batch)
case(A, "assign_backward", S, f"{ROW} k = Sub (length, i) k1 = Sub (k, one) q = Reshape (k1, "
    "v11) r = Unsqueeze (g, v0) s_n = ScatterND (s, q, r)", outputs=OUT, before=BUF)
case(A, "assign_backward_concat", S, f"{ROW} b = Sub (length, i) b1 = Unsqueeze (b, v0) a1 = "
    "Sub (b1, v1) a = Slice (s, v0, a1, v0) r = Unsqueeze (g, v0) z = Slice (s, b1, far, v0) "
    "s_n = Concat <axis = 0> (a, r, z)", outputs=OUT, before=BUF)
case(A, "assign_two_rows_block_concat", [("s", "float[M, 3]", "buffer")],
    f"{ROW} k = Mul (i, two) k1 = Unsqueeze (k, v0) l1 = Add (k1, v2) a = Slice (s, v0, k1, "
    "v0) r = Unsqueeze (g, v0) n = Neg (r) z = Slice (s, l1, far, v0) s_n = Concat <axis = 0> "
    "(a, r, n, z)", outputs="float[M, 3] s_end", before="len2 = Mul (length, two) len21 = "
    "Unsqueeze (len2, v0) sh2 = Concat <axis = 0> (len21, v3) buffer = ConstantOfShape (sh2)")
case(A, "assign_in_place_times_two", [("s", "float[T, 3]", "x")], f"{UP} e = Slice (s, i1, j1, "
    "v0) g = Tanh (e) a = Slice (s, v0, i1, v0) z = Slice (s, j1, far, v0) s_n = Concat <axis "
    "= 0> (a, g, z)", outputs=OUT)
case(A, "assign_into_padded", [("s", "float[M, 3]", "buffer")], f"{ROW} {UP} ix = Unsqueeze "
    "(j1, v0) r = Unsqueeze (g, v0) s_n = ScatterND (s, ix, r)", outputs="float[M, 3] s_end",
    before="len2 = Add (length, one) len21 = Unsqueeze (len2, v0) sh2 = Concat <axis = 0> "
    "(len21, v3) buffer = ConstantOfShape (sh2)")
case(A, "assign_part_of_row", S, f"{ROW} h2 = Slice (g, v0, v2) ii = Expand (i, v2) cc = Range "
    "(zero, two, one) iu = Unsqueeze (ii, v1) cu = Unsqueeze (cc, v1) ix = Concat <axis = 1> "
    "(iu, cu) s_n = ScatterND (s, ix, h2)", outputs=OUT, before=BUF)
case(A, "grow_columns", [("s", "float[2, N]", "nothing")], "e = Gather <axis = 1> (x, i) g = "
    "Tanh (e) r = Unsqueeze (g, v1) s_n = Concat <axis = 1> (s, r)", inputs="float[2, T] x",
    outputs="float[2, N] s_end", before="sh0 = Constant <value_ints = [2, 0]> () nothing = "
    "ConstantOfShape (sh0)", length=LEN1, feeds=columns)
case(A, "assign_split_concat", S, f"{ROW} {UP} k = Sub (length, i) k1 = Sub (k, one) k2 = "
    "Unsqueeze (k1, v0) sizes = Concat <axis = 0> (i1, v1, k2) a, old, z = Split <axis = 0> "
    "(s, sizes) r = Unsqueeze (g, v0) s_n = Concat <axis = 0> (a, r, z)", outputs=OUT, before=BUF)
case(A, "assign_scalar_vector", [("s", "float[T]", "buffer")], "e = Gather <axis = 0> (x, i) "
    f"g = Tanh (e) {UP} a = Slice (s, v0, i1) r = Reshape (g, vm) z = Slice (s, j1, far) s_n = "
    "Concat <axis = 0> (a, r, z)", inputs="float[T] x", outputs="float[T] s_end", before=BUF,
    feeds=vector)

# Rows that read the one before ------------------------------------------------------------------

B = "previous"
IX = "ix = Reshape (i, v11)"
PAD = ("len2 = Add (length, one) len21 = Unsqueeze (len2, v0) sh2 = Concat <axis = 0> (len21, "
    "v3) buffer = ConstantOfShape (sh2)")
M = [("s", "float[M, 3]", "buffer")]
OM = "float[M, 3] s_end"
case(B, "prev_scatter", S, "e = Gather <axis = 0> (x, i) k = Sub (i, one) p = Gather <axis = "
    f"0> (s, k) v = Add (p, e) {IX} r = Unsqueeze (v, v0) s_n = ScatterND (s, ix, r)", outputs=
    OUT, before=BUF)
for style in ("torch", "tf"):
    case(B, f"prev_padded_{style}", M, "e = Gather <axis = 0> (x, i) p = Gather <axis = 0> (s, "
        "i) v = Add (p, e) j = Add (i, one) ix = Reshape (j, v11) r = Unsqueeze (v, v0) s_n = "
        "ScatterND (s, ix, r)", outputs=OM, before=PAD, style=style)
case(B, "prev_padded_concat", M, f"e = Gather <axis = 0> (x, i) {UP} k1 = Add (i1, v2) p = "
    "Slice (s, i1, j1, v0) v = Add (p, e) a = Slice (s, v0, j1, v0) z = Slice (s, k1, far, "
    "v0) s_n = Concat <axis = 0> (a, v, z)", outputs=OM, before=PAD)
case(B, "prev_from_one", [("s", "float[T, 3]", "x")], "j = Add (i, one) e = Gather <axis = 0> "
    "(x, j) p = Gather <axis = 0> (s, i) v = Add (p, e) ix = Reshape (j, v11) r = Unsqueeze "
    "(v, v0) s_n = ScatterND (s, ix, r)", outputs=OUT, count="rest", before=
    "rest = Sub (length, one)")
case(B, "prev_in_place", [("s", "float[T, 3]", "x")], "j = Add (i, one) e = Gather <axis = 0> "
    "(s, j) p = Gather <axis = 0> (s, i) v = Add (p, e) ix = Reshape (j, v11) r = Unsqueeze "
    "(v, v0) s_n = ScatterND (s, ix, r)", outputs=OUT, count="rest", before=
    "rest = Sub (length, one)")
case(B, "prev_in_place_concat", [("s", "float[T, 3]", "x")], f"{UP} k1 = Add (i1, v2) e = "
    "Slice (s, j1, k1, v0) p = Slice (s, i1, j1, v0) v = Add (p, e) a = Slice (s, v0, j1, v0) "
    "z = Slice (s, k1, far, v0) s_n = Concat <axis = 0> (a, v, z)", outputs=OUT, count="rest",
    before="rest = Sub (length, one)")
case(B, "prev_if_first", S, "e = Gather <axis = 0> (x, i) q = Greater (i, zero) v = If (q) "
    f"<then_branch = th () => (float[3] a) {{ k = Sub (i, one) p = Gather <axis = 0> (s, k) a "
    f"= Add (p, e) }}, else_branch = el () => (float[3] b) {{ b = Identity (e) }}> {IX} r = "
    "Unsqueeze (v, v0) s_n = ScatterND (s, ix, r)", outputs=OUT, before=BUF)
case(B, "prev_where_first", S, "e = Gather <axis = 0> (x, i) q = Equal (i, zero) k = Sub (i, "
    f"one) p = Gather <axis = 0> (s, k) u = Add (p, e) v = Where (q, e, u) {IX} r = Unsqueeze "
    "(v, v0) s_n = ScatterND (s, ix, r)", outputs=OUT, before=BUF)
case(B, "prev_decay", M, "e = Gather <axis = 0> (x, i) p = Gather <axis = 0> (s, i) d = Mul "
    "(p, decay) v = Add (d, e) j = Add (i, one) ix = Reshape (j, v11) r = Unsqueeze (v, v0) "
    "s_n = ScatterND (s, ix, r)", outputs=OM, before=PAD)
case(B, "prev_max", M, "e = Gather <axis = 0> (x, i) p = Gather <axis = 0> (s, i) v = Max (p, "
    "e) j = Add (i, one) ix = Reshape (j, v11) r = Unsqueeze (v, v0) s_n = ScatterND (s, ix, r)",
    outputs=OM, before=PAD)
case(B, "prev_column_scatter", [("s", "float[2, M]", "buffer")], "e = Gather <axis = 1> (x, i) "
    "p = Gather <axis = 1> (s, i) v = Add (p, e) j = Add (i, one) je = Expand (j, v2) ju = "
    "Unsqueeze (je, v1) ru = Range (zero, two, one) rr = Unsqueeze (ru, v1) ix = Concat <axis "
    "= 1> (rr, ju) s_n = ScatterND (s, ix, v)", inputs="float[2, T] x", outputs=
    "float[2, M] s_end", before="len2 = Add (length, one) len21 = Unsqueeze (len2, v0) sh2 = "
    "Concat <axis = 0> (v2, len21) buffer = ConstantOfShape (sh2)", length=LEN1, feeds=columns)
PAD2 = ("len2 = Add (length, two) len21 = Unsqueeze (len2, v0) sh2 = Concat <axis = 0> (len21, "
    "v3) buffer = ConstantOfShape (sh2)")
case(B, "prev_two_back", M, "e = Gather <axis = 0> (x, i) j = Add (i, one) k = Add (i, two) p "
    "= Gather <axis = 0> (s, i) q = Gather <axis = 0> (s, j) pq = Mul (p, quarter) qh = Mul "
    "(q, half) u = Add (pq, qh) v = Add (u, e) ix = Reshape (k, v11) r = Unsqueeze (v, v0) s_n "
    "= ScatterND (s, ix, r)", outputs=OM, before=PAD2)
case(B, "prev_robber", M, "e = Gather <axis = 0> (x, i) j = Add (i, one) k = Add (i, two) p = "
    "Gather <axis = 0> (s, i) q = Gather <axis = 0> (s, j) u = Add (p, e) v = Max (u, q) ix = "
    "Reshape (k, v11) r = Unsqueeze (v, v0) s_n = ScatterND (s, ix, r)", outputs=OM, before=PAD2)
case(B, "prev_backward_returns", M, "k = Sub (length, i) k1 = Sub (k, one) e = Gather <axis = "
    "0> (x, k1) p = Gather <axis = 0> (s, k) d = Mul (p, decay) v = Add (d, e) ix = Reshape "
    "(k1, v11) r = Unsqueeze (v, v0) s_n = ScatterND (s, ix, r)", outputs=OM, before=PAD)
case(B, "prev_list_last", [("s", "seq(float[3])", "start")], "e = Gather <axis = 0> (x, i) p = "
    "SequenceAt (s, minus) v = Add (p, e) s_n = SequenceInsert (s, v)", outputs="float[M, 3] y",
    before="first = ConstantOfShape (v3) start = SequenceConstruct (first)", after=
    "y = ConcatFromSequence <axis = 0, new_axis = 1> (s_end)")
case(B, "prev_list_at_i", [("s", "seq(float[3])", "start")], "e = Gather <axis = 0> (x, i) p = "
    "SequenceAt (s, i) v = Add (p, e) s_n = SequenceInsert (s, v)", outputs="float[M, 3] y",
    before="first = ConstantOfShape (v3) start = SequenceConstruct (first)", after=
    "y = ConcatFromSequence <axis = 0, new_axis = 1> (s_end)")
case(B, "prev_grow_last", [("s", "float[N, 3]", "first")], "e = Gather <axis = 0> (x, i) p = "
    "Slice (s, vm, far, v0) v = Add (p, e) s_n = Concat <axis = 0> (s, v)", outputs=
    "float[M, 3] s_end", before="s13 = Constant <value_ints = [1, 3]> () first = "
    "ConstantOfShape (s13)")
case(B, "prev_grow_at_i", [("s", "float[N, 3]", "first")], "e = Gather <axis = 0> (x, i) p = "
    "Gather <axis = 0> (s, i) v = Add (p, e) r = Unsqueeze (v, v0) s_n = Concat <axis = 0> (s, "
    "r)", outputs="float[M, 3] s_end", before="s13 = Constant <value_ints = [1, 3]> () first = "
    "ConstantOfShape (s13)")
case(B, "prev_two_buffers_trend", [("s", "float[M, 3]", "buffer"), ("b", "float[M, 3]", "buffer")
    ], "e = Gather <axis = 0> (x, i) ps = Gather <axis = 0> (s, i) pb = Gather <axis = 0> (b, "
    "i) sb = Add (ps, pb) h1 = Mul (sb, half) h2 = Mul (e, half) v = Add (h1, h2) d = Sub (v, "
    "ps) d1 = Mul (d, quarter) d2 = Mul (pb, half) u = Add (d1, d2) j = Add (i, one) ix = "
    "Reshape (j, v11) r = Unsqueeze (v, v0) s_n = ScatterND (s, ix, r) r2 = Unsqueeze (u, v0) "
    "b_n = ScatterND (b, ix, r2)", outputs=OM + ", float[M, 3] b_end", before=PAD)
case(B, "prev_scalar_scatter_1", [("s", "float[M]", "buffer")], "e = Gather <axis = 0> (x, i) "
    "p = Gather <axis = 0> (s, i) v = Add (p, e) j = Add (i, one) ix = Reshape (j, vm) s_n = "
    "ScatterND (s, ix, v)", inputs="float[T] x", outputs="float[M] s_end", before=
    "len2 = Add (length, one) len21 = Unsqueeze (len2, v0) buffer = ConstantOfShape (len21)",
    feeds=vector)

REST = "rest = Sub (length, one)"
for what, first in {"zeros": BUF, "x": "buffer = Identity (x)"}.items():
    case(B, f"prev_slices_of_both_{what}", S, f"{UP} k1 = Add (i1, v2) p = Slice (s, i1, j1, v0) "
        "e = Slice (x, j1, k1, v0) v = Add (e, p) a = Slice (s, v0, j1, v0) z = Slice (s, k1, far, "
        "v0) s_n = Concat <axis = 0> (a, v, z)", outputs=OUT, count="rest",
        before=f"{REST} {first}")
for what, index in {
    "max": "k = Max (zero, h)",
    "clip": "k = Clip (h, zero)",
    "where": "q = Less (h, zero) k = Where (q, zero, h)",
}.items():
    case(B, f"prev_or_first_{what}", S, f"e = Gather <axis = 0> (x, i) h = Sub (i, one) {index} "
        f"p = Gather <axis = 0> (s, k) d = Mul (p, decay) v = Add (d, e) {IX} r = Unsqueeze (v, v0)"
        " s_n = ScatterND (s, ix, r)", outputs=OUT, before=BUF)
case(B, "prev_grow_from_first", [("s", "float[N, 3]", "first")], "j = Add (i, one) e = Gather "
    "<axis = 0> (x, j) p = Gather <axis = 0> (s, minus) v = Add (p, e) r = Unsqueeze (v, v0) s_n = "
    "Concat <axis = 0> (s, r)", outputs="float[M, 3] s_end", count="rest", before=
    f"{REST} first = Slice (x, v0, v1, v0)")

# Lists, windows and counters ----------------------------------------------------------------------

L = "lists"
PARTS = "parts = SplitToSequence <axis = 0> (x{0}) count = SequenceLength (parts)"
for what, size in {"kept": "", "of_one": ", one"}.items():
    case(L, f"split_{what}", [], "e = SequenceAt (parts, i) g = Softmax <axis = -1> (e) r = "
        "Squeeze (g, v0)", [("r", "float[3]", "ys")], outputs="float[N, 3] ys",
        before=PARTS.format(size), count="count")
    case(L, f"split_{what}_sum", [("s", "float[1, 3]", "start")], "e = SequenceAt (parts, i) s_n = "
        "Add (s, e)", outputs="float[1, 3] s_end", before=PARTS.format(size) + " sh13 = Constant "
        "<value_ints = [1, 3]> () start = ConstantOfShape (sh13)", count="count")
for reduction in ("Mean", "Max"):
    for what, low in {"max": "l = Max (k, zero)", "clip": "l = Clip (k, zero)"}.items():
        case(L, f"window_{what}_{reduction}", [], f"k = Sub (i, two) {low} h = Add (i, one) lv = "
            "Unsqueeze (l, v0) hv = Unsqueeze (h, v0) w = Slice (x, lv, hv, v0) r = "
            f"Reduce{reduction} <axes = [0], keepdims = 0> (w)", [("r", "float[3]", "ys")],
            outputs="float[N, 3] ys")
for what, test in {"least": "GreaterOrEqual (k_n, zero)", "beyond": "Less (minus, k_n)"}.items():
    add(L, f"falling_{what}", f"""(float[T, 3] x) => (float[3] y) {{ {LENGTH}
        some = Greater (length, zero) last = Sub (length, one) z3 = ConstantOfShape (v3)
        y, end = Loop (, some, z3, last) <body = step (int64 i, bool c, float[3] s, int64 k)
            => (bool c2, float[3] s_n, int64 k_n) {{ e = Gather <axis = 0> (x, k)
            d = Mul (s, decay) s_n = Add (d, e) k_n = Sub (k, one) c2 = {test} }}> }}""", rows)

# Two rows an iteration ----------------------------------------------------------------------------

C = "two rows"
TWO = ("k = Mul (i, two) l = Add (k, one) e = Gather <axis = 0> (x, k) f = Gather <axis = 0> "
    "(x, l)")
HALF = "rest = Div (length, two)"
Z3 = "z3 = ConstantOfShape (v3)"
for style in ("torch", "tf"):
    case(C, f"two_writes_{style}", S, f"{TWO} g = Tanh (e) h = Tanh (f) ka = Reshape (k, v11) "
        "la = Reshape (l, v11) ga = Unsqueeze (g, v0) ha = Unsqueeze (h, v0) s1 = ScatterND "
        "(s, ka, ga) s_n = ScatterND (s1, la, ha)", outputs=OUT, before=HALF + " " + BUF,
        count="rest", style=style)
    case(C, f"two_list_inserts_{style}", [("s", "seq(float[3])", "start")],
        f"{TWO} g = Tanh (e) h = Tanh (f) s1 = SequenceInsert (s, g) s_n = SequenceInsert (s1, "
        "h)", outputs="float[N, 3] y", before=HALF + " one_row = ConstantOfShape (v3) start = "
        "SequenceConstruct (one_row)", after="y = ConcatFromSequence <axis = 0, new_axis = 1> "
        "(s_end)", count="rest", style=style)
case(C, "two_sum", [("s", "float[3]", "z3")], f"{TWO} s1 = Add (s, e) s_n = Add (s1, f)", outputs=
    "float[3] s_end", before=HALF + " " + Z3, count="rest")
case(C, "two_max", [("s", "float[3]", "z3")], f"{TWO} s1 = Max (s, e) s_n = Max (s1, f)", outputs=
    "float[3] s_end", before=HALF + " " + Z3, count="rest")
case(C, "two_grow", [("s", "float[N, 3]", "nothing")], f"{TWO} g = Tanh (e) h = Tanh (f) ga = "
    "Unsqueeze (g, v0) ha = Unsqueeze (h, v0) s_n = Concat <axis = 0> (s, ga, ha)", outputs=
    "float[N, 3] s_end", before=HALF + " s03 = Constant <value_ints = [0, 3]> () nothing = "
    "ConstantOfShape (s03)", count="rest")
case(C, "two_grow_twice", [("s", "float[N, 3]", "nothing")], f"{TWO} g = Tanh (e) h = Tanh (f) "
    "ga = Unsqueeze (g, v0) ha = Unsqueeze (h, v0) s1 = Concat <axis = 0> (s, ga) s_n = "
    "Concat <axis = 0> (s1, ha)", outputs="float[N, 3] s_end", before=HALF +
    " s03 = Constant <value_ints = [0, 3]> () nothing = ConstantOfShape (s03)", count="rest")
case(C, "two_steps_decay", [("s", "float[3]", "z3")], f"{TWO} d = Mul (s, decay) s1 = Add (d, "
    "e) d1 = Mul (s1, decay) s_n = Add (d1, f)", [("s1", "float[3]", "ys"), ("s_n", "float[3]",
    "zs")], outputs="float[3] s_end, float[N, 3] ys, float[N, 3] zs", before=HALF + " " + Z3,
    count="rest")
case(C, "two_cumsum_writes", [("a", "float[3]", "z3"), ("s", "float[T, 3]", "buffer")],
    f"{TWO} a1 = Add (a, e) a_n = Add (a1, f) ka = Reshape (k, v11) la = Reshape (l, v11) ga = "
    "Unsqueeze (a1, v0) ha = Unsqueeze (a_n, v0) s1 = ScatterND (s, ka, ga) s_n = ScatterND "
    "(s1, la, ha)", outputs=OUT, before=HALF + " " + Z3 + " " + BUF, count="rest")
case(C, "two_column_slices", [], "k = Mul (i, two) k1 = Unsqueeze (k, v0) l1 = Add (k1, v1) m1 "
    "= Add (k1, v2) a = Slice (x, k1, l1, v1) b = Slice (x, l1, m1, v1) g = Sub (a, b) h = "
    "Squeeze (g, v1)", [("h", "float[2]", "y")], inputs="float[2, T] x", outputs="float[N, 2] y",
    before=HALF, count="rest", length=LEN1, feeds=columns)
case(C, "two_rnn_steps", [("h", "float[2, 4]", "h0")], f"{TWO} a = MatMul (e, wx) b = MatMul "
    "(h, wh) ab = Add (a, b) h1 = Tanh (ab) a2 = MatMul (f, wx) b2 = MatMul (h1, wh) ab2 = "
    "Add (a2, b2) h_n = Tanh (ab2)", [("h1", "float[2, 4]", "ys"), ("h_n", "float[2, 4]", "zs")],
    inputs="float[T, 2, 3] x", outputs="float[2, 4] h_end, float[N, 2, 4] ys, float[N, 2, 4] zs",
    before=HALF + " s24 = Constant <value_ints = [2, 4]> () h0 = ConstantOfShape (s24)",
    count="rest", feeds=sequence, w=weights("rnn2", wx=(3, 4), wh=(4, 4)))
case(C, "two_concat_slices_assign", S, f"{TWO} g = Tanh (e) h = Tanh (f) k1 = Unsqueeze (k, "
    "v0) l1 = Add (k1, v1) m1 = Add (k1, v2) ga = Unsqueeze (g, v0) ha = Unsqueeze (h, v0) a "
    "= Slice (s, v0, k1, v0) z = Slice (s, l1, far, v0) s1 = Concat <axis = 0> (a, ga, z) a2 "
    "= Slice (s1, v0, l1, v0) z2 = Slice (s1, m1, far, v0) s_n = Concat <axis = 0> (a2, ha, "
    "z2)", outputs=OUT, before=HALF + " " + BUF, count="rest")
case(C, "two_swap_pairs", [("s", "float[T, 3]", "x")], "k = Mul (i, two) l = Add (k, one) e = "
    "Gather <axis = 0> (s, k) f = Gather <axis = 0> (s, l) ka = Reshape (k, v11) la = Reshape "
    "(l, v11) ga = Unsqueeze (f, v0) ha = Unsqueeze (e, v0) s1 = ScatterND (s, ka, ga) s_n = "
    "ScatterND (s1, la, ha)", outputs=OUT, before=HALF, count="rest")

case(C, "two_in_place_slices", [("s", "float[T, 3]", "x")], "k = Mul (i, two) k1 = Unsqueeze (k, "
    "v0) l1 = Add (k1, v2) e = Slice (s, k1, l1, v0) g = Tanh (e) a = Slice (s, v0, k1, v0) z = "
    "Slice (s, l1, far, v0) s_n = Concat <axis = 0> (a, g, z)", outputs=OUT, before=HALF,
    count="rest")

# Sums that a condition lets in by If --------------------------------------------------------------

IFS = "if sums"
X1 = "float[T] x"
E = "e = Gather <axis = 0> (x, i) q = Greater (e, f0)"


def iff(cond, names, then, other, types):
    """An If whose branches return these values, with the suffixes _t and _e."""
    first, second = (
        ", ".join(f"{kind} {name}_{end}" for name, kind in zip(names, types, strict=True))
        for end in "te"
    )
    return (f"{', '.join(names)} = If ({cond}) <then_branch = th () => ({first}) {{ {then} }}, "
        f"else_branch = el () => ({second}) {{ {other} }}>")


for style in ("torch", "tf"):
    case(IFS, f"if_scalar_sum_{style}", [("s", "float", "f0")], E + " " + iff("q", ["s_n"],
        "s_n_t = Add (s, e)", "s_n_e = Identity (s)", ["float"]), inputs=X1, outputs=
        "float s_end", feeds=vector, style=style)
MR = "e = Gather <axis = 0> (x, i) q = Gather <axis = 0> (m, i)"
XM = "float[T, 3] x, bool[T] m"
case(IFS, "if_row_sum", [("s", "float[3]", "z3")], MR + " " + iff("q", ["s_n"],
    "s_n_t = Add (s, e)", "s_n_e = Identity (s)", ["float[3]"]), inputs=XM, outputs=
    "float[3] s_end", feeds=masked, before=Z3)
case(IFS, "if_sum_and_count", [("s", "float[3]", "z3"), ("k", "int64", "zero")], MR + " " + iff(
    "q", ["s_n", "k_n"], "s_n_t = Add (s, e) k_n_t = Add (k, one)", "s_n_e = Identity (s) "
    "k_n_e = Identity (k)", ["float[3]", "int64"]), inputs=XM, outputs="float[3] s_end, int64 "
    "k_end", feeds=masked, before=Z3)
case(IFS, "if_two_sums_else", [("s", "float[3]", "z3"), ("t", "float[3]", "z3")], MR + " " + iff(
    "q", ["s_n", "t_n"], "s_n_t = Add (s, e) t_n_t = Identity (t)", "s_n_e = Identity (s) "
    "t_n_e = Sub (t, e)", ["float[3]", "float[3]"]), inputs=XM, outputs="float[3] s_end, "
    "float[3] t_end", feeds=masked, before=Z3)
case(IFS, "if_nested", [("s", "float", "f0")], E + " q2 = Less (e, f1) " + iff("q", ["s_n"],
    "s_n_t = If (q2) <then_branch = th2 () => (float a) { a = Add (s, e) }, else_branch = el2 "
    "() => (float b) { b = Identity (s) }>", "s_n_e = Identity (s)", ["float"]), inputs=X1,
    outputs="float s_end", feeds=vector)
case(IFS, "if_last", [("s", "float[3]", "z3")], MR + " " + iff("q", ["s_n"],
    "s_n_t = Identity (e)", "s_n_e = Identity (s)", ["float[3]"]), inputs=XM, outputs=
    "float[3] s_end", feeds=masked, before=Z3)
case(IFS, "if_reset", [("s", "float[3]", "z3")], MR + " " + iff("q", ["s_n"],
    "s_n_t = Add (s, e)", "s_n_e = Identity (z3)", ["float[3]"]) + " y = Identity (s_n)", [("y",
    "float[3]", "ys")], inputs=XM, outputs="float[3] s_end, float[T, 3] ys", feeds=masked, before=
    Z3)
case(IFS, "if_even", [("s", "float[3]", "z3")], "e = Gather <axis = 0> (x, i) r = Mod (i, two) "
    "q = Equal (r, zero) " + iff("q", ["s_n"], "s_n_t = Add (s, e)", "s_n_e = Sub (s, e)", [
    "float[3]"]), outputs="float[3] s_end", before=Z3)
case(IFS, "if_read_inside", [("s", "float[3]", "z3")], "q = Gather <axis = 0> (m, i) " + iff("q",
    ["s_n"], "e = Gather <axis = 0> (x, i) h = Tanh (e) s_n_t = Add (s, h)",
    "s_n_e = Identity (s)", ["float[3]"]), inputs=XM, outputs="float[3] s_end", feeds=masked,
    before=Z3)
case(IFS, "if_zeros_added", [("s", "float[3]", "z3")], MR + " " + iff("q", ["d"],
    "d_t = Tanh (e)", "d_e = ConstantOfShape (v3)", ["float[3]"]) + " s_n = Add (s, d)", inputs=
    XM, outputs="float[3] s_end", feeds=masked, before=Z3)
case(IFS, "if_append", [("s", "seq(float[3])", "start")], MR + " " + iff("q", ["s_n"],
    "s_n_t = SequenceInsert (s, e)", "s_n_e = Identity (s)", ["seq(float[3])"]), inputs=XM,
    outputs="float[N, 3] y", feeds=masked, before="first = ConstantOfShape (v3) start = "
    "SequenceConstruct (first)", after="y = ConcatFromSequence <axis = 0, new_axis = 1> (s_end)")
case(IFS, "if_append_concat", [("s", "float[N, 3]", "nothing")], MR + " " + iff("q", ["s_n"],
    "r = Unsqueeze (e, v0) s_n_t = Concat <axis = 0> (s, r)", "s_n_e = Identity (s)", [
    "float[N1, 3]"]), inputs=XM, outputs="float[N, 3] s_end", feeds=masked, before=
    "s03 = Constant <value_ints = [0, 3]> () nothing = ConstantOfShape (s03)")
case(IFS, "if_write", S, MR + f" {IX} r = Unsqueeze (e, v0) " + iff("q", ["s_n"],
    "s_n_t = ScatterND (s, ix, r)", "s_n_e = Identity (s)", ["float[T, 3]"]), inputs=XM, outputs=
    OUT, feeds=masked, before=BUF)
add(IFS, "if_scan_sum",
    """(float[T, 3] x, bool[T] m) => (float[3] s_end, float[T, 3] ys) { z3 = ConstantOfShape (v3)
    s_end, ys = Scan <num_scan_inputs = 2, body = b (float[3] s, float[3] e, bool q)
    => (float[3] s_n, float[3] y) { """
    + iff("q", ["s_n"], "s_n_t = Add (s, e)", "s_n_e = Identity (s)", ["float[3]"]) +
    " y = Identity (s_n) }> (z3, x, m) }", masked)

# Frames with a hop --------------------------------------------------------------------------------

F = "frames"
SIG = "float[S] x"
NF = ("shape = Shape (x) size = Gather <axis = 0> (shape, zero) less = Sub (size, n_win) pos = "
    "Div (less, n_hop) length = Add (pos, one)")
FR = ("st = Mul (i, n_hop) st1 = Unsqueeze (st, v0) en1 = Add (st1, win) f = Slice (x, st1, "
    "en1, v0)")
case(F, "frames_plain", [], FR + " y = Identity (f)", [("y", "float[4]", "ys")], inputs=SIG,
    outputs="float[N, 4] ys", length=NF, feeds=signal)
case(F, "frames_list", [("s", "seq(float[4])", "start")], FR + " y = Mul (f, window) s_n = "
    "SequenceInsert (s, y)", inputs=SIG, outputs="float[N, 4] ys", length=NF, feeds=signal, style=
    "tf", before="four = Constant <value_ints = [4]> () row = ConstantOfShape (four) start = "
    "SequenceConstruct (row)", after="ys = ConcatFromSequence <axis = 0, new_axis = 1> (s_end)",
    w=weights("win", window=(4,)))
case(F, "frames_energy", [], FR + " g = Mul (f, window) h = Mul (g, g) y = ReduceSum <keepdims "
    "= 0> (h)", [("y", "float", "ys")], inputs=SIG, outputs="float[N] ys", length=NF, feeds=
    signal, w=weights("win", window=(4,)))
case(F, "frames_matmul", [], FR + " g = Mul (f, window) y = MatMul (g, dft)", [("y", "float[5]",
    "ys")], inputs=SIG, outputs="float[N, 5] ys", length=NF, feeds=signal, w=weights("win",
    window=(4,), dft=(4, 5)))
case(F, "frames_offsets_gather", [], "st = Mul (i, n_hop) offs = Constant <value_ints = [0, 1, "
    "2, 3]> () r = Add (st, offs) f = Gather <axis = 0> (x, r) y = Mul (f, window)", [("y",
    "float[4]", "ys")], inputs=SIG, outputs="float[N, 4] ys", length=NF, feeds=signal, w=weights(
    "win", window=(4,)))
case(F, "frames_counter", [("p", "int64", "zero")], "st1 = Unsqueeze (p, v0) en1 = Add (st1, "
    "win) f = Slice (x, st1, en1, v0) y = ReduceMean <axes = [0], keepdims = 0> (f) p_n = Add "
    "(p, n_hop)", [("y", "float", "ys")], inputs=SIG, outputs="float[N] ys", length=NF, feeds=
    signal)
case(F, "frames_zero_crossings", [], FR + " a = Slice (f, v0, v3, v0) b = Slice (f, v1, win, "
    "v0) p = Mul (a, b) q = Less (p, f0) k = Cast <to = 1> (q) y = ReduceSum <keepdims = 0> (k)",
    [("y", "float", "ys")], inputs=SIG, outputs="float[N] ys", length=NF, feeds=signal)
case(F, "frames_preemphasis", [], FR + " a = Slice (f, v0, v3, v0) b = Slice (f, v1, win, v0) "
    "p = Mul (a, decay) y = Sub (b, p)", [("y", "float[3]", "ys")], inputs=SIG, outputs=
    "float[N, 3] ys", length=NF, feeds=signal)
case(F, "frames_overlap_add_scatter", [("s", "float[S]", "buffer")], "e = Gather <axis = 0> "
    "(x, i) st = Mul (i, n_hop) en = Add (st, n_win) r = Range (st, en, one) ix = Unsqueeze "
    "(r, v1) old = GatherND (s, ix) new = Add (old, e) s_n = ScatterND (s, ix, new)", inputs=
    "float[T, 4] x", outputs="float[S] s_end", feeds=lambda n: {"x": rng(n).normal(size=(n, 4)).
    astype(np.float32)}, before="l2 = Mul (length, n_hop) l3 = Add (l2, two) l4 = Unsqueeze "
    "(l3, v0) buffer = ConstantOfShape (l4)")
case(F, "frames_overlap_add_slices", [("s", "float[S]", "buffer")], "e = Gather <axis = 0> (x, "
    "i) st = Mul (i, n_hop) st1 = Unsqueeze (st, v0) en1 = Add (st1, win) old = Slice (s, st1, "
    "en1, v0) new = Add (old, e) a = Slice (s, v0, st1, v0) z = Slice (s, en1, far, v0) s_n = "
    "Concat <axis = 0> (a, new, z)", inputs="float[T, 4] x", outputs="float[S] s_end", feeds=
    lambda n: {"x": rng(n).normal(size=(n, 4)).astype(np.float32)}, before=
    "l2 = Mul (length, n_hop) l3 = Add (l2, two) l4 = Unsqueeze (l3, v0) buffer = "
    "ConstantOfShape (l4)")
case(F, "frames_overlap_add_rows", [("s", "float[S, 3]", "buffer")], "e = Gather <axis = 0> "
    "(x, i) st = Mul (i, n_hop) en = Add (st, n_win) r = Range (st, en, one) old = Gather (s, r) "
    "new = Add (old, e) ix = Unsqueeze (r, v1) s_n = ScatterND (s, ix, new)", inputs=
    "float[T, 4, 3] x", outputs="float[S, 3] s_end", feeds=lambda n: {"x": rng(n).normal(size=(n,
    4, 3)).astype(np.float32)}, before="l2 = Mul (length, n_hop) l3 = Add (l2, two) l4 = "
    "Unsqueeze (l3, v0) l5 = Concat <axis = 0> (l4, v3) buffer = ConstantOfShape (l5)")
case(F, "frames_runtime_hop", [], "st = Mul (i, hop_in) st1 = Unsqueeze (st, v0) en1 = Add "
    "(st1, win) f = Slice (x, st1, en1, v0) y = Mul (f, window)", [("y", "float[4]", "ys")],
    inputs="float[S] x, int64 hop_in", outputs="float[N, 4] ys", length=NF.replace("n_hop",
    "hop_in"), feeds=lambda n: {**signal(n), "hop_in": np.array(2)}, w=weights("win", window=(4,)))
case(F, "frames_split", [], FR + " a, b = Split <axis = 0> (f) y = Sub (a, b)", [("y",
    "float[2]", "ys")], inputs=SIG, outputs="float[N, 2] ys", length=NF, feeds=signal)

# LSTMs with peepholes -----------------------------------------------------------------------------

P = "peepholes"
PW = (weights("peep", wi=(3, 4), wf=(3, 4), wo=(3, 4), wg=(3, 4), ri=(4, 4), rf=(4, 4), ro=(4, 4),
    rg=(4, 4), bi=(4,), bf=(4,), bo=(4,), bg=(4,), pi=(4,), pf=(4,), po=(4,), W=(3, 16), R=(4, 16),
    WR=(7, 16), bias=(16,), WT=(16, 3), RT=(16, 4)))


def gate(n, peep=None, act="Sigmoid", c="cc"):
    """A gate of an LSTM, with or without a peephole."""
    text = (f"x{n} = MatMul (e, w{n}) h{n} = MatMul (h, r{n}) s{n} = Add (x{n}, h{n}) b{n}_ = "
        f"Add (s{n}, b{n}) ")
    last = f"b{n}_"
    if peep:
        text += f"q{n} = Mul ({c}, p{n}) z{n} = Add ({last}, q{n}) "
        last = f"z{n}"
    return text + f"g{n} = {act} ({last}) "


def tail(new="gg"):
    return f"fc = Mul (gf, cc) ic = Mul (gi, {new}) c_n = Add (fc, ic) "
HC = [("h", "float[2, 4]", "h0"), ("cc", "float[2, 4]", "h0")]


def hc(body): return body.replace("c_n", "cc_n")
H0 = "s24 = Constant <value_ints = [2, 4]> () h0 = ConstantOfShape (s24)"
OH = "float[2, 4] h_end, float[2, 4] cc_end, float[T, 2, 4] ys"
END = "tc = Tanh (cc_n) h_n = Mul (go, tc) "
XS = "float[T, 2, 3] x"
EX = "e = Gather <axis = 0> (x, i) "
YS = [("y", "float[2, 4]", "ys")]
three = (gate("i", True) + gate("f", True) + gate("g", act="Tanh") + hc(tail()) + gate("o", True,
    c="cc_n") + END + "y = Identity (h_n)")
for style in ("torch", "tf"):
    case(P, f"peep_three_{style}", HC, EX + three, YS, inputs=XS, outputs=OH, before=H0, style=
        style, feeds=sequence, w=PW)
case(P, "peep_forget_only", HC, EX + gate("i") + gate("f", True) + gate("g", act="Tanh") + hc(
    tail()) + gate("o") + END + "y = Identity (h_n)", YS, inputs=XS, outputs=OH, before=H0, feeds=
    sequence, w=PW)
case(P, "peep_coupled", HC, EX + gate("f", True) + gate("g", act="Tanh") + "gi = Sub (f1, gf) " +
    hc(tail()) + gate("o", True, c="cc_n") + END + "y = Identity (h_n)", YS, inputs=XS, outputs=
    OH, before=H0, feeds=sequence, w=PW)
case(P, "peep_backward", HC, "b1_ = Sub (length, i) b2_ = Sub (b1_, one) e = Gather <axis = 0> "
    "(x, b2_) " + three, YS, inputs=XS, outputs=OH, before=H0, feeds=sequence, w=PW)
STACK = ("a0 = MatMul (e, W) a1 = MatMul (h, R) a2 = Add (a0, a1) a3 = Add (a2, bias) ai, af, "
    "ag, ao = Split <axis = 1> (a3) pq = Mul (cc, pi) ai2 = Add (ai, pq) gi = Sigmoid (ai2) pr "
    "= Mul (cc, pf) af2 = Add (af, pr) gf = Sigmoid (af2) gg = Tanh (ag) " + hc(tail()) +
    "pz = Mul (cc_n, po) ao2 = Add (ao, pz) go = Sigmoid (ao2) " + END + "y = Identity (h_n)")
case(P, "peep_split", HC, EX + STACK, YS, inputs=XS, outputs=OH, before=H0, feeds=sequence, w=PW)
case(P, "peep_tf_concat", HC, EX + STACK.replace("a0 = MatMul (e, W) a1 = MatMul (h, R) a2 = "
    "Add (a0, a1) a3 = Add (a2, bias)", "eh = Concat <axis = 1> (e, h) a2 = MatMul (eh, WR) a3 "
    "= Add (a2, bias)").replace("gf = Sigmoid (af2)", "af3 = Add (af2, f1) gf = Sigmoid (af3)"),
    YS, inputs=XS, outputs=OH, before=H0, feeds=sequence, w=PW, style="tf")
case(P, "peep_buffer", [*HC, ("s", "float[T, 2, 4]", "buffer")], EX + three +
    " ix = Reshape (i, v11) r = Unsqueeze (y, v0) s_n = ScatterND (s, ix, r)", inputs=XS, outputs=
    "float[T, 2, 4] s_end, float[2, 4] h_end", before=H0 + " n1 = Unsqueeze (length, v0) sh3 = "
    "Concat <axis = 0> (n1, s24) buffer = ConstantOfShape (sh3)", feeds=sequence, w=PW)
add(P, "peep_scan",
    """(float[T, 2, 3] x) => (float[2, 4] h_end, float[2, 4] cc_end, float[T, 2, 4] ys) { """ +
    H0 +
    """ h_end, cc_end, ys = Scan <num_scan_inputs = 1, body = b (float[2, 4] h, float[2, 4] cc,
    float[2, 3] e) => (float[2, 4] h_n, float[2, 4] cc_n, float[2, 4] y) { """
    + three + " }> (h0, h0, x) }", sequence, PW)
