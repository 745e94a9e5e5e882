"""Loops of the rows of docs/data/recognized.csv, each with the form by hand.

The loops of `dev/benchmarks/loops` serve most rows. Those of the others stand here: over the rows
`e = x[i]` of x [T, 8], with states named by letters.
"""

from typing import NamedTuple

import onnx
import onnx.parser
from straightline.dev.benchmarks.loops.collection import cases

_HEADER = '<ir_version: 8, opset_import: ["" : 17]>'
_CONSTANTS = """int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] zero1 = {0},
    int64[1] one1 = {1}, int64[1] two1 = {2}, int64[1] last1 = {-1}, int64[1] eight1 = {8},
    int64[2] row = {-1, 8}, bool always = {1}, bool never = {0}, float half = {0.5},
    float none = {0}, float unit = {1}, float ten = {10}, float[8] start = {0, 0, 0, 0, 0, 0, 0, 0},
    float[8] ones = {1, 1, 1, 1, 1, 1, 1, 1}"""
_COUNT = "shape = Shape (x) n = Gather <axis = 0> (shape, zero) "


class Pair(NamedTuple):
    """A loop, and its best form.

    Attributes:
        loop: the model with the loop.
        by_hand: the same function without it; None where nobody would write one.
    """

    loop: onnx.ModelProto
    by_hand: onnx.ModelProto | None


class _Text(NamedTuple):
    """Both as text: declared inputs and outputs, and the nodes."""

    signature: str
    loop: str
    by_hand: str


def over_rows(results: str, states: str, body: str, outputs: str, more: str = "") -> str:
    """Text of a Loop over the rows of x.

    Args:
        results: names of the outputs.
        states: initial states, with the declaration of each in the body: `start: float[8] s`.
        body: the nodes, which read the iteration `i` and the row `e`.
        outputs: declared outputs of the body after the condition.
        more: nodes before the loop.
    """
    pairs = [one.split(":") for one in states.split(";") if one]
    initial = "".join(f", {name.strip()}" for name, _ in pairs)
    declared = "".join(f", {state.strip()}" for _, state in pairs)
    return (
        f"{_COUNT}{more} {results} = Loop (n, always{initial}) <body = step (int64 i, bool c"
        f"{declared}) => (bool d, {outputs}) {{ d = Identity (c) e = Gather <axis = 0> (x, i)"
        f" {body} }}>"
    )


_LAST = "(float[T, 8] x) => (float[8] y)"
_ALL = "(float[T, 8] x) => (float[N, 8] y)"

