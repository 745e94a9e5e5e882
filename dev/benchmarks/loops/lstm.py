"""Long short-term memory cells."""

import functools

import numpy as np

from .case import Arrays, Case
from .packing import doubled, others, separate_gates, torch_cell

_SIZES = {"T": 200, "B": 1, "I": 32, "H": 64}
_SMALL = {"T": 3, "B": 2, "I": 3, "H": 4}
_STATES = {"h0": "B H", "c0": "B H"}
_CELL = {"w_ih": "G I", "w_hh": "G H", "b_ih": "G", "b_hh": "G", **_STATES}
_GATES = {
    **{f"w_{gate}": "I H" for gate in "iofc"},
    **{f"u_{gate}": "H H" for gate in "iofc"},
    **{f"b_{gate}": "H" for gate in "iofc"},
    **_STATES,
}


def _gated(sizes: dict[str, int]) -> dict[str, int]:
    return {**sizes, "G": 4 * sizes["H"]}


_LSTM_ROWS = """
lstm (float[T, $B, $I] x) => (float[T, $B, $H] y) <int64[1] first = {0}, int64[1] second = {1}> {
   h = Unsqueeze (h0, first)
   c = Unsqueeze (c0, first)
   all = LSTM <hidden_size = $H> (x, w, r, b, , h, c)
   y = Squeeze (all, second)
}"""

_case = functools.partial(
    Case, feeds={"x": "T B I"}, sizes=_gated(_SIZES), small=_gated(_SMALL), true_recurrence=True
)

torch_list = _case(
    name="lstm_torch_list",
    model="""
torch_jit (float[T, $B, $I] x) => (float[T, $B, $H] y, float[$B, $H] h_n, float[$B, $H] c_n)
   <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   nothing = SequenceEmpty <dtype = 1> ()
   outs, h_n, c_n = Loop (length, always, nothing, h0, c0) <body = step
      (int64 t, bool cond, seq(float[$B, $H]) list, float[$B, $H] h, float[$B, $H] c)
      => (bool again, seq(float[$B, $H]) list_next, float[$B, $H] h_next, float[$B, $H] c_next) {
      x_t = Gather <axis = 0> (x, t)
      gi = Gemm <transB = 1> (x_t, w_ih, b_ih)
      gh = Gemm <transB = 1> (h, w_hh, b_hh)
      gates = Add (gi, gh)
      in_gate, forget_gate, cell_gate, out_gate = Split <axis = 1> (gates)
      i = Sigmoid (in_gate)
      f = Sigmoid (forget_gate)
      g = Tanh (cell_gate)
      o = Sigmoid (out_gate)
      fc = Mul (f, c)
      ig = Mul (i, g)
      c_next = Add (fc, ig)
      c_tanh = Tanh (c_next)
      h_next = Mul (o, c_tanh)
      list_next = SequenceInsert (list, h_next)
      again = Identity (always)
   }>
   y = ConcatFromSequence <axis = 0, new_axis = 1> (outs)
}""",
    best="""lstm (float[T, $B, $I] x) => (float[T, $B, $H] y, float[$B, $H] h_n, float[$B, $H] c_n)
   <int64[1] first = {0}, int64[1] second = {1}> {
   h = Unsqueeze (h0, first)
   c = Unsqueeze (c0, first)
   all, h_last, c_last = LSTM <hidden_size = $H> (x, w, r, b, , h, c)
   y = Squeeze (all, second)
   h_n = Squeeze (h_last, first)
   c_n = Squeeze (c_last, first)
}""",
    weights=_CELL,
    packed=torch_cell([0, 3, 1, 2]),
)


def _fused(given: Arrays) -> Arrays:
    """One kernel for input above state; gates i, g, f, o."""
    i, g, f, o = np.split(given["kernel"], 4, axis=1)
    bi, bg, bf, bo = np.split(given["bias"], 4)
    kernel = np.concatenate([i, o, f, g], axis=1)
    width = len(kernel) - len(bi)
    return {
        **others(given, "kernel", "bias"),
        "w": kernel[:width].T[None],
        "r": kernel[width:].T[None],
        "b": doubled(np.concatenate([bi, bo, bf, bg]))[None],
    }


