"""Loops in the spelling of an exporter, and loops whose data decides: selection, search."""

import functools

import numpy as np

from .case import Case, Sizes

_SIZES = {"T": 100, "B": 4, "D": 16, "N": 100, "V": 64, "K": 4}
_SMALL = {"T": 3, "B": 2, "D": 3, "N": 5, "V": 5, "K": 2}

_case = functools.partial(Case, sizes=_SIZES, small=_SMALL, true_recurrence=True)

torch_while = _case(
    name="torch_while_loop",
    model="""main_graph (float[$B, $D] x) => (int64 getitem, float[$B, $D] getitem_1)
   <int64 clone = {0}, bool val_0 = {1}, int64 one = {1}, int64 six = {6}> {
   getitem, getitem_1 = Loop ("", val_0, clone, x) <body = while_loop_body
      (int64 iter_num, bool cond_in, int64 clone_in, float[$B, $D] x_in)
      => (bool lt, int64 add, float[$B, $D] add_1) {
      add = Add (clone_in, one)
      linear = Gemm <beta = 1.0, transB = 1, alpha = 1.0, transA = 0> (x_in, weight, bias)
      tanh = Tanh (linear)
      add_1 = Add (tanh, x_in)
      lt = Less (add, six)
   }>
}""",
    best="main_graph (float[$B, $D] x) => (int64 getitem, float[$B, $D] getitem_1)"
    " <int64 six = {6}> { getitem = Identity (six) h0 = Identity (x) "
    + "".join(
        f"l{i} = Gemm <transB = 1> (h{i}, weight, bias) t{i} = Tanh (l{i})"
        f" {'getitem_1' if i == 5 else f'h{i + 1}'} = Add (t{i}, h{i}) "
        for i in range(6)
    )
    + "}",
    feeds={"x": "B D"},
    weights={"weight": "D D", "bias": "D"},
)

torch_scan = _case(
    name="torch_scan",
    model="""main_graph (float[t, $B, $D] xs, float[$B, $D] h)
   => (float[$B, $D] getitem, float[t, $B, $D] getitem_1) <float two = {2}> {
   getitem, getitem_1 = Scan (h, xs) <body = scan_combine
      (float[$B, $D] h_in, float[$B, $D] xs_in) => (float[$B, $D] tanh, float[$B, $D] mul) {
      linear = Gemm <beta = 1.0, transB = 1, alpha = 1.0, transA = 0> (h_in, weight, bias)
      add = Add (linear, xs_in)
      tanh = Tanh (add)
      mul = Mul (tanh, two)
   }, num_scan_inputs = 1, scan_input_directions = [0], scan_output_directions = [0]>
}""",
    best=None,
    feeds={"xs": "T B D", "h": "B D"},
    weights={"weight": "D D", "bias": "D"},
)

tf_map = _case(
    name="tf_map_fn",
    model="""
tf2onnx (float[n, $B, $D] x) => (float[m, $D] y) <int32 zero = {0}, float float_zero = {0},
   int64[1] first = {0}, int64[1] second = {1}> {
   shape = Shape (x)
   sizes = Cast <to = 6> (shape)
   part = Slice (sizes, first, second, first)
   count = Squeeze (part, first)
   less_1 = Cast <to = 1> (count)
   less = Less (float_zero, less_1)
   both = And (less, less)
   most = Cast <to = 7> (count)
   counter, limit, y = Loop (most, both, zero, count) <body = map_while_body
      (int64 number, bool cond, int32 placeholder, int32 size)
      => (bool again, int32 add, int32 size_out, float[$D] row) <int32 one = {1}> {
      add = Add (placeholder, one)
      item = Gather (x, placeholder)
      row = ReduceMax <axes = [0], keepdims = 0> (item)
      size_1 = Cast <to = 1> (size)
      add_1 = Cast <to = 1> (add)
      count_1 = Cast <to = 1> (count)
      number_1 = Cast <to = 1> (number)
      inner = Less (number_1, count_1)
      outer = Less (add_1, size_1)
      again = And (inner, outer)
      size_out = Identity (size)
   }>
}""",
    best="best (float[n, $B, $D] x) => (float[n, $D] y)"
    " { y = ReduceMax <axes = [1], keepdims = 0> (x) }",
    feeds={"x": "T B D"},
    true_recurrence=False,
)

