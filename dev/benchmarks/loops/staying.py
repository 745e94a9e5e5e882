"""Loops that must stay: their data end them early, or they draw random numbers."""

import functools

import numpy as np

from .case import Case

_SMALL = {"D": 4, "V": 5, "B": 2}

_case = functools.partial(Case, small=_SMALL, true_recurrence=True)

greedy = _case(
    name="greedy_decoding",
    model="""greedy (float[1, $D] start) => (int64[L] tokens)
   <int64 most = {200}, bool always = {1}, int64 begin = {0}> {
   h_n, last, tokens = Loop (most, always, start, begin) <body = step
      (int64 i, bool cond, float[1, $D] h, int64 token)
      => (bool again, float[1, $D] h_next, int64 token_next, int64 out)
      <int64 stop = {1}, int64[1] first = {0}> {
      word = Gather <axis = 0> (table, token)
      hh = MatMul (h, w)
      sum = Add (hh, word)
      h_next = Tanh (sum)
      scores = MatMul (h_next, head)
      best = ArgMax <axis = 1, keepdims = 0> (scores)
      token_next = Squeeze (best, first)
      out = Identity (token_next)
      ended = Equal (token_next, stop)
      again = Not (ended)
   }>
}""",
    best=None,
    feeds={"start": "1 D"},
    weights={"table": "V D", "w": "D D", "head": "D V"},
    sizes={"D": 64, "V": 50},
)

beam = _case(
    name="beam_search",
    model="""beam (float[$B, $D] start) => (int64[L, $B] tokens, float[$B] scores)
   <int64 most = {100}, bool always = {1}, int64[1] beams = {$B}, int64[1] second = {1}> {
   h_n, scores, tokens = Loop (most, always, start, begin) <body = step
      (int64 i, bool cond, float[$B, $D] h, float[$B] score)
      => (bool again, float[$B, $D] h_next, float[$B] score_next, int64[$B] token)
      <int64 width = {$V}, int64[1] flat = {-1}, int64 stop = {1}, float low = {-400}> {
      hh = MatMul (h, w)
      moved = Tanh (hh)
      logits = MatMul (moved, head)
      logs = LogSoftmax <axis = -1> (logits)
      score_2 = Unsqueeze (score, second)
      all = Add (logs, score_2)
      joined = Reshape (all, flat)
      score_next, place = TopK <axis = 0> (joined, beams)
      parent = Div (place, width)
      token = Mod (place, width)
      kept = Gather <axis = 0> (moved, parent)
      words = Gather <axis = 0> (table, token)
      h_next = Add (kept, words)
      first_beam = ReduceMax <keepdims = 0> (score_next)
      again = Greater (first_beam, low)
   }>
}""",
    best=None,
    feeds={"start": "B D"},
    weights={"begin": lambda s, _: np.zeros(s["B"], np.float32), "table": "V D", "w": "D D",
     "head": "D V"},
    sizes={"D": 64, "V": 50, "B": 4},
)  # fmt: skip

converging = _case(
    name="fixed_point_until_converged",
    model="""fixed (float[$D] x) => (float[$D] y) <int64 most = {500}, bool always = {1}> {
   y = Loop (most, always, x) <body = step (int64 i, bool cond, float[$D] h)
      => (bool again, float[$D] h_next) <float tiny = {1e-5}> {
      a = MatMul (h, w)
      b = Add (a, x)
      h_next = Tanh (b)
      off = Sub (h_next, h)
      size = ReduceL2 <keepdims = 0> (off)
      again = Greater (size, tiny)
   }>
}""",
    best=None,
    feeds={"x": "D"},
    weights={"w": "D D"},
    sizes={"D": 64},
)

noise = _case(
    name="random_noise_by_row",
    model="""noise (float[T, $D] x) => (float[T, $D] y) {
   y = Scan <num_scan_inputs = 1, body = row (float[$D] e) => (float[$D] r) {
      draw = RandomNormalLike <scale = 0.1> (e)
      moved = Add (e, draw)
      r = Tanh (moved)
   }> (x)
}""",
    best=None,
    feeds={"x": lambda s, g: g.standard_normal((200, s["D"])).astype(np.float32)},
    sizes={"D": 16},
    true_recurrence=False,
    random=True,
)

langevin = _case(
    name="random_walk",
    model="""
walk (float[$D] x) => (float[$D] y) <int64 n = {100}, bool always = {1}, float rate = {0.01}> {
   y = Loop (n, always, x) <body = step (int64 i, bool cond, float[$D] h)
      => (bool again, float[$D] h_next) {
      slope = MatMul (h, w)
      down = Mul (slope, rate)
      moved = Sub (h, down)
      draw = RandomNormalLike <seed = 1.0, scale = 0.1> (h)
      h_next = Add (moved, draw)
      again = Identity (cond)
   }>
}""",
    best=None,
    feeds={"x": "D"},
    weights={"w": "D D"},
    sizes={"D": 32},
    random=True,
)

CASES = (greedy, beam, converging, noise, langevin)