fused = _case(
    name="lstm_fused_scan",
    model="""fused (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   h_n, c_n, y = Scan <num_scan_inputs = 1, body = step
      (float[$B, $H] h, float[$B, $H] c, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] c_next, float[$B, $H] out) {
      both = Concat <axis = -1> (e, h)
      product = MatMul (both, kernel)
      gates = Add (product, bias)
      i_sum, g_sum, f_sum, o_sum = Split <axis = -1> (gates)
      i = Sigmoid (i_sum)
      f = Sigmoid (f_sum)
      g = Tanh (g_sum)
      o = Sigmoid (o_sum)
      fc = Mul (c, f)
      ig = Mul (i, g)
      c_next = Add (fc, ig)
      c_tanh = Tanh (c_next)
      h_next = Mul (c_tanh, o)
      out = Identity (h_next)
   }> (h0, c0, x)
}""",
    best=_LSTM_ROWS,
    weights={"kernel": "J G", "bias": "G", **_STATES},
    packed=_fused,
    sizes={**_gated(_SIZES), "J": 96},
    small={**_gated(_SMALL), "J": 7},
)


_SEPARATE = """keras (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   h_n, c_n, y = Scan <num_scan_inputs = 1, body = step
      (float[$B, $H] h, float[$B, $H] c, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] c_next, float[$B, $H] out) {
      xi = MatMul (e, w_i)
      xf = MatMul (e, w_f)
      xc = MatMul (e, w_c)
      xo = MatMul (e, w_o)
      xi_b = Add (xi, b_i)
      xf_b = Add (xf, b_f)
      xc_b = Add (xc, b_c)
      xo_b = Add (xo, b_o)
      hi = MatMul (h, u_i)
      hf = MatMul (h, u_f)
      hc = MatMul (h, u_c)
      ho = MatMul (h, u_o)
      i_sum = Add (xi_b, hi)
      f_sum = Add (xf_b, hf)
      c_sum = Add (xc_b, hc)
      o_sum = Add (xo_b, ho)
      i = SIGMA (i_sum)
      f = SIGMA (f_sum)
      g = Tanh (c_sum)
      o = SIGMA (o_sum)
      fc = Mul (f, c)
      ig = Mul (i, g)
      c_next = Add (fc, ig)
      c_tanh = Tanh (c_next)
      h_next = Mul (o, c_tanh)
      out = Identity (h_next)
   }> (h0, c0, x)
}"""

separate = _case(
    name="lstm_separate_gates",
    model=_SEPARATE.replace("SIGMA", "Sigmoid"),
    best=_LSTM_ROWS,
    weights=_GATES,
    packed=separate_gates("iofc"),
    sizes=_SIZES,
    small=_SMALL,
)

hard = _case(
    name="lstm_hard_sigmoid",
    model=_SEPARATE.replace("SIGMA", "HardSigmoid"),
    best=_LSTM_ROWS.replace(
        "hidden_size = $H", 'hidden_size = $H, activations = ["HardSigmoid", "Tanh", "Tanh"]'
    ),
    weights=_GATES,
    packed=separate_gates("iofc"),
    sizes={**_SIZES, "B": 8},
    small=_SMALL,
)


def _peephole(given: Arrays) -> Arrays:
    peeps = np.concatenate([given["p_i"], given["p_o"], given["p_f"]])[None]
    return {**torch_cell([0, 3, 1, 2])(others(given, "p_i", "p_f", "p_o")), "p": peeps}


