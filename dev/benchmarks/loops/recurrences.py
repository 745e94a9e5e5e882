"""Recurrences that no operator has: what can be gained is the work around them."""

import functools

import numpy as np

from .case import Case

_SMALL = {"T": 4, "D": 3, "N": 2, "B": 2, "H": 4}

_case = functools.partial(Case, feeds={"x": "T D"}, small=_SMALL, true_recurrence=True)

mamba = _case(
    name="mamba_projections_inside",
    model="""mamba (float[T, $D] x) => (float[T, $D] y) {
   last, y = Scan <num_scan_inputs = 1, body = step (float[$D, $N] h, float[$D] e)
      => (float[$D, $N] h_next, float[$D] out) <int64[1] first = {0}, int64[1] second = {1}> {
      low = MatMul (e, w_low)
      wide = MatMul (low, w_wide)
      biased = Add (wide, b_wide)
      delta = Softplus (biased)
      delta_2 = Unsqueeze (delta, second)
      exponent = Mul (delta_2, a)
      keep = Exp (exponent)
      b_t = MatMul (e, w_b)
      b_2 = Unsqueeze (b_t, first)
      e_2 = Unsqueeze (e, second)
      db = Mul (delta_2, b_2)
      fresh = Mul (db, e_2)
      old = Mul (keep, h)
      h_next = Add (old, fresh)
      c_t = MatMul (e, w_c)
      c_2 = Unsqueeze (c_t, second)
      mixed = MatMul (h_next, c_2)
      flat = Squeeze (mixed, second)
      skip = Mul (e, d)
      out = Add (flat, skip)
   }> (h0, x)
}""",
    best="""
mamba (float[T, $D] x) => (float[T, $D] y) <int64[1] second = {1}, int64[1] third = {2}> {
   low = MatMul (x, w_low)
   wide = MatMul (low, w_wide)
   biased = Add (wide, b_wide)
   delta = Softplus (biased)
   delta_2 = Unsqueeze (delta, third)
   exponent = Mul (delta_2, a)
   keep = Exp (exponent)
   b_t = MatMul (x, w_b)
   b_2 = Unsqueeze (b_t, second)
   e_2 = Unsqueeze (x, third)
   db = Mul (delta_2, b_2)
   fresh = Mul (db, e_2)
   last, states = Scan <num_scan_inputs = 2, body = step
      (float[$D, $N] h, float[$D, $N] k, float[$D, $N] f)
      => (float[$D, $N] h_next, float[$D, $N] out) {
      old = Mul (k, h)
      h_next = Add (old, f)
      out = Identity (h_next)
   }> (h0, keep, fresh)
   c_t = MatMul (x, w_c)
   c_2 = Unsqueeze (c_t, third)
   mixed = MatMul (states, c_2)
   flat = Squeeze (mixed, third)
   skip = Mul (x, d)
   y = Add (flat, skip)
}""",
    weights={"w_low": "D R", "w_wide": "R D", "b_wide": "D", "w_b": "D N", "w_c": "D N",
     "a": lambda s, _: -np.tile(np.arange(1, s["N"] + 1, dtype=np.float32), (s["D"], 1)), "d": "D",
     "h0": lambda s, _: np.zeros((s["D"], s["N"]), np.float32)},
    sizes={"T": 500, "D": 64, "N": 16, "R": 4},
    small={**_SMALL, "R": 2},
)  # fmt: skip

