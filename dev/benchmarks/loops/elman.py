"""Simple recurrent cells, some with masks, lengths or other work in the body."""

import functools

import numpy as np

from .case import Arrays, Case, Sizes, size
from .packing import doubled, one_gate, others

_SIZES = {"T": 200, "B": 1, "I": 32, "H": 64}
_SMALL = {"T": 3, "B": 2, "I": 3, "H": 4}
_CELL = {"w_x": "I H", "w_h": "H H", "bias": "H", "h0": "B H"}


_RNN_ROWS = """
rnn (float[T, $B, $I] x) => (float[T, $B, $H] y) <int64[1] first = {0}, int64[1] second = {1}> {
   h = Unsqueeze (h0, first)
   all = RNN <hidden_size = $H> (x, w, r, b, , h)
   y = Squeeze (all, second)
}"""
# The operator computes activations one number at a time: with a batch it is slower than a Scan.
_HOISTED = """rnn (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   product = MatMul (x, w_x)
   projected = Add (product, bias)
   last, y = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $H] e)
      => (float[$B, $H] h_next, float[$B, $H] out) {
      hh = MatMul (h, w_h)
      sum = Add (hh, e)
      h_next = ACTIVATION (sum)
      out = Identity (h_next)
   }> (h0, projected)
}"""
_SCAN = """elman (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   last, y = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] out) {
      ex = MatMul (e, w_x)
      hh = MatMul (h, w_h)
      sum = Add (ex, hh)
      biased = Add (sum, bias)
      h_next = Tanh (biased)
      out = Identity (h_next)
   }> (h0, x)
}"""

_case = functools.partial(Case, feeds={"x": "T B I"}, small=_SMALL, true_recurrence=True)

elman = _case(
    name="rnn_elman_scan",
    model=_SCAN,
    best=_RNN_ROWS,
    weights=_CELL,
    packed=one_gate,
    sizes={**_SIZES, "T": 500},
)

relu = _case(
    name="rnn_relu_scan",
    model=_SCAN.replace("Tanh", "Relu"),
    best=_HOISTED.replace("ACTIVATION", "Relu"),
    weights=_CELL,
    sizes={**_SIZES, "B": 16},
)

given_length = _case(
    name="rnn_steps_given",
    model="""given (float[T, $B, $I] x, int64 steps) => (float[$B, $H] y) <bool always = {1}> {
   y = Loop (steps, always, h0) <body = step (int64 i, bool cond, float[$B, $H] h)
      => (bool again, float[$B, $H] h_next) {
      e = Gather <axis = 0> (x, i)
      ex = MatMul (e, w_x)
      hh = MatMul (h, w_h)
      sum = Add (hh, ex)
      biased = Add (bias, sum)
      h_next = Tanh (biased)
      again = Identity (cond)
   }>
}""",
    best="""rnn (float[T, $B, $I] x, int64 steps) => (float[$B, $H] y) <int64[1] first = {0}> {
   end = Unsqueeze (steps, first)
   taken = Slice (x, first, end, first)
   h = Unsqueeze (h0, first)
   all, last = RNN <hidden_size = $H> (taken, w, r, b, , h)
   y = Squeeze (last, first)
}""",
    feeds={"x": "T B I", "steps": size("T")},
    weights=_CELL,
    packed=one_gate,
    sizes=_SIZES,
)


def _lengths(sizes: Sizes, generator: np.random.Generator) -> np.ndarray:
    return generator.integers(1, sizes["T"] + 1, sizes["B"]).astype(np.int32)


masked = _case(
    name="rnn_masked",
    model="""masked (float[T, $B, $I] x, int32[$B] lengths) => (float[$B, $H] y)
   <int64[1] second = {1}, int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   steps = Gather <axis = 0> (shape, zero)
   y = Loop (steps, always, h0) <body = step (int64 t, bool cond, float[$B, $H] h)
      => (bool again, float[$B, $H] h_next) {
      e = Gather <axis = 0> (x, t)
      ex = MatMul (e, w_x)
      hh = MatMul (h, w_h)
      sum = Add (ex, hh)
      biased = Add (sum, bias)
      new = Tanh (biased)
      t32 = Cast <to = 6> (t)
      inside = Less (t32, lengths)
      mask = Unsqueeze (inside, second)
      h_next = Where (mask, new, h)
      again = Identity (always)
   }>
}""",
    best="""rnn (float[T, $B, $I] x, int32[$B] lengths) => (float[$B, $H] y)
   <int64 zero = {0}, int64 one = {1}, int64[2] above = {1, 2}, int64[1] last = {-1}> {
   shape = Shape (x)
   steps = Gather <axis = 0> (shape, zero)
   numbers = Range (zero, steps, one)
   numbers_32 = Cast <to = 6> (numbers)
   times = Unsqueeze (numbers_32, above)
   ends = Unsqueeze (lengths, last)
   masks = Less (times, ends)
   product = MatMul (x, w_x)
   projected = Add (product, bias)
   y = Scan <num_scan_inputs = 2, body = step
      (float[$B, $H] h, float[$B, $H] e, bool[$B, 1] mask) => (float[$B, $H] h_next) {
      hh = MatMul (h, w_h)
      sum = Add (hh, e)
      new = Tanh (sum)
      h_next = Where (mask, new, h)
   }> (h0, projected, masks)
}""",
    feeds={"x": "T B I", "lengths": _lengths},
    weights=_CELL,
    sizes={**_SIZES, "B": 8},
)