peephole = _case(
    name="lstm_peephole",
    model="""peephole (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   h_n, c_n, y = Scan <num_scan_inputs = 1, body = step
      (float[$B, $H] h, float[$B, $H] c, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] c_next, float[$B, $H] out) {
      gi = Gemm <transB = 1> (e, w_ih, b_ih)
      gh = Gemm <transB = 1> (h, w_hh, b_hh)
      gates = Add (gi, gh)
      i_sum, f_sum, g_sum, o_sum = Split <axis = 1> (gates)
      i_peep = Mul (p_i, c)
      i_all = Add (i_sum, i_peep)
      i = Sigmoid (i_all)
      f_peep = Mul (p_f, c)
      f_all = Add (f_sum, f_peep)
      f = Sigmoid (f_all)
      g = Tanh (g_sum)
      fc = Mul (f, c)
      ig = Mul (i, g)
      c_next = Add (fc, ig)
      o_peep = Mul (p_o, c_next)
      o_all = Add (o_sum, o_peep)
      o = Sigmoid (o_all)
      c_tanh = Tanh (c_next)
      h_next = Mul (o, c_tanh)
      out = Identity (h_next)
   }> (h0, c0, x)
}""",
    best=_LSTM_ROWS.replace(", h, c)", ", h, c, p)"),
    weights={**_CELL, "p_i": "H", "p_f": "H", "p_o": "H"},
    packed=_peephole,
)


one_step = _case(
    name="lstm_node_in_loop",
    model="""decoder (float[T, $B, $I] x) => (float[T, $B, $H] y)
   <int64[1] first = {0}, int64[1] second = {1}, int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   h_first = Unsqueeze (h0, first)
   c_first = Unsqueeze (c0, first)
   h_n, c_n, y = Loop (length, always, h_first, c_first) <body = step
      (int64 t, bool cond, float[1, $B, $H] h, float[1, $B, $H] c)
      => (bool again, float[1, $B, $H] h_next, float[1, $B, $H] c_next, float[$B, $H] out) {
      x_t = Gather <axis = 0> (x, t)
      x_step = Unsqueeze (x_t, first)
      all, h_next, c_next = LSTM <hidden_size = $H> (x_step, w, r, b, , h, c)
      rows = Squeeze (all, second)
      out = Squeeze (rows, first)
      again = Identity (cond)
   }>
}""",
    best=_LSTM_ROWS,
    weights={"w": "1 G I", "r": "1 G H", "b": "1 E", **_STATES},
    sizes={**_gated(_SIZES), "E": 8 * _SIZES["H"]},
    small={**_gated(_SMALL), "E": 8 * _SMALL["H"]},
)

_BACKWARD_STEP = """(int64 k, bool cond, float[$B, $H] h, float[$B, $H] c)
      => (bool again, float[$B, $H] h_next, float[$B, $H] c_next, float[$B, $H] out) {
      INDEX
      x_t = Gather <axis = 0> (x, t)
      gi = Gemm <transB = 1> (x_t, w_ih, b_ih)
      gh = Gemm <transB = 1> (h, w_hh, b_hh)
      gates = Add (gi, gh)
      i_sum, f_sum, g_sum, o_sum = Split <axis = 1> (gates)
      i = Sigmoid (i_sum)
      f = Sigmoid (f_sum)
      g = Tanh (g_sum)
      o = Sigmoid (o_sum)
      fc = Mul (f, c)
      ig = Mul (i, g)
      c_next = Add (fc, ig)
      c_tanh = Tanh (c_next)
      h_next = Mul (o, c_tanh)
      out = Identity (h_next)
      again = Identity (cond)
   }"""

backward = _case(
    name="lstm_backward_by_index",
    model=f"""backward (float[T, $B, $I] x) => (float[T, $B, $H] y)
   <int64 zero = {{0}}, int64 one = {{1}}, bool always = {{1}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   h_n, c_n, y = Loop (length, always, h0, c0) <body = step
      {_BACKWARD_STEP.replace("INDEX", "left = Sub (length, k)  t = Sub (left, one)")}>
}}""",
    best="""lstm (float[T, $B, $I] x) => (float[T, $B, $H] y)
   <int64[1] first = {0}, int64[1] second = {1}, int64[1] end = {-1},
    int64[1] before = {-9223372036854775807}> {
   back = Slice (x, end, before, first, end)
   h = Unsqueeze (h0, first)
   c = Unsqueeze (c0, first)
   all = LSTM <hidden_size = $H> (back, w, r, b, , h, c)
   y = Squeeze (all, second)
}""",
    weights=_CELL,
    packed=torch_cell([0, 3, 1, 2]),
)

CASES = (torch_list, fused, separate, hard, peephole, one_step, backward)
