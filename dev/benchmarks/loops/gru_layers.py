"""Layers of gated recurrent units: both directions, two layers, the batch first."""

import functools

import numpy as np

from .case import Arrays, Case
from .gru import BATCH_FIRST, CELL, SIZES, SMALL, from_torch, gated
from .packing import others

_STEP = """(float[$B, $H] h, float[$B, $I] e) => (float[$B, $H] h_next, float[$B, $H] out) {
      gi = Gemm <transB = 1> (e, w_ih, b_ih)
      gh = Gemm <transB = 1> (h, w_hh, b_hh)
      i_r, i_z, i_n = Split <axis = 1> (gi)
      h_r, h_z, h_n = Split <axis = 1> (gh)
      r_sum = Add (h_r, i_r)
      reset = Sigmoid (r_sum)
      z_sum = Add (h_z, i_z)
      update = Sigmoid (z_sum)
      gated = Mul (h_n, reset)
      n_sum = Add (gated, i_n)
      new = Tanh (n_sum)
      less = Sub (h, new)
      kept = Mul (less, update)
      h_next = Add (kept, new)
      out = Identity (h_next)
   }"""


def _pair(given: Arrays) -> Arrays:
    names = ("w_ih", "w_hh", "b_ih", "b_hh")
    one = from_torch({name: given[name] for name in names})
    other = from_torch({name: given[f"{name}2"] for name in names})
    rest = others(given, *names, *(f"{name}2" for name in names))
    return {**rest, **{name: np.concatenate([one[name], other[name]]) for name in one}}


_case = functools.partial(Case, true_recurrence=True)

bidirectional = _case(
    name="gru_bidirectional_scans",
    model=f"""two_scans (float[T, $B, $I] x) => (float[T, $B, $H2] y) {{
   h_f, forward = Scan <num_scan_inputs = 1, body = ahead {_STEP}> (h0, x)
   h_b, back = Scan <num_scan_inputs = 1, scan_input_directions = [1],
      scan_output_directions = [1], body = behind {
        _STEP.replace("_ih", "_ih2").replace("_hh", "_hh2")
    }> (h0, x)
   y = Concat <axis = 2> (forward, back)
}}""",
    best="""gru (float[T, $B, $I] x) => (float[T, $B, $H2] y)
   <int64[1] first = {0}, int64[3] flat = {0, 0, -1}> {
   h = Unsqueeze (h0, first)
   both = Concat <axis = 0> (h, h)
   all = GRU <hidden_size = $H, direction = "bidirectional", linear_before_reset = 1>
      (x, w, r, b, , both)
   rows = Transpose <perm = [0, 2, 1, 3]> (all)
   y = Reshape (rows, flat)
}""",
    feeds={"x": "T B I"},
    weights={**CELL, "w_ih2": "G I", "w_hh2": "G H", "b_ih2": "G", "b_hh2": "G"},
    packed=_pair,
    sizes={**gated(SIZES), "H2": 2 * SIZES["H"]},
    small={**gated(SMALL), "H2": 2 * SMALL["H"]},
)


batch_first = _case(
    name="gru_scan_over_axis_1",
    model=f"""batch_first (float[$B, T, $I] x) => (float[$B, T, $H] y) {{
   last, y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
      body = step {_STEP}> (h0, x)
}}""",
    best=BATCH_FIRST,
    feeds={"x": "B T I"},
    weights=CELL,
    packed=from_torch,
    sizes={**gated(SIZES), "B": 8},
    small=gated(SMALL),
)


def _layers(given: Arrays) -> Arrays:
    both = _pair(given)
    made = {"h0": both.pop("h0")}
    for name, array in both.items():
        made |= {name: array[:1], f"{name}2": array[1:]}
    return made


layers = _case(
    name="gru_two_layers",
    model=f"""layers (float[T, $B, $H] x) => (float[T, $B, $H] y) {{
   h_1, inner = Scan <num_scan_inputs = 1, body = lower {_STEP.replace("$I", "$H")}> (h0, x)
   h_2, y = Scan <num_scan_inputs = 1, body = upper
      {_STEP.replace("$I", "$H").replace("_ih", "_ih2").replace("_hh", "_hh2")}> (h0, inner)
}}""",
    best="""
gru (float[T, $B, $H] x) => (float[T, $B, $H] y) <int64[1] first = {0}, int64[1] second = {1}> {
   h = Unsqueeze (h0, first)
   lower = GRU <hidden_size = $H, linear_before_reset = 1> (x, w, r, b, , h)
   inner = Squeeze (lower, second)
   upper = GRU <hidden_size = $H, linear_before_reset = 1> (inner, w2, r2, b2, , h)
   y = Squeeze (upper, second)
}""",
    feeds={"x": "T B H"},
    weights={**CELL, "w_ih": "G H", "w_ih2": "G H", "w_hh2": "G H", "b_ih2": "G", "b_hh2": "G"},
    packed=_layers,
    sizes=gated(SIZES),
    small=gated(SMALL),
)


CASES = (bidirectional, batch_first, layers)