linear = _case(
    name="linear_recurrence_loop",
    model="""linear (float[T, $D] x) => (float[T, $D] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   steps = Gather <axis = 0> (shape, zero)
   last, y = Loop (steps, always, h0) <body = step (int64 t, bool cond, float[$D] h)
      => (bool again, float[$D] h_next, float[$D] out) {
      e = Gather <axis = 0> (x, t)
      gate = MatMul (e, w_a)
      a_t = Sigmoid (gate)
      value = MatMul (e, w_b)
      b_t = Tanh (value)
      kept = Mul (a_t, h)
      h_next = Add (kept, b_t)
      out = MatMul (h_next, w_o)
      again = Identity (always)
   }>
}""",
    best="""linear (float[T, $D] x) => (float[T, $D] y) {
   gate = MatMul (x, w_a)
   a = Sigmoid (gate)
   value = MatMul (x, w_b)
   b = Tanh (value)
   last, states = Scan <num_scan_inputs = 2, body = step (float[$D] h, float[$D] a_t, float[$D] b_t)
      => (float[$D] h_next, float[$D] out) {
      kept = Mul (a_t, h)
      h_next = Add (kept, b_t)
      out = Identity (h_next)
   }> (h0, a, b)
   y = MatMul (states, w_o)
}""",
    weights={"w_a": "D D", "w_b": "D D", "w_o": "D D", "h0": "D"},
    sizes={"T": 1000, "D": 64},
)

retention = _case(
    name="retention_outer_products",
    model="""retention (float[$T, $D] x) => (float[$T, $D] y)
   <int64 steps = {$T}, bool always = {1}, float decay = {0.95}> {
   last, y = Loop (steps, always, s0) <body = step (int64 t, bool cond, float[$D, $D] s)
      => (bool again, float[$D, $D] s_next, float[$D] out)
      <int64[1] first = {0}, int64[1] second = {1}> {
      e = Gather <axis = 0> (x, t)
      q = MatMul (e, w_q)
      k = MatMul (e, w_k)
      v = MatMul (e, w_v)
      k_2 = Unsqueeze (k, second)
      v_2 = Unsqueeze (v, first)
      kv = Mul (k_2, v_2)
      old = Mul (s, decay)
      s_next = Add (old, kv)
      q_2 = Unsqueeze (q, first)
      o_2 = MatMul (q_2, s_next)
      out = Squeeze (o_2, first)
      again = Identity (cond)
   }>
}""",
    best="""retention (float[$T, $D] x) => (float[$T, $D] y)
   <float decay = {0.95}, int64[1] second = {1}, int64[1] third = {2}> {
   q = MatMul (x, w_q)
   k = MatMul (x, w_k)
   v = MatMul (x, w_v)
   q_2 = Unsqueeze (q, second)
   k_2 = Unsqueeze (k, third)
   v_2 = Unsqueeze (v, second)
   last, out = Scan <num_scan_inputs = 3, body = step
      (float[$D, $D] s, float[1, $D] q_t, float[$D, 1] k_t, float[1, $D] v_t)
      => (float[$D, $D] s_next, float[1, $D] o) {
      kv = Mul (k_t, v_t)
      old = Mul (s, decay)
      s_next = Add (old, kv)
      o = MatMul (q_t, s_next)
   }> (s0, q_2, k_2, v_2)
   y = Squeeze (out, second)
}""",
    weights={"w_q": "D D", "w_k": "D D", "w_v": "D D", "s0": lambda s,
     _: np.zeros((s["D"], s["D"]), np.float32)},
    sizes={"T": 300, "D": 32},
)  # fmt: skip

smoothing = _case(
    name="exponential_smoothing",
    model="""smoothing (float[T, $D] x) => (float[T, $D] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   steps = Gather <axis = 0> (shape, zero)
   last, y = Loop (steps, always, h0) <body = step (int64 t, bool cond, float[$D] h)
      => (bool again, float[$D] h_next, float[$D] out) {
      alpha = Constant <value = float {0.1}> ()
      beta = Constant <value = float {0.9}> ()
      e = Gather <axis = 0> (x, t)
      fresh = Mul (e, alpha)
      kept = Mul (h, beta)
      h_next = Add (fresh, kept)
      out = Identity (h_next)
      again = Identity (cond)
   }>
}""",
    best="""
smoothing (float[T, $D] x) => (float[T, $D] y) <float alpha = {0.1}, float beta = {0.9}> {
   fresh = Mul (x, alpha)
   last, y = Scan <num_scan_inputs = 1, body = step (float[$D] h, float[$D] f)
      => (float[$D] h_next, float[$D] out) {
      kept = Mul (h, beta)
      h_next = Add (f, kept)
      out = Identity (h_next)
   }> (h0, fresh)
}""",
    weights={"h0": "D"},
    sizes={"T": 1000, "D": 16},
)

