"""Loops in loops."""

import functools

import numpy as np

from .case import Case

_SMALL = {"B": 2, "T": 3, "D": 3, "H": 4, "K": 2, "N": 3}

_case = functools.partial(Case, feeds={"x": "B T D"}, small=_SMALL, true_recurrence=False)

recurrence_by_row = _case(
    name="nested_recurrence_by_row",
    model="""rows (float[B, T, $D] x) => (float[B, $H] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   count = Gather <axis = 0> (shape, zero)
   y = Loop (count, always) <body = row (int64 b, bool cond) => (bool again, float[$H] r)
      <int64[1] first = {0}> {
      one = Gather <axis = 0> (x, b)
      last = Scan <num_scan_inputs = 1, body = step (float[1, $H] h, float[$D] e)
         => (float[1, $H] h_next) {
         ex = MatMul (e, w_x)
         hh = MatMul (h, w_h)
         sum = Add (ex, hh)
         biased = Add (sum, bias)
         h_next = Tanh (biased)
      }> (h0, one)
      r = Squeeze (last, first)
      again = Identity (cond)
   }>
}""",
    best="""rows (float[B, T, $D] x) => (float[B, $H] y) <int64[1] width = {$H}> {
   product = MatMul (x, w_x)
   projected = Add (product, bias)
   count = Shape <end = 1> (x)
   sizes = Concat <axis = 0> (count, width)
   h = Expand (h0, sizes)
   y = Scan <num_scan_inputs = 1, scan_input_axes = [1], body = step
      (float[B, $H] h_t, float[B, $H] e) => (float[B, $H] h_next) {
      hh = MatMul (h_t, w_h)
      sum = Add (hh, e)
      h_next = Tanh (sum)
   }> (h, projected)
}""",
    weights={"w_x": "D H", "w_h": "H H", "bias": "H", "h0": "1 H"},
    sizes={"B": 16, "T": 50, "D": 16, "H": 32},
    true_recurrence=True,
)

maps = _case(
    name="nested_maps",
    model="""maps (float[B, T, $D] x) => (float[B, T, $K] y) {
   y = Scan <num_scan_inputs = 1, body = outer (float[T, $D] rows) => (float[T, $K] made) {
      scaled = Mul (rows, gain)
      made = Scan <num_scan_inputs = 1, body = inner (float[$D] e) => (float[$K] r) {
         a = MatMul (e, w)
         b = Add (a, bias)
         r = Relu (b)
      }> (scaled)
   }> (x)
}""",
    best="""maps (float[B, T, $D] x) => (float[B, T, $K] y) {
   scaled = Mul (x, gain)
   a = MatMul (scaled, w)
   b = Add (a, bias)
   y = Relu (b)
}""",
    weights={"gain": "D", "w": "D K", "bias": "K"},
    sizes={"B": 20, "T": 50, "D": 16, "K": 8},
)

pairs = _case(
    name="nested_pairs",
    model="""pairs (float[N, $D] x, float[K, $D] z) => (float[N, K] y)
   <int64 zero = {0}, bool always = {1}> {
   shape_x = Shape (x)
   n = Gather <axis = 0> (shape_x, zero)
   shape_z = Shape (z)
   k = Gather <axis = 0> (shape_z, zero)
   y = Loop (n, always) <body = outer (int64 i, bool cond) => (bool again, float[K] row) {
      a = Gather <axis = 0> (x, i)
      row = Loop (k, always) <body = inner (int64 j, bool inner_cond)
         => (bool inner_again, float r) {
         b = Gather <axis = 0> (z, j)
         product = Mul (a, b)
         sum = ReduceSum <keepdims = 0> (product)
         r = Tanh (sum)
         inner_again = Identity (inner_cond)
      }>
      again = Identity (cond)
   }>
}""",
    best="""pairs (float[N, $D] x, float[K, $D] z) => (float[N, K] y) {
   z_t = Transpose <perm = [1, 0]> (z)
   sums = MatMul (x, z_t)
   y = Tanh (sums)
}""",
    feeds={"x": "N D", "z": "K D"},
    sizes={"N": 30, "K": 40, "D": 8},
)

sums = _case(
    name="nested_cumulative_sums",
    model="""sums (float[$B, T, $D] x) => (float[$B, T, $D] y)
   <int64 count = {$B}, int64 one = {1}, bool always = {1}> {
   y = Loop (count, always) <body = row (int64 b, bool cond) => (bool again, float[T, $D] r) {
      rows = Gather <axis = 0> (x, b)
      last, r = Scan <num_scan_inputs = 1, body = step (float[$D] s, float[$D] e)
         => (float[$D] s_next, float[$D] out) {
         s_next = Add (s, e)
         out = Identity (s_next)
      }> (start, rows)
      again = Identity (cond)
   }>
}""",
    best="""sums (float[$B, T, $D] x) => (float[$B, T, $D] y) <int64 one = {1}> {
   run = CumSum (x, one)
   y = Add (run, start)
}""",
    weights={"start": "D"},
    sizes={"B": 16, "T": 100, "D": 8},
    true_recurrence=True,
)