_TEXTS = {
    "prefix_means": _Text(_ALL,
     over_rows("y", "", "j = Add (i, one) j1 = Unsqueeze (j, zero1) p = Slice (x, zero1, j1, zero1)"
     " t = ReduceMean <axes = [0], keepdims = 0> (p)", "float[8] t"),
     "s = CumSum (x, zero) shape = Shape (x) n = Gather <axis = 0> (shape, zero)"
     " r = Range (zero, n, one) k = Add (r, one) f = Cast <to = 1> (k) g = Unsqueeze (f, one1)"
     " y = Div (s, g)"),
    "prefix_maxima": _Text(_ALL,
     over_rows("y", "", "j = Add (i, one) j1 = Unsqueeze (j, zero1) p = Slice (x, zero1, j1, zero1)"
     " t = ReduceMax <axes = [0], keepdims = 0> (p)", "float[8] t"),
     over_rows("l, y", "low: float[8] s", "t = Max (s, e) u = Identity (t)",
     "float[8] t, float[8] u", "low = ConstantOfShape <value = float[1] {-inf}> (eight1)")),
    "sums_of_windows_given": _Text("(float[T, 8] x, int64 w) => (float[N, 8] y)",
     over_rows("y", "", "a = Sub (i, k) b = Add (i, k1) f = Max (a, zero) l = Min (b, n)"
     " f1 = Unsqueeze (f, zero1) l1 = Unsqueeze (l, zero1)"
     " p = Slice (x, f1, l1, zero1) t = ReduceSum <keepdims = 0> (p, zero1)", "float[8] t",
     "k = Max (w, zero) k1 = Add (k, one)"),
     f"{_COUNT} k = Max (w, zero) k1 = Add (k, one) r = Range (zero, n, one) a = Sub (r, k)"
     " b = Add (r, k1) f = Max (a, zero) l = Min (b, n) s = CumSum (x, zero)"
     " z = ConstantOfShape <value = float[1] {0}> (first) o = Concat <axis = 0> (z, s)"
     " u = Gather <axis = 0> (o, l) v = Gather <axis = 0> (o, f) y = Sub (u, v)"),
    "branches_on_an_invariant": _Text("(float[T, 8] x, bool b) => (float[N, 8] y)",
     over_rows("y", "", "t = If (b) <then_branch = p () => (float[8] u) { u = Exp (e) },"
     " else_branch = q () => (float[8] v) { v = Tanh (e) }>", "float[8] t"),
     "y = If (b) <then_branch = p () => (float[T, 8] u) { u = Exp (x) },"
     " else_branch = q () => (float[T, 8] v) { v = Tanh (x) }>"),
    "equal_branches": _Text(_ALL,
     over_rows("y", "", "m = ReduceMax <keepdims = 0> (e) b = Less (m, half)"
     " t = If (b) <then_branch = p () => (float[8] u) { u = Exp (e) },"
     " else_branch = q () => (float[8] v) { v = Exp (e) }>", "float[8] t"), "y = Exp (x)"),
    "trip_counts_of_rows": _Text("(float[40, 8] x, int64[40] lengths) => (float[40, 8] y)",
     over_rows("y", "",
     "k = Gather <axis = 0> (lengths, i) t = Loop (k, always, e) <body = inner (int64 j,"
     " bool f, float[8] s) => (bool g, float[8] r) { g = Identity (f) h = Mul (s, half)"
     " r = Tanh (h) }>", "float[8] t"),
     f"{_COUNT} lo = Max (lengths, zero) m = ReduceMax <keepdims = 0> (lo)"
     " y = Loop (m, always, x) <body = inner (int64 j, bool f, float[40, 8] s) => (bool g,"
     " float[40, 8] r) { g = Identity (f) h = Mul (s, half) t = Tanh (h) k = Less (j, lo)"
     " k1 = Unsqueeze (k, one1) r = Where (k1, t, s) }>"),
    "rows_in_front": _Text("(float[T, 8] x) => (float[N, 8] y)",
     over_rows("y", "empty: float[k, 8] s",
     "u = Exp (e) r = Unsqueeze (u, zero1) t = Concat <axis = 0> (r, s)", "float[l, 8] t",
     "sizes = Concat <axis = 0> (zero1, eight1)"
     " empty = ConstantOfShape <value = float[1] {0}> (sizes)"),
     f"{_COUNT} r = Range (zero, n, one) l = Sub (n, one) k = Sub (l, r) u = Exp (x)"
     " y = Gather <axis = 0> (u, k)"),
    "buffer_of_slices": _Text("(float[T, 8] x) => (float[T, 8] y)",
     over_rows("y", "x: float[T, 8] s",
     "j = Add (i, one) i1 = Unsqueeze (i, zero1) j1 = Unsqueeze (j, zero1)"
     " a = Slice (s, zero1, i1, zero1) b = Slice (s, j1, most1, zero1) u = Tanh (e)"
     " r = Unsqueeze (u, zero1) t = Concat <axis = 0> (a, r, b)", "float[T, 8] t"), "y = Tanh (x)"),
    "histogram": _Text("(float[T, 8] x, int64[T] k, float[K, 8] h) => (float[K, 8] y)",
     over_rows("y", "h: float[K, 8] s",
     "j = Gather <axis = 0> (k, i) o = Gather <axis = 0> (s, j) u = Add (o, e)"
     " j1 = Unsqueeze (j, zero1) j2 = Unsqueeze (j1, zero1) r = Unsqueeze (u, zero1)"
     " t = ScatterND (s, j2, r)", "float[K, 8] t"),
     "j = Unsqueeze (k, one1) s = Shape (x) j2 = Expand (j, s)"
     ' y = ScatterElements <axis = 0, reduction = "add"> (h, j2, x)'),
    "rows_changed_in_place": _Text("(float[T, 8] x) => (float[T, 8] y)",
     over_rows("y", "x: float[T, 8] s",
     "o = Gather <axis = 0> (s, i) u = Tanh (o) i1 = Unsqueeze (i, zero1)"
     " j = Unsqueeze (i1, zero1) r = Unsqueeze (u, zero1) t = ScatterND (s, j, r)",
     "float[T, 8] t"), "y = Tanh (x)"),
    "rows_added_in_place": _Text("(float[T, 8] x) => (float[M, 8] y)",
     over_rows("y", "a: float[M, 8] s",
     "j = Add (i, one) o = Gather <axis = 0> (s, i) u = Add (o, e)"
     " j1 = Unsqueeze (j, zero1) k = Unsqueeze (j1, zero1) r = Unsqueeze (u, zero1)"
     " t = ScatterND (s, k, r)", "float[M, 8] t",
     "m = Add (n, one) m1 = Unsqueeze (m, zero1) sizes = Concat <axis = 0> (m1, eight1)"
     " a = ConstantOfShape <value = float[1] {0}> (sizes)"),
     "s = CumSum (x, zero) z = ConstantOfShape <value = float[1] {0}> (first)"
     " y = Concat <axis = 0> (z, s)"),
    "sum_under_a_condition": _Text(_LAST,
     over_rows("y", "start: float[8] s",
     "m = ReduceMax <keepdims = 0> (e) b = Less (m, half) u = Add (s, e) t = Where (b, u, s)",
     "float[8] t"),
     "m = ReduceMax <axes = [1], keepdims = 1> (x) b = Less (m, half) z = Where (b, x, none)"
     " y = ReduceSum <keepdims = 0> (z, zero1)"),
    "running_product": _Text(_ALL,
     over_rows("l, y", "ones: float[8] s", "t = Mul (s, e) u = Identity (t)",
     "float[8] t, float[8] u"), ""),
    "last_row_under_a_condition": _Text(_LAST,
     over_rows("y", "start: float[8] s",
     "m = ReduceMax <keepdims = 0> (e) b = Less (m, half) t = Where (b, e, s)", "float[8] t"),
     "m = ReduceMax <axes = [1], keepdims = 0> (x) b = Less (m, half)"
     " r = Compress <axis = 0> (x, b) s = Unsqueeze (start, zero1) a = Concat <axis = 0> (s, r)"
     " y = Gather <axis = 0> (a, back)"),
    "register_of_rows": _Text("(float[T, 8] x) => (float[3, 8] l, float[N, 8] y)",
     over_rows("l, y", "three: float[3, 8] s",
     "a = Slice (s, one1, three1, zero1) r = Unsqueeze (e, zero1)"
     " t = Concat <axis = 0> (a, r) u = ReduceSum <keepdims = 0> (t, zero1)",
     "float[3, 8] t, float[8] u", "sizes = Concat <axis = 0> (three1, eight1)"
     " three = ConstantOfShape <value = float[1] {0}> (sizes)"),
     "sizes = Concat <axis = 0> (three1, eight1)"
     " three = ConstantOfShape <value = float[1] {0}> (sizes)"
     " a = Concat <axis = 0> (three, x) back3 = Neg (three1) l = Slice (a, back3, most1, zero1)"
     f" {_COUNT} r = Range (zero, n, one) p = Add (r, one) q = Add (p, one) o = Add (q, one)"
     " f = Gather <axis = 0> (a, p) g = Gather <axis = 0> (a, q) h = Gather <axis = 0> (a, o)"
     " fg = Add (f, g) y = Add (fg, h)"),
    "scores_of_all_rows_so_far": _Text(_ALL,
     over_rows("l, y", "empty: float[k, 8] s",
     "r = Unsqueeze (e, zero1) t = Concat <axis = 0> (s, r) p = MatMul (t, e)"
     " q = Unsqueeze (p, zero1) v = MatMul (q, t) u = Squeeze (v, zero1)",
     "float[m, 8] t, float[8] u", "sizes = Concat <axis = 0> (zero1, eight1)"
     " empty = ConstantOfShape <value = float[1] {0}> (sizes)"),
     "w = Transpose <perm = [1, 0]> (x) p = MatMul (x, w) q = Trilu <upper = 0> (p)"
     " y = MatMul (q, x) l = Identity (x)"),
    "parity": _Text("(float[T, 8] x) => (bool y)",
     over_rows("y", "never: bool s",
     "m = ReduceMax <keepdims = 0> (e) b = Less (m, half) t = Xor (s, b)", "bool t"),
     "m = ReduceMax <axes = [1], keepdims = 0> (x) b = Less (m, half) k = Cast <to = 7> (b)"
     " s = CumSum (k, zero) a = Concat <axis = 0> (zero1, s) l = Gather <axis = 0> (a, back)"
     " o = Mod (l, two) y = Cast <to = 9> (o)"),
    "sum_above_a_bound": _Text(_LAST,
     over_rows("y", "start: float[8] s", "u = Add (s, e) t = Max (u, none)", "float[8] t"), ""),
    "two_states": _Text("(float[T, 8] x) => (float[8] y, float[8] z)",
     over_rows("y, z", "start: float[8] s; ones: float[8] r",
     "a = Mul (s, e) b = Sub (a, r) p = Mul (r, e) q = Add (p, s)", "float[8] b, float[8] q"), ""),
    "recursive_filter": _Text(_ALL,
     over_rows("l, k, y", "start: float[8] s; start: float[8] r",
     "a = Mul (s, half) b = Mul (r, tenth) p = Sub (a, b) t = Add (p, e)"
     " q = Identity (s) u = Identity (t)", "float[8] t, float[8] q, float[8] u",
     "tenth = Div (unit, ten)"), ""),
    "constant_matrix": _Text("(float[T, 2] x) => (float[N, 2] y)",
     over_rows("l, y", "pair: float[2] s", "p = MatMul (s, mat) t = Add (p, e) u = Identity (t)",
     "float[2] t, float[2] u"), ""),
    "log_of_a_sum": _Text(_LAST,
     over_rows("y", "start: float[8] s", "a = Exp (s) b = Exp (e) p = Add (a, b) t = Log (p)",
     "float[8] t"),
     "a = Exp (x) b = ReduceSum <keepdims = 0> (a, zero1) p = Add (b, ones) y = Log (p)"),
    "horner": _Text("(float[T, 8] x, float b) => (float[8] y)",
     over_rows("y", "start: float[8] s", "a = Mul (s, b) t = Add (a, e)", "float[8] t"),
     f"{_COUNT} r = Range (zero, n, one) l = Sub (n, one) k = Sub (l, r) f = Cast <to = 1> (k)"
     " p = Pow (b, f) w = Unsqueeze (p, zero1) v = MatMul (w, x) y = Squeeze (v, zero1)"),
    "while_less": _Text("(float[T, 8] x, int64 n) => (float[N, 8] y)",
     "b = Less (zero, n) k, y = Loop (, b, zero) <body = step (int64 i, bool c, int64 j)"
     " => (bool d, int64 l, float[8] t) { l = Add (j, one) d = Less (l, n)"
     " e = Gather <axis = 0> (x, j) t = Tanh (e) }>",
     "m = Max (n, zero) m1 = Unsqueeze (m, zero1) p = Slice (x, zero1, m1, zero1) y = Tanh (p)"),
    "while_with_a_step": _Text("(float[T, 8] x, int64 n) => (float[N, 8] y)",
     "b = Less (zero, n) k, y = Loop (, b, zero) <body = step (int64 i, bool c, int64 j)"
     " => (bool d, int64 l, float[8] t) { l = Add (j, two) d = Less (l, n)"
     " e = Gather <axis = 0> (x, j) t = Tanh (e) }>",
     "m = Max (n, zero) m1 = Unsqueeze (m, zero1) p = Slice (x, zero1, m1, zero1, two1)"
     " y = Tanh (p)"),
    "search_that_stops": _Text("(float[T] x) => (int64 y)",
     f"{_COUNT} y = Loop (n, always, zero) <body = step (int64 i, bool c, int64 s) =>"
     " (bool d, int64 t) { e = Gather <axis = 0> (x, i) f = Greater (e, half) d = Not (f)"
     " t = Add (s, one) }>",
     "f = Greater (x, half) k = Cast <to = 6> (f) p = Concat <axis = 0> (k, stop)"
     f" a = ArgMax <axis = 0, keepdims = 0> (p) {_COUNT} b = Add (a, one) y = Min (b, n)"),
    "cell_by_einsum": _Text("(float[T, 8] x, float[8, 8] w, float[8, 8] r) => (float[N, 8] y)",
     over_rows("l, y", "start: float[8] s",
     'a = Einsum <equation = "i,ij->j"> (e, w) b = Einsum <equation = "i,ij->j"> (s, r)'
     " p = Add (a, b) t = Tanh (p) u = Identity (t)", "float[8] t, float[8] u"), "")}  # fmt: skip


def pair(name: str) -> Pair:
    """The loop of a name, and its form by hand.

    Raises:
        KeyError: there is none.
    """
    if name in _TEXTS:
        text = _TEXTS[name]
        return Pair(
            _model(text.signature, text.loop),
            _model(text.signature, text.by_hand) if text.by_hand else None,
        )
    case = next((case for case in cases("") if case.name == name), None)
    if case is None:
        raise KeyError(name)
    by_hand = None if case.best is None else case.by_hand(case.small)
    return Pair(case.original(case.small), by_hand)


def _model(signature: str, nodes: str) -> onnx.ModelProto:
    constants = f"{_CONSTANTS}, int64[1] most1 = {{9223372036854775807}}, int64[1] three1 = {{3}}"
    constants += ", float[2, 2] mat = {0.5, 0.1, -0.2, 0.7}, float[2] pair = {1, 2}"
    constants += ", int64[2] first = {1, 8}, int64 back = {-1}, int32[1] stop = {1}"
    return onnx.parser.parse_model(f"{_HEADER} g {signature} <{constants}> {{ {nodes} }}")
