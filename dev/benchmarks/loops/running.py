"""Totals, extremes and counts that a loop keeps as it goes."""

import functools

import numpy as np

from .case import Case, Sizes

_SIZES = {"T": 1000, "D": 16}
_SMALL = {"T": 4, "D": 3}
_LENGTH = """<int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)"""


def _running(combined: str, given: str = "float") -> str:
    """A Loop that gives each value of what it carries."""
    return f"""running ({given}[T, $D] x) => ({given}[T, $D] y) {_LENGTH}
   last, y = Loop (length, always, start) <body = step (int64 i, bool cond, {given}[$D] s)
      => (bool again, {given}[$D] s_next, {given}[$D] out) {{
      e = Gather <axis = 0> (x, i)
      s_next = {combined}
      out = Identity (s_next)
      again = Identity (cond)
   }}>
}}"""


def _final(combined: str, given: str = "float") -> str:
    """A Loop that gives only the last value."""
    return f"""final ({given}[T, $D] x) => ({given}[$D] y) {_LENGTH}
   y = Loop (length, always, start) <body = step (int64 i, bool cond, {given}[$D] s)
      => (bool again, {given}[$D] s_next) {{
      e = Gather <axis = 0> (x, i)
      s_next = {combined}
      again = Identity (cond)
   }}>
}}"""


def _zeros(sizes: Sizes, _: np.random.Generator) -> np.ndarray:
    return np.zeros(sizes["D"], np.float32)


_case = functools.partial(
    Case, feeds={"x": "T D"}, sizes=_SIZES, small=_SMALL, true_recurrence=True
)

cumulative = _case(
    name="cumulative_sum_loop",
    model=_running("Add (s, e)"),
    best="""running (float[T, $D] x) => (float[T, $D] y) <int64 zero = {0}> {
   y = CumSum (x, zero)
}""",
    weights={"start": _zeros},
    packed=lambda _: {},
)

cumulative_backward = _case(
    name="cumulative_sum_backward_scan",
    model="""returns (float[$T, $D] rewards) => (float[$T, $D] y) {
   last, y = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
      body = step (float[$D] s, float[$D] e) => (float[$D] s_next, float[$D] out) {
      scaled = Mul (e, gain)
      s_next = Add (scaled, s)
      out = Identity (s_next)
   }> (start, rewards)
}""",
    best="""returns (float[$T, $D] rewards) => (float[$T, $D] y) <int64 zero = {0}> {
   scaled = Mul (rewards, gain)
   sums = CumSum <reverse = 1> (scaled, zero)
   y = Add (sums, start)
}""",
    feeds={"rewards": "T D"},
    weights={"start": "D", "gain": "D"},
)

total = _case(
    name="sum_of_squares_final",
    model="""total (float[T, $D] x) => (float[$D] y) {
   y = Scan <num_scan_inputs = 1, body = step (float[$D] s, float[$D] e) => (float[$D] s_next) {
      square = Mul (e, e)
      s_next = Add (s, square)
   }> (start, x)
}""",
    best="""total (float[T, $D] x) => (float[$D] y) <int64[1] first = {0}> {
   squares = Mul (x, x)
   y = ReduceSum <keepdims = 0> (squares, first)
}""",
    weights={"start": _zeros},
    packed=lambda _: {},
)

running_maximum = _case(
    name="running_maximum",
    model=_running("Max (s, e)"),
    # Each of the few iterations doubles how far back a row sees.
    best="""running (float[T, $D] x) => (float[T, $D] y)
   <int64[1] first = {0}, int64[1] one = {1}, int64[1] two = {2}, bool always = {1},
    float log_2 = {0.6931472}> {
   begun = Max (x, start)
   length = Shape <end = 1> (x)
   length_f = Cast <to = 1> (length)
   log = Log (length_f)
   bits = Div (log, log_2)
   steps_f = Ceil (bits)
   steps = Cast <to = 7> (steps_f)
   y, last = Loop (steps, always, begun, one) <body = doubling
      (int64 i, bool cond, float[T, $D] s, int64[1] shift)
      => (bool again, float[T, $D] s_next, int64[1] shift_next) {
      top = Slice (s, first, shift, first)
      until = Sub (length, shift)
      rest = Slice (s, first, until, first)
      before = Concat <axis = 0> (top, rest)
      s_next = Max (s, before)
      shift_next = Mul (shift, two)
      again = Identity (cond)
   }>
}""",
    weights={"start": lambda s, _: np.full(s["D"], -1.0, np.float32)},
)

