"""Gated recurrent units, as libraries and people write them."""

import functools

import numpy as np

from .case import Arrays, Case
from .packing import blocks, separate_gates, torch_cell

SIZES = {"T": 200, "B": 1, "I": 32, "H": 64}
SMALL = {"T": 3, "B": 2, "I": 3, "H": 4}
CELL = {"w_ih": "G I", "w_hh": "G H", "b_ih": "G", "b_hh": "G", "h0": "B H"}
_GATES = {
    **{f"w_{gate}": "I H" for gate in "zrh"},
    **{f"u_{gate}": "H H" for gate in "zrh"},
    **{f"b_{gate}": "H" for gate in "zrh"},
    "h0": "B H",
}


def gated(sizes: dict[str, int]) -> dict[str, int]:
    return {**sizes, "G": 3 * sizes["H"]}


from_torch = torch_cell([1, 0, 2])
BATCH_FIRST = """
gru (float[$B, T, $I] x) => (float[$B, T, $H] y) <int64[1] first = {0}, int64[1] second = {1}> {
   steps = Transpose <perm = [1, 0, 2]> (x)
   h = Unsqueeze (h0, first)
   all = GRU <hidden_size = $H, linear_before_reset = 1> (steps, w, r, b, , h)
   rows = Squeeze (all, second)
   y = Transpose <perm = [1, 0, 2]> (rows)
}"""
_LAST = """gru (float[$T, $B, $I] x) => (float[$B, $H] y) <int64[1] first = {0}> {
   h = Unsqueeze (h0, first)
   unused, last = GRU <hidden_size = $H, linear_before_reset = 1> (x, w, r, b, , h)
   y = Squeeze (last, first)
}"""
_ROWS = """
gru (float[T, $B, $I] x) => (float[T, $B, $H] y) <int64[1] first = {0}, int64[1] second = {1}> {
   h = Unsqueeze (h0, first)
   all = GRU <hidden_size = $H, linear_before_reset = $LBR> (x, w, r, b, , h)
   y = Squeeze (all, second)
}"""

_case = functools.partial(Case, feeds={"x": "T B I"}, true_recurrence=True)

torch_list = _case(
    name="gru_torch_list",
    model="""
torch_jit (float[$B, T, $I] x) => (float[$B, T, $H] y) <int64 one = {1}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, one)
   nothing = SequenceEmpty <dtype = 1> ()
   last, outs = Loop (length, always, h0, nothing) <body = step
      (int64 i, bool cond, float[$B, $H] h, seq(float[$B, $H]) list)
      => (bool again, float[$B, $H] h_next, seq(float[$B, $H]) list_next) {
      x_t = Gather <axis = 1> (x, i)
      gi = Gemm <transB = 1> (x_t, w_ih, b_ih)
      gh = Gemm <transB = 1> (h, w_hh, b_hh)
      i_r, i_z, i_n = Split <axis = 1> (gi)
      h_r, h_z, h_n = Split <axis = 1> (gh)
      r_sum = Add (i_r, h_r)
      reset = Sigmoid (r_sum)
      z_sum = Add (i_z, h_z)
      update = Sigmoid (z_sum)
      gated = Mul (reset, h_n)
      n_sum = Add (i_n, gated)
      new = Tanh (n_sum)
      less = Sub (h, new)
      kept = Mul (update, less)
      h_next = Add (new, kept)
      list_next = SequenceInsert (list, h_next)
      again = Identity (always)
   }>
   y = ConcatFromSequence <axis = 1, new_axis = 1> (outs)
}""",
    best=BATCH_FIRST,
    feeds={"x": "B T I"},
    weights=CELL,
    packed=from_torch,
    sizes=gated(SIZES),
    small=gated(SMALL),
)

