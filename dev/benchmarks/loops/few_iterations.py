"""Loops of two to eight iterations, each of which needs the one before: here unrolling may pay."""

import functools

import numpy as np

from .case import Case

_SMALL = {"B": 2, "D": 3, "H": 4, "K": 3, "C": 2, "W": 4}


def _unrolled(head: str, step: str, iterations: int, tail: str) -> str:
    """A straight line: `A0` and `A1` in the text of a step are the state before and behind it."""
    lines = []
    for iteration in range(iterations):
        text = step.replace("A0", f"s{iteration}").replace("A1", f"s{iteration + 1}")
        lines.append(text.replace("#", f"_{iteration}"))
    return f"{head}{''.join(lines)}{tail}\n}}"


_case = functools.partial(Case, small=_SMALL, true_recurrence=True)

newton = _case(
    name="newton_root_5_iterations",
    model="""newton (float[$B, $D] x) => (float[$B, $D] y)
   <int64 iterations = {5}, bool always = {1}, float half = {0.5}> {
   y = Loop (iterations, always, x) <body = step (int64 i, bool cond, float[$B, $D] g)
      => (bool again, float[$B, $D] g_next) {
      part = Div (x, g)
      sum = Add (g, part)
      g_next = Mul (sum, half)
      again = Identity (cond)
   }>
}""",
    best=_unrolled(
        """newton (float[$B, $D] x) => (float[$B, $D] y) <float half = {0.5}> {
   s0 = Identity (x)""",
        """
   part# = Div (x, A0)
   sum# = Add (A0, part#)
   A1 = Mul (sum#, half)""",
        5,
        "\n   y = Identity (s5)",
    ),
    feeds={"x": lambda s, g: g.uniform(1, 4, (s["B"], s["D"])).astype(np.float32)},
    sizes={"B": 4, "D": 16},
)

_RESIDUAL_STEP = """
   a# = MatMul (A0, w1)
   b# = Add (a#, b1)
   c# = Relu (b#)
   d# = MatMul (c#, w2)
   e# = Add (d#, b2)
   f# = Add (A0, e#)
   A1 = LayerNormalization (f#, gain, bias)"""

residual = _case(
    name="weight_shared_layers_6_iterations",
    model="""
shared (float[$B, $D] x) => (float[$B, $D] y) <int64 iterations = {6}, bool always = {1}> {
   y = Loop (iterations, always, x) <body = layer (int64 i, bool cond, float[$B, $D] h)
      => (bool again, float[$B, $D] h_next) {
      a = MatMul (h, w1)
      b = Add (a, b1)
      c = Relu (b)
      d = MatMul (c, w2)
      e = Add (d, b2)
      f = Add (h, e)
      h_next = LayerNormalization (f, gain, bias)
      again = Identity (cond)
   }>
}""",
    best=_unrolled("\nshared (float[$B, $D] x) => (float[$B, $D] y) {\n   s0 = Identity (x)",
     _RESIDUAL_STEP, 6, "\n   y = Identity (s6)"),
    feeds={"x": "B D"},
    weights={"w1": "D H", "b1": "H", "w2": "H D", "b2": "D", "gain": "D", "bias": "D"},
    sizes={"B": 32, "D": 64, "H": 128},
)  # fmt: skip

sinkhorn = _case(
    name="sinkhorn_8_iterations",
    model="""sinkhorn (float[$B, $D] x) => (float[$B, $D] y)
   <int64 iterations = {8}, bool always = {1}, int64[1] first = {0}, int64[1] second = {1}> {
   positive = Exp (x)
   y = Loop (iterations, always, positive) <body = step (int64 i, bool cond, float[$B, $D] p)
      => (bool again, float[$B, $D] p_next) {
      rows = ReduceSum <keepdims = 1> (p, second)
      by_row = Div (p, rows)
      columns = ReduceSum <keepdims = 1> (by_row, first)
      p_next = Div (by_row, columns)
      again = Identity (cond)
   }>
}""",
    best=_unrolled(
        """
sinkhorn (float[$B, $D] x) => (float[$B, $D] y) <int64[1] first = {0}, int64[1] second = {1}> {
   s0 = Exp (x)""",
        """
   rows# = ReduceSum <keepdims = 1> (A0, second)
   by_row# = Div (A0, rows#)
   columns# = ReduceSum <keepdims = 1> (by_row#, first)
   A1 = Div (by_row#, columns#)""",
        8,
        "\n   y = Identity (s8)",
    ),
    feeds={"x": "B D"},
    sizes={"B": 16, "D": 16},
)

_ROUTING_STEP = """
   squares# = Mul (A0, A0)
   norm# = ReduceSum <keepdims = 1> (squares#, first)
   more# = Add (norm#, one)
   share# = Div (norm#, more#)
   root# = Sqrt (norm#)
   unit# = Div (A0, root#)
   v# = Mul (unit#, share#)"""