heads = _case(
    name="attention_by_head",
    model="""heads (float[$T, $W] x) => (float[$T, $W] y) <int64 count = {$N}, bool always = {1}> {
   parts = Loop (count, always) <body = head (int64 n, bool cond) => (bool again, float[$T, $D] r)
      <float scale = {0.25}> {
      wq = Gather <axis = 0> (w_q, n)
      wk = Gather <axis = 0> (w_k, n)
      wv = Gather <axis = 0> (w_v, n)
      q = MatMul (x, wq)
      k = MatMul (x, wk)
      v = MatMul (x, wv)
      k_t = Transpose <perm = [1, 0]> (k)
      s = MatMul (q, k_t)
      scaled = Mul (s, scale)
      p = Softmax <axis = -1> (scaled)
      r = MatMul (p, v)
      again = Identity (cond)
   }>
   turned = Transpose <perm = [1, 0, 2]> (parts)
   joined = Reshape (turned, joined_shape)
   y = MatMul (joined, w_o)
}""",
    best="""heads (float[$T, $W] x) => (float[$T, $W] y) <float scale = {0.25}> {
   q = MatMul (x, w_q)
   k = MatMul (x, w_k)
   v = MatMul (x, w_v)
   k_t = Transpose <perm = [0, 2, 1]> (k)
   s = MatMul (q, k_t)
   scaled = Mul (s, scale)
   p = Softmax <axis = -1> (scaled)
   parts = MatMul (p, v)
   turned = Transpose <perm = [1, 0, 2]> (parts)
   joined = Reshape (turned, joined_shape)
   y = MatMul (joined, w_o)
}""",
    feeds={"x": "T W"},
    weights={"w_q": "N W D", "w_k": "N W D", "w_v": "N W D", "w_o": "W W",
     "joined_shape": lambda *_: np.array([0, -1])},
    sizes={"T": 32, "W": 128, "N": 8, "D": 16},
    small={"T": 3, "W": 4, "N": 2, "D": 2},
)  # fmt: skip

heads_listed = _case(
    name="attention_by_head_listed",
    model="""heads (float[T, $W] x) => (float[T, $W] y)
   <int64 count = {$N}, bool always = {1}, int64 width = {$D}> {
   q_all = MatMul (x, w_q)
   k_all = MatMul (x, w_k)
   v_all = MatMul (x, w_v)
   nothing = SequenceEmpty <dtype = 1> ()
   parts = Loop (count, always, nothing) <body = head
      (int64 n, bool cond, seq(float[T, $D]) list) => (bool again, seq(float[T, $D]) list_next)
      <float scale = {0.25}, int64[1] first = {0}, int64[1] second = {1}> {
      start_0 = Mul (n, width)
      end_0 = Add (start_0, width)
      start = Unsqueeze (start_0, first)
      end = Unsqueeze (end_0, first)
      q = Slice (q_all, start, end, second)
      k = Slice (k_all, start, end, second)
      v = Slice (v_all, start, end, second)
      k_t = Transpose <perm = [1, 0]> (k)
      s = MatMul (q, k_t)
      scaled = Mul (s, scale)
      p = Softmax <axis = -1> (scaled)
      r = MatMul (p, v)
      list_next = SequenceInsert (list, r)
      again = Identity (always)
   }>
   joined = ConcatFromSequence <axis = 1> (parts)
   y = MatMul (joined, w_o)
}""",
    best="""heads (float[T, $W] x) => (float[T, $W] y)
   <float scale = {0.25}, int64[3] split = {0, $N, $D}, int64[2] join = {0, $W}> {
   q_all = MatMul (x, w_q)
   k_all = MatMul (x, w_k)
   v_all = MatMul (x, w_v)
   q_3 = Reshape (q_all, split)
   k_3 = Reshape (k_all, split)
   v_3 = Reshape (v_all, split)
   q = Transpose <perm = [1, 0, 2]> (q_3)
   k_t = Transpose <perm = [1, 2, 0]> (k_3)
   v = Transpose <perm = [1, 0, 2]> (v_3)
   s = MatMul (q, k_t)
   scaled = Mul (s, scale)
   p = Softmax <axis = -1> (scaled)
   parts = MatMul (p, v)
   turned = Transpose <perm = [1, 0, 2]> (parts)
   joined = Reshape (turned, join)
   y = MatMul (joined, w_o)
}""",
    feeds={"x": "T W"},
    weights={"w_q": "W W", "w_k": "W W", "w_v": "W W", "w_o": "W W"},
    sizes={"T": 32, "W": 128, "N": 8, "D": 16},
    small={"T": 3, "W": 4, "N": 2, "D": 2},
)

CASES = (recurrence_by_row, maps, pairs, sums, heads, heads_listed)