torch_last = _case(
    name="gru_torch_last_of_list",
    model="""torch_jit (float[$T, $B, $I] x) => (float[$B, $H] y)
   <int64 length = {$T}, int64 end = {-1}, bool always = {1}> {
   nothing = SequenceEmpty <dtype = 1> ()
   last, outs = Loop (length, always, h0, nothing) <body = step
      (int64 i, bool cond, float[$B, $H] h, seq(float[$B, $H]) list)
      => (bool again, float[$B, $H] h_next, seq(float[$B, $H]) list_next)
      <int64[1] s0 = {0}, int64[1] s1 = {$H}, int64[1] s2 = {$H2}, int64[1] s3 = {$G},
       int64[1] axis = {1}> {
      x_t = Gather <axis = 0> (x, i)
      w_t = Transpose <perm = [1, 0]> (w_ih)
      gx = MatMul (x_t, w_t)
      gi = Add (b_ih, gx)
      u_t = Transpose <perm = [1, 0]> (w_hh)
      hx = MatMul (h, u_t)
      gh = Add (b_hh, hx)
      i_r = Slice (gi, s0, s1, axis)
      i_z = Slice (gi, s1, s2, axis)
      i_n = Slice (gi, s2, s3, axis)
      h_r = Slice (gh, s0, s1, axis)
      h_z = Slice (gh, s1, s2, axis)
      h_n = Slice (gh, s2, s3, axis)
      r_sum = Add (i_r, h_r)
      reset = Sigmoid (r_sum)
      z_sum = Add (i_z, h_z)
      update = Sigmoid (z_sum)
      gated = Mul (reset, h_n)
      n_sum = Add (i_n, gated)
      new = Tanh (n_sum)
      one = Constant <value = float {1}> ()
      rest = Sub (one, update)
      fresh = Mul (rest, new)
      kept = Mul (update, h)
      h_next = Add (fresh, kept)
      list_next = SequenceInsert (list, h_next)
      again = Identity (cond)
   }>
   y = SequenceAt (outs, end)
}""",
    best=_LAST,
    weights=CELL,
    packed=from_torch,
    sizes={**gated(SIZES), "H2": 2 * SIZES["H"]},
    small={**gated(SMALL), "H2": 2 * SMALL["H"]},
)

separate = _case(
    name="gru_separate_gates",
    model="""keras (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   last, y = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $I] e)
      => (float[$B, $H] h_next, float[$B, $H] out) <float one = {1}> {
      xz = MatMul (e, w_z)
      xr = MatMul (e, w_r)
      xh = MatMul (e, w_h)
      hz = MatMul (h, u_z)
      hr = MatMul (h, u_r)
      z_sum = Add (xz, hz)
      z_biased = Add (z_sum, b_z)
      z = Sigmoid (z_biased)
      r_sum = Add (xr, hr)
      r_biased = Add (r_sum, b_r)
      r = Sigmoid (r_biased)
      rh = Mul (r, h)
      hh = MatMul (rh, u_h)
      c_sum = Add (xh, hh)
      c_biased = Add (c_sum, b_h)
      c = Tanh (c_biased)
      old = Mul (z, h)
      rest = Sub (one, z)
      fresh = Mul (rest, c)
      h_next = Add (old, fresh)
      out = Identity (h_next)
   }> (h0, x)
}""",
    best=_ROWS,
    weights=_GATES,
    packed=separate_gates("zrh"),
    sizes={**SIZES, "LBR": 0},
    small={**SMALL, "LBR": 0},
)


def _flax(given: Arrays) -> Arrays:
    none = np.zeros_like(given["b_n"])
    biases = [blocks(given["b_all"], [1, 0, 2]), none, none, given["b_n"]]
    return {
        "w": blocks(given["w_all"], [1, 0, 2], 1).T[None],
        "r": np.concatenate([given[f"u_{gate}"].T for gate in "zrn"])[None],
        "b": np.concatenate(biases)[None],
        "h0": given["h0"],
    }