final_maximum = _case(
    name="maximum_final",
    model=_final("Max (e, s)"),
    best="""final (float[T, $D] x) => (float[$D] y) {
   most = ReduceMax <axes = [0], keepdims = 0> (x)
   y = Max (most, start)
}""",
    weights={"start": lambda s, _: np.full(s["D"], -100.0, np.float32)},
)

final_minimum = _case(
    name="smallest_size_final",
    model="""final (float[T, $D] x) => (float[$D] y) {
   y = Scan <num_scan_inputs = 1, body = step (float[$D] s, float[$D] e) => (float[$D] s_next) {
      size = Abs (e)
      s_next = Min (s, size)
   }> (start, x)
}""",
    best="""final (float[T, $D] x) => (float[$D] y) {
   sizes = Abs (x)
   least = ReduceMin <axes = [0], keepdims = 0> (sizes)
   y = Min (least, start)
}""",
    weights={"start": lambda s, _: np.full(s["D"], 1e30, np.float32)},
)

product = _case(
    name="product_final",
    model=_final("Mul (s, e)"),
    best="""final (float[T, $D] x) => (float[$D] y) {
   product = ReduceProd <axes = [0], keepdims = 0> (x)
   y = Mul (product, start)
}""",
    feeds={"x": lambda s, g: np.exp(0.02 * g.standard_normal((s["T"], s["D"]))).astype(np.float32)},
    weights={"start": lambda s, _: np.ones(s["D"], np.float32)},
    tolerance=1e-3,
)


def _flags(sizes: Sizes, generator: np.random.Generator) -> np.ndarray:
    return generator.random((sizes["T"], sizes["D"])) < 0.999


conjunction = _case(
    name="all_true_final",
    model=_final("And (s, e)", "bool"),
    best="""final (bool[T, $D] x) => (bool[$D] y) {
   numbers = Cast <to = 6> (x)
   least = ReduceMin <axes = [0], keepdims = 0> (numbers)
   y = Cast <to = 9> (least)
}""",
    feeds={"x": _flags},
    weights={"start": lambda s, _: np.ones(s["D"], np.bool_)},
    packed=lambda _: {},
)

count = _case(
    name="running_count",
    model="""count (float[T, $D] x) => (int64[T, $D] y) <float threshold = {0.5}> {
   last, y = Scan <num_scan_inputs = 1, body = step (int64[$D] n, float[$D] e)
      => (int64[$D] n_next, int64[$D] out) {
      above = Greater (e, threshold)
      one = Cast <to = 7> (above)
      n_next = Add (n, one)
      out = Identity (n_next)
   }> (start, x)
}""",
    best="""count (float[T, $D] x) => (int64[T, $D] y) <float threshold = {0.5}, int64 zero = {0}> {
   above = Greater (x, threshold)
   ones = Cast <to = 7> (above)
   y = CumSum (ones, zero)
}""",
    weights={"start": lambda s, _: np.zeros(s["D"], np.int64)},
    packed=lambda _: {},
)

mean = _case(
    name="mean_of_scores_final",
    model="""mean (float[T, $D] x) => (float[$D] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   sum = Loop (length, always, start) <body = step (int64 i, bool cond, float[$D] s)
      => (bool again, float[$D] s_next) {
      e = Gather <axis = 0> (x, i)
      hidden = MatMul (e, w)
      biased = Add (hidden, bias)
      score = Sigmoid (biased)
      s_next = Add (s, score)
      again = Identity (always)
   }>
   count = Cast <to = 1> (length)
   y = Div (sum, count)
}""",
    best="""mean (float[T, $D] x) => (float[$D] y) {
   hidden = MatMul (x, w)
   biased = Add (hidden, bias)
   scores = Sigmoid (biased)
   y = ReduceMean <axes = [0], keepdims = 0> (scores)
}""",
    weights={"start": _zeros, "w": "D D", "bias": "D"},
    packed=lambda given: {name: given[name] for name in ("w", "bias")},
    sizes={**_SIZES, "D": 32},
)