bidirectional = _case(
    name="rnn_bidirectional_by_reversal",
    model="""reversal (float[$T, $B, $I] x) => (float[$T, $B, $H2] y)
   <int64[1] first = {0}, int64[1] end = {-1}, int64[1] before = {-9223372036854775807}> {
   a, forward = Scan <num_scan_inputs = 1, body = ahead (float[$B, $H] h, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] out) {
      ex = MatMul (e, w_x)
      hh = Gemm (h, w_h, bias)
      sum = Add (ex, hh)
      h_next = Tanh (sum)
      out = Identity (h_next)
   }> (h0, x)
   back = Slice (x, end, before, first, end)
   b, reversed = Scan <num_scan_inputs = 1, body = behind (float[$B, $H] h, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] out) {
      ex = MatMul (e, w_x2)
      hh = Gemm (h, w_h2, bias2)
      sum = Add (ex, hh)
      h_next = Tanh (sum)
      out = Identity (h_next)
   }> (h0, back)
   backward = Slice (reversed, end, before, first, end)
   y = Concat <axis = 2> (forward, backward)
}""",
    best="""rnn (float[$T, $B, $I] x) => (float[$T, $B, $H2] y)
   <int64[1] first = {0}, int64[3] flat = {0, 0, -1}> {
   h = Unsqueeze (h0, first)
   both = Concat <axis = 0> (h, h)
   all = RNN <hidden_size = $H, direction = "bidirectional", activations = ["Tanh", "Tanh"]>
      (x, w, r, b, , both)
   rows = Transpose <perm = [0, 2, 1, 3]> (all)
   y = Reshape (rows, flat)
}""",
    weights={**_CELL, "w_x2": "I H", "w_h2": "H H", "bias2": "H"},
    packed=lambda given: {
        "w": np.stack([given["w_x"].T, given["w_x2"].T]),
        "r": np.stack([given["w_h"].T, given["w_h2"].T]),
        "b": np.stack([doubled(given["bias"]), doubled(given["bias2"])]),
        "h0": given["h0"],
    },
    sizes={**_SIZES, "H2": 2 * _SIZES["H"]},
    small={**_SMALL, "H2": 2 * _SMALL["H"]},
)

normalized = _case(
    name="rnn_weights_normalized_inside",
    model="""normalized (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   last, y = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] out) {
      length = ReduceL2 <axes = [0], keepdims = 1> (w_h)
      unit = Div (w_h, length)
      scaled = Mul (unit, gain)
      w_t = Transpose <perm = [1, 0]> (w_x)
      back = Transpose <perm = [1, 0]> (w_t)
      ex = MatMul (e, back)
      hh = MatMul (h, scaled)
      sum = Add (ex, hh)
      biased = Add (sum, bias)
      h_next = Tanh (biased)
      out = Identity (h_next)
   }> (h0, x)
}""",
    best=_RNN_ROWS,
    weights={**_CELL, "gain": "H"},
    packed=lambda given: one_gate(_normalized(given)),
    sizes=_SIZES,
)


def _normalized(given: Arrays) -> Arrays:
    length = np.linalg.norm(given["w_h"], axis=0, keepdims=True)
    return {**others(given, "gain"), "w_h": given["w_h"] / length * given["gain"]}


three_states = _case(
    name="rnn_three_states_one_real",
    model="""
states (float[T, $B, $I] x, float[$B, $I] shift) => (float[$B, $H] y, float[T, $B, $H] all)
   <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   steps = Gather <axis = 0> (shape, zero)
   count, same, y, all = Loop (steps, always, zero, shift, h0) <body = step
      (int64 i, bool cond, int64 t, float[$B, $I] given, float[$B, $H] h)
      => (bool again, int64 t_next, float[$B, $I] given_next, float[$B, $H] h_next,
          float[$B, $H] out) <int64 one = {1}> {
      e = Gather <axis = 0> (x, t)
      moved = Add (e, given)
      ex = MatMul (moved, w_x)
      hh = MatMul (h, w_h)
      sum = Add (ex, hh)
      biased = Add (sum, bias)
      h_next = Tanh (biased)
      out = Identity (h_next)
      given_next = Identity (given)
      t_next = Add (t, one)
      again = Identity (cond)
   }>
}""",
    best="""rnn (float[T, $B, $I] x, float[$B, $I] shift) => (float[$B, $H] y, float[T, $B, $H] all)
   <int64[1] first = {0}, int64[1] second = {1}> {
   moved = Add (x, shift)
   h = Unsqueeze (h0, first)
   rows, last = RNN <hidden_size = $H> (moved, w, r, b, , h)
   y = Squeeze (last, first)
   all = Squeeze (rows, second)
}""",
    feeds={"x": "T B I", "shift": "B I"},
    weights=_CELL,
    packed=one_gate,
    sizes={**_SIZES, "T": 300},
)

CASES = (elman, relu, given_length, masked, bidirectional, normalized, three_states)