hoisted = _case(
    name="gru_projected_before",
    model="""flax (float[T, $B, $I] x) => (float[T, $B, $H] y) {
   product = MatMul (x, w_all)
   gates = Add (product, b_all)
   last, y = Scan <num_scan_inputs = 1, body = step (float[$B, $H] h, float[$B, $G] g)
      => (float[$B, $H] h_next, float[$B, $H] out) <float one = {1}> {
      x_r, x_z, x_n = Split <axis = -1> (g)
      hr = MatMul (h, u_r)
      r_sum = Add (x_r, hr)
      r = Sigmoid (r_sum)
      hz = MatMul (h, u_z)
      z_sum = Add (hz, x_z)
      z = Sigmoid (z_sum)
      hn = MatMul (h, u_n)
      biased = Add (hn, b_n)
      rh = Mul (biased, r)
      n_sum = Add (x_n, rh)
      n = Tanh (n_sum)
      rest = Sub (one, z)
      fresh = Mul (rest, n)
      old = Mul (z, h)
      h_next = Add (fresh, old)
      out = Identity (h_next)
   }> (h0, gates)
}""",
    best=_ROWS,
    weights={"w_all": "I G", "b_all": "G", "u_r": "H H", "u_z": "H H", "u_n": "H H", "b_n": "H",
     "h0": "B H"},
    packed=_flax,
    sizes={**gated(SIZES), "LBR": 1},
    small={**gated(SMALL), "LBR": 1},
)  # fmt: skip


def _tensorflow(given: Arrays) -> Arrays:
    """Kernels of the input and the state one above the other, the reset gate first."""
    kernel = np.concatenate(
        [blocks(given["kernel_gates"], [1, 0], 1), given["kernel_candidate"]], axis=1
    )
    bias = np.concatenate([blocks(given["bias_gates"], [1, 0]), given["bias_candidate"]])
    width = len(kernel) - len(given["bias_candidate"])
    return {
        "w": kernel[:width].T[None],
        "r": kernel[width:].T[None],
        "b": np.concatenate([bias, np.zeros_like(bias)])[None],
        "h0": given["h0"],
    }


tensorflow = _case(
    name="gru_tensorflow_while",
    opset=13,
    model="""
tf2onnx (float[$B, $T, $I] x) => (float[$B, $H] y) <int64 length = {$T}, bool true = {1}> {
   steps = Transpose <perm = [1, 0, 2]> (x)
   t_last, y = Loop (length, true, zero, h0) <body = while
      (int64 i, bool cond, int32 time, float[$B, $H] h)
      => (bool again, int32 time_next, float[$B, $H] h_next)
      <int32 tick = {1}, float one = {1}> {
      x_t = Gather <axis = 0> (steps, time)
      both = Concat <axis = 1> (x_t, h)
      gates_sum = MatMul (both, kernel_gates)
      gates_biased = Add (gates_sum, bias_gates)
      gates = Sigmoid (gates_biased)
      r, u = Split <axis = 1> (gates)
      rh = Mul (r, h)
      inner = Concat <axis = 1> (x_t, rh)
      c_sum = MatMul (inner, kernel_candidate)
      c_biased = Add (c_sum, bias_candidate)
      c = Tanh (c_biased)
      uh = Mul (u, h)
      rest = Sub (one, u)
      uc = Mul (rest, c)
      h_next = Add (uh, uc)
      time_next = Add (time, tick)
      again = Identity (cond)
   }>
}""",
    best="""gru (float[$B, $T, $I] x) => (float[$B, $H] y) <int64[1] first = {0}> {
   steps = Transpose <perm = [1, 0, 2]> (x)
   h = Unsqueeze (h0, first)
   unused, last = GRU <hidden_size = $H> (steps, w, r, b, , h)
   y = Squeeze (last, first)
}""",
    feeds={"x": "B T I"},
    weights={"kernel_gates": "J D", "bias_gates": "D", "kernel_candidate": "J H",
     "bias_candidate": "H", "h0": "B H", "zero": lambda sizes, _: np.array(0, np.int32)},
    packed=_tensorflow,
    sizes={**SIZES, "J": 96, "D": 128},
    small={**SMALL, "J": 7, "D": 8},
)  # fmt: skip


CASES = (torch_list, torch_last, separate, hoisted, tensorflow)