two_steps = _case(
    name="routing_2_iterations",
    model="""routing (float[$K, $D] votes) => (float[$D] y)
   <int64 iterations = {2}, bool always = {1}, int64[1] first = {0}, int64[1] second = {1}> {
   last, y = Loop (iterations, always, logits, none) <body = step
      (int64 i, bool cond, float[$K] b, float[$D] before)
      => (bool again, float[$K] b_next, float[$D] v) <float one = {1}> {
      c = Softmax <axis = 0> (b)
      c_2 = Unsqueeze (c, second)
      weighted = Mul (votes, c_2)
      s = ReduceSum <keepdims = 0> (weighted, first)
      squares = Mul (s, s)
      norm = ReduceSum <keepdims = 1> (squares, first)
      more = Add (norm, one)
      share = Div (norm, more)
      root = Sqrt (norm)
      unit = Div (s, root)
      v = Mul (unit, share)
      agreement = MatMul (votes, v)
      b_next = Add (b, agreement)
      again = Identity (always)
   }>
}""",
    # On the first iteration all logits are the same, and what the last one adds to them is not
    # read.
    best=_unrolled(
        """routing (float[$K, $D] votes) => (float[$D] y)
   <float one = {1}, int64[1] first = {0}, int64[1] second = {1}> {
   s0 = ReduceMean <axes = [0], keepdims = 0> (votes)""",
        _ROUTING_STEP
        + """
   agreement# = MatMul (votes, v#)
   c# = Softmax <axis = 0> (agreement#)
   c_2# = Unsqueeze (c#, second)
   weighted# = Mul (votes, c_2#)
   A1 = ReduceSum <keepdims = 0> (weighted#, first)""",
        1,
        _ROUTING_STEP.replace("A0", "s1").replace("#", "_1") + "\n   y = Identity (v_1)",
    ),
    feeds={"votes": "K D"},
    weights={
        "logits": lambda s, _: np.zeros(s["K"], np.float32),
        "none": lambda s, _: np.zeros(s["D"], np.float32),
    },
    packed=lambda _: {},
    sizes={"K": 64, "D": 16},
)

messages = _case(
    name="message_passing_3_iterations",
    model="""graph (float[$B, $D] x, float[$B, $B] adjacency) => (float[$B, $D] y)
   <int64 iterations = {3}, bool always = {1}> {
   y = Loop (iterations, always, x) <body = step (int64 i, bool cond, float[$B, $D] h)
      => (bool again, float[$B, $D] h_next) {
      m = MatMul (adjacency, h)
      a = MatMul (m, w)
      b = MatMul (h, u)
      s = Add (a, b)
      c = Add (s, bias)
      h_next = Relu (c)
      again = Identity (cond)
   }>
}""",
    best=_unrolled(
        """graph (float[$B, $D] x, float[$B, $B] adjacency) => (float[$B, $D] y) {
   s0 = Identity (x)""",
        """
   m# = MatMul (adjacency, A0)
   a# = MatMul (m#, w)
   b# = MatMul (A0, u)
   t# = Add (a#, b#)
   c# = Add (t#, bias)
   A1 = Relu (c#)""",
        3,
        "\n   y = Identity (s3)",
    ),
    feeds={"x": "B D", "adjacency": "B B"},
    weights={"w": "D D", "u": "D D", "bias": "D"},
    sizes={"B": 128, "D": 128},
)

convolutions = _case(
    name="refinement_convolutions_4_iterations",
    model="""
refine (float[1, $C, $W, $W] x) => (float[1, $C, $W, $W] y) <int64 n = {4}, bool always = {1}> {
   y = Loop (n, always, x) <body = step (int64 i, bool cond, float[1, $C, $W, $W] h)
      => (bool again, float[1, $C, $W, $W] h_next) {
      a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (h, k1, b1)
      b = Relu (a)
      c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, k2, b2)
      d = Add (h, c)
      h_next = Tanh (d)
      again = Identity (cond)
   }>
}""",
    best=_unrolled(
        """refine (float[1, $C, $W, $W] x) => (float[1, $C, $W, $W] y) {
   s0 = Identity (x)""",
        """
   a# = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (A0, k1, b1)
   b# = Relu (a#)
   c# = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b#, k2, b2)
   d# = Add (A0, c#)
   A1 = Tanh (d#)""",
        4,
        "\n   y = Identity (s4)",
    ),
    feeds={"x": "1 C W W"},
    weights={"k1": "C C 3 3", "b1": "C", "k2": "C C 3 3", "b2": "C"},
    sizes={"C": 16, "W": 24},
)

given_iterations = _case(
    name="diffusion_steps_given",
    model="""diffusion (float[$B, $D] x, int64 iterations) => (float[$B, $D] y)
   <bool always = {1}, float rate = {0.1}> {
   y = Loop (iterations, always, x) <body = step (int64 i, bool cond, float[$B, $D] h)
      => (bool again, float[$B, $D] h_next) {
      time = Gather <axis = 0> (times, i)
      moved = Add (h, time)
      a = MatMul (moved, w1)
      b = Tanh (a)
      c = MatMul (b, w2)
      d = Mul (c, rate)
      h_next = Sub (h, d)
      again = Identity (cond)
   }>
}""",
    best=None,
    feeds={"x": "B D", "iterations": lambda *_: np.array(3, np.int64)},
    weights={"times": "8 D", "w1": "D H", "w2": "H D"},
    sizes={"B": 16, "D": 64, "H": 128},
)

CASES = (newton, residual, sinkhorn, two_steps, messages, convolutions, given_iterations)