tf_array = _case(
    name="tf_tensor_array",
    model="""tf2onnx (float[$B, $T, $D] x) => (float[$B, $T, $D] y)
   <int32 start = {0}, int32 limit = {$T}, int32 delta = {1}, bool yes = {1}> {
   zeros = ConstantOfShape (shape_of_state)
   i_last, state, limit_out, x_out, delta_out, rows =
      Loop ("", yes, start, zeros, limit, x, delta) <body = while_body
      (int64 number, bool cond, int32 i, float[$B, $D] s, int32 end, float[$B, $T, $D] xs, int32 by)
      => (bool again, int32 i_next, float[$B, $D] s_next, int32 end_out, float[$B, $T, $D] xs_out,
          int32 by_out, float[$B, $D] row) <float half = {0.5}> {
      scaled = Mul (s, half)
      item = Gather <axis = 1> (xs, i)
      s_next = Add (scaled, item)
      row = Identity (s_next)
      i_next = Add (i, by)
      again = Less (i_next, end)
      end_out = Identity (end)
      xs_out = Identity (xs)
      by_out = Identity (by)
   }>
   y = Transpose <perm = [1, 0, 2]> (rows)
}""",
    best=None,
    feeds={"x": "B T D"},
    weights={"shape_of_state": lambda s, _: np.array([s["B"], s["D"]], np.int64)},
)

_OVERLAP = """
      left = Max (x1, a1)
      top = Max (y1, b1)
      right = Min (x2, a2)
      bottom = Min (y2, b2)
      wide = Sub (right, left)
      high = Sub (bottom, top)
      width = Relu (wide)
      height = Relu (high)
      inside = Mul (width, height)
      both = Add (areas, area)
      union = Sub (both, inside)
      overlap = Div (inside, union)
      hits = Greater (overlap, threshold)
      later = Less (scores, score)
      beside = And (hits, later)"""
_BOXES = """
   count_1 = Shape (scores)
   sorted, order = TopK <axis = -1, largest = 1> (scores, count_1)
   x1 = Gather <axis = 1> (boxes, zero)
   y1 = Gather <axis = 1> (boxes, one)
   x2 = Gather <axis = 1> (boxes, two)
   y2 = Gather <axis = 1> (boxes, three)
   dx = Sub (x2, x1)
   dy = Sub (y2, y1)
   areas = Mul (dx, dy)
   always = ConstantOfShape <value = bool[1] {1}> (count_1)
   count = Squeeze (count_1, first)"""
_READS = """
      at = Gather <axis = 0> (order, i)
      a1 = Gather <axis = 0> (x1, at)
      b1 = Gather <axis = 0> (y1, at)
      a2 = Gather <axis = 0> (x2, at)
      b2 = Gather <axis = 0> (y2, at)
      area = Gather <axis = 0> (areas, at)
      score = Gather <axis = 0> (scores, at)"""
_NUMBERS = """int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3},
   int64[1] first = {0}, bool yes = {1}, float threshold = {0.4}"""


def _boxes(sizes: Sizes, generator: np.random.Generator) -> np.ndarray:
    corners = generator.random((sizes["N"], 2))
    far = corners + 0.1 + generator.random((sizes["N"], 2)) / 5
    return np.concatenate([corners, far], 1).astype(np.float32)