reservoir = _case(
    name="echo_state_network",
    model="""
reservoir (float[T, $B, $D] x) => (float[T, $B, $D] y) <float leak = {0.3}, float rest = {0.7}> {
   last, y = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $D] e)
      => (float[$B, $H] h_next, float[$B, $D] out) {
      scaled = Mul (e, gain)
      ex = MatMul (scaled, w_in)
      hh = MatMul (h, w_res)
      sum = Add (ex, hh)
      fresh = Tanh (sum)
      part = Mul (fresh, leak)
      kept = Mul (h, rest)
      h_next = Add (kept, part)
      read = MatMul (h_next, w_out)
      biased = Add (read, bias)
      out = Sigmoid (biased)
   }> (h0, x)
}""",
    best="""
reservoir (float[T, $B, $D] x) => (float[T, $B, $D] y) <float leak = {0.3}, float rest = {0.7}> {
   scaled = Mul (x, gain)
   projected = MatMul (scaled, w_in)
   last, states = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $H] ex)
      => (float[$B, $H] h_next, float[$B, $H] out) {
      hh = MatMul (h, w_res)
      sum = Add (ex, hh)
      fresh = Tanh (sum)
      part = Mul (fresh, leak)
      kept = Mul (h, rest)
      h_next = Add (kept, part)
      out = Identity (h_next)
   }> (h0, projected)
   read = MatMul (states, w_out)
   biased = Add (read, bias)
   y = Sigmoid (biased)
}""",
    feeds={"x": "T B D"},
    weights={"gain": "D", "w_in": "D H", "w_res": "H H", "w_out": "H D", "bias": "D", "h0": "B H"},
    sizes={"T": 300, "B": 1, "D": 16, "H": 64},
)

attention_decoder = _case(
    name="recurrence_with_invariant_attention_keys",
    model="""decoder (float[T, $D] x, float[$N, $D] memory) => (float[T, $D] y)
   <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   steps = Gather <axis = 0> (shape, zero)
   last, y = Loop (steps, always, h0) <body = step (int64 t, bool cond, float[1, $D] h)
      => (bool again, float[1, $D] h_next, float[$D] out) <int64[1] first = {0}> {
      keys = MatMul (memory, w_k)
      keys_t = Transpose <perm = [1, 0]> (keys)
      values = MatMul (memory, w_v)
      query = MatMul (h, w_q)
      scores = MatMul (query, keys_t)
      weights = Softmax <axis = -1> (scores)
      context = MatMul (weights, values)
      e = Gather <axis = 0> (x, t)
      ex = MatMul (e, w_x)
      sum = Add (context, ex)
      h_next = Tanh (sum)
      out = Squeeze (h_next, first)
      again = Identity (always)
   }>
}""",
    best="""
decoder (float[T, $D] x, float[$N, $D] memory) => (float[T, $D] y) <int64[1] first = {0}> {
   keys = MatMul (memory, w_k)
   keys_t = Transpose <perm = [1, 0]> (keys)
   values = MatMul (memory, w_v)
   projected = MatMul (x, w_x)
   last, y = Scan <num_scan_inputs = 1, body = step (float[1, $D] h, float[$D] ex)
      => (float[1, $D] h_next, float[$D] out) {
      query = MatMul (h, w_q)
      scores = MatMul (query, keys_t)
      weights = Softmax <axis = -1> (scores)
      context = MatMul (weights, values)
      sum = Add (context, ex)
      h_next = Tanh (sum)
      out = Squeeze (h_next, first)
   }> (h0, projected)
}""",
    feeds={"x": "T D", "memory": "N D"},
    weights={"w_k": "D D", "w_v": "D D", "w_q": "D D", "w_x": "D D", "h0": "1 D"},
    sizes={"T": 200, "D": 64, "N": 64},
)

CASES = (mamba, linear, retention, smoothing, reservoir, attention_decoder)