difference = _case(
    name="difference_from_last_frame",
    model="""deltas (float[T, $D] x) => (float[T, $D] y) {
   last, y = Scan <num_scan_inputs = 1, body = step (float[$D] before, float[$D] e)
      => (float[$D] now, float[$D] out) {
      change = Sub (e, before)
      size = Abs (change)
      out = Mul (size, gain)
      now = Identity (e)
   }> (start, x)
}""",
    best="""deltas (float[T, $D] x) => (float[T, $D] y)
   <int64[1] first = {0}, int64[1] end = {-1}, int64[2] row = {1, -1}> {
   start_row = Reshape (start, row)
   all = Concat <axis = 0> (start_row, x)
   before = Slice (all, first, end, first)
   change = Sub (x, before)
   size = Abs (change)
   y = Mul (size, gain)
}""",
    weights={"start": "D", "gain": "D"},
    true_recurrence=False,
)

best_row = _case(
    name="best_score_and_its_row",
    model="""
best (float[T, $D] x) => (float best_score, int64 best_row) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   best_score, best_row = Loop (length, always, low, zero) <body = step
      (int64 i, bool cond, float best, int64 where) => (bool again, float best_next,
       int64 where_next) {
      e = Gather <axis = 0> (x, i)
      score = MatMul (e, w)
      better = Greater (score, best)
      best_next = Where (better, score, best)
      where_next = Where (better, i, where)
      again = Identity (cond)
   }>
}""",
    best="""best (float[T, $D] x) => (float best_score, int64 best_row) {
   scores = MatMul (x, w)
   best_row = ArgMax <axis = 0, keepdims = 0> (scores)
   best_score = ReduceMax <axes = [0], keepdims = 0> (scores)
}""",
    weights={"w": "D", "low": lambda *_: np.array(-1e30, np.float32)},
    packed=lambda given: {"w": given["w"]},
)

first_hit = _case(
    name="first_row_above_a_limit",
    model="""search (float[T, $D] x, float limit) => (int64 where, float[$D] row, float total)
   <int64 zero = {0}, int64 one = {1}, int64 absent = {-1}, float none = {0}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   some = Less (zero, length)
   k, where, row, total = Loop (, some, zero, absent, start, none) <body = step
      (int64 i, bool cond, int64 at, int64 best, float[$D] kept, float sum)
      => (bool again, int64 at_next, int64 best_next, float[$D] kept_next, float sum_next) {
      e = Gather <axis = 0> (x, at)
      top = ReduceMax <keepdims = 0> (e)
      hit = Greater (top, limit)
      best_next = Where (hit, at, best)
      kept_next = Where (hit, e, kept)
      sum_next = Add (sum, top)
      at_next = Add (at, one)
      more = Less (at_next, length)
      goes_on = Not (hit)
      again = And (more, goes_on)
   }>
}""",
    best="""search (float[T, $D] x, float limit) => (int64 where, float[$D] row, float total)
   <int64 zero = {0}, int64[1] first = {0}, int64 one = {1}, int64 absent = {-1}, bool yes = {1}> {
   tops = ReduceMax <axes = [1], keepdims = 0> (x)
   hits = Greater (tops, limit)
   past = Unsqueeze (yes, first)
   every = Concat <axis = 0> (hits, past)
   numbers = Cast <to = 6> (every)
   at = ArgMax <axis = 0, keepdims = 0> (numbers)
   length = Size (tops)
   is_met = Less (at, length)
   where = Where (is_met, at, absent)
   begin = Unsqueeze (start, first)
   rows = Concat <axis = 0> (x, begin)
   row = Gather <axis = 0> (rows, at)
   behind = Add (at, one)
   end = Unsqueeze (behind, first)
   until = Slice (tops, first, end, first)
   total = ReduceSum <keepdims = 0> (until, first)
}""",
    feeds={"x": "T D", "limit": lambda *_: np.array(9, np.float32)},
    weights={"start": _zeros},
    packed=lambda given: given,
    true_recurrence=False,
)

CASES = (
    cumulative,
    cumulative_backward,
    total,
    running_maximum,
    final_maximum,
    final_minimum,
    product,
    conjunction,
    count,
    mean,
    difference,
    best_row,
    first_hit,
)