suppression = _case(
    name="suppression_by_hand",
    model=f"""nms (float[N, 4] boxes, float[N] scores) => (bool[N] kept) <{_NUMBERS}> {{{_BOXES}
   kept = Loop (count, yes, always) <body = step
      (int64 i, bool cond, bool[N] keep) => (bool again, bool[N] keep_next) {{{_READS}{_OVERLAP}
      own = Gather <axis = 0> (keep, at)
      gone = And (beside, own)
      stays = Not (gone)
      keep_next = And (keep, stays)
      again = Identity (cond)
   }}>
}}""",
    best=f"""nms (float[N, 4] boxes, float[N] scores) => (bool[N] kept)
   <{_NUMBERS}, int64[1] second = {{1}}> {{{_BOXES}
      s1 = Gather <axis = 0> (x1, order)
      s2 = Gather <axis = 0> (y1, order)
      s3 = Gather <axis = 0> (x2, order)
      s4 = Gather <axis = 0> (y2, order)
      s5 = Gather <axis = 0> (areas, order)
      s6 = Gather <axis = 0> (scores, order)
      a1 = Unsqueeze (s1, second)
      b1 = Unsqueeze (s2, second)
      a2 = Unsqueeze (s3, second)
      b2 = Unsqueeze (s4, second)
      area = Unsqueeze (s5, second)
      score = Unsqueeze (s6, second){_OVERLAP}
   kept = Scan <num_scan_inputs = 2, body = step
      (bool[N] keep, int64 at, bool[N] hit) => (bool[N] keep_next) {{
      own = Gather <axis = 0> (keep, at)
      gone = And (hit, own)
      stays = Not (gone)
      keep_next = And (keep, stays)
   }}> (always, order, beside)
}}""",
    feeds={"boxes": _boxes, "scores": "N"},
)

_BEAM = """
      many = Unsqueeze (total, second)
      each = Add (many, steps)
      flat = Reshape (each, all)
      total_next, best = TopK <axis = 0> (flat, beams)
      parent = Div (best, words)
      token = Mod (best, words)"""
_BEAM_NUMBERS = """int64[1] second = {1}, int64[1] all = {-1}, int64[1] beams = {$K},
   int64 words = {$V}, int64[1] first = {0}, bool yes = {1}"""

beam = _case(
    name="beam_search_step",
    model=f"""
beam (float[$T, $D] x, float[$K] start) => (int64[$T, $K] parents, int64[$T, $K] tokens)
   <{_BEAM_NUMBERS}, int64 count = {{$T}}> {{
   last, parents, tokens = Loop (count, yes, start) <body = step
      (int64 i, bool cond, float[$K] total)
      => (bool again, float[$K] total_next, int64[$K] parent, int64[$K] token) {{
      e = Gather <axis = 0> (x, i)
      row = Unsqueeze (e, first)
      hidden = MatMul (row, w)
      turned = Tanh (hidden)
      logits = MatMul (turned, words_of)
      steps = LogSoftmax <axis = -1> (logits){_BEAM}
      again = Identity (cond)
   }}>
}}""",
    best=f"""
beam (float[$T, $D] x, float[$K] start) => (int64[$T, $K] parents, int64[$T, $K] tokens)
   <{_BEAM_NUMBERS}> {{
   hidden = MatMul (x, w)
   turned = Tanh (hidden)
   logits = MatMul (turned, words_of)
   rows = LogSoftmax <axis = -1> (logits)
   last, chosen = Scan <num_scan_inputs = 1, body = step
      (float[$K] total, float[$V] steps) => (float[$K] total_next, int64[$K] best_out) {{{
        _BEAM[: _BEAM.index("parent = ")]
    }
      best_out = Identity (best)
   }}> (start, rows)
   parents = Div (chosen, words)
   tokens = Mod (chosen, words)
}}""",
    feeds={"x": "T D", "start": "K"},
    weights={"w": "D D", "words_of": "D V"},
)

CASES = (torch_while, torch_scan, tf_map, tf_array, suppression, beam)
