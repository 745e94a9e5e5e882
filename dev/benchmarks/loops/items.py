"""Choices, ranks and tables, an item at a time though no item needs another."""

import functools

import numpy as np

from .case import Case

_SMALL = {"T": 3, "D": 4, "K": 2}

_case = functools.partial(Case, feeds={"x": "T D"}, small=_SMALL, true_recurrence=False)

choice = _case(
    name="if_by_row",
    model="""choice (float[T, $D] x) => (float[T, $D] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always) <body = row (int64 i, bool cond) => (bool again, float[$D] r)
      <float none = {0}> {
      e = Gather <axis = 0> (x, i)
      sum = ReduceSum <keepdims = 0> (e)
      positive = Greater (sum, none)
      r = If (positive) <
         then_branch = yes () => (float[$D] a) { a = Mul (e, gain) },
         else_branch = no () => (float[$D] b) { c = Neg (e)  b = Exp (c) }
      >
      again = Identity (cond)
   }>
}""",
    best="""choice (float[T, $D] x) => (float[T, $D] y) <float none = {0}, int64[1] second = {1}> {
   sum = ReduceSum <keepdims = 1> (x, second)
   positive = Greater (sum, none)
   a = Mul (x, gain)
   c = Neg (x)
   b = Exp (c)
   y = Where (positive, a, b)
}""",
    weights={"gain": "D"},
    sizes={"T": 500, "D": 16},
)

first_differs = _case(
    name="if_by_iteration",
    model="""choice (float[$T, $D] x) => (float[$T, $D] y)
   <int64 length = {$T}, bool always = {1}, int64 zero = {0}> {
   y = Loop (length, always) <body = row (int64 i, bool cond) => (bool again, float[$D] r) {
      e = Gather <axis = 0> (x, i)
      is_first = Equal (i, zero)
      shift = If (is_first) <
         then_branch = yes () => (float[$D] a) { a = Identity (start) },
         else_branch = no () => (float[$D] b) {
            one = Constant <value = int64 {1}> ()
            before = Sub (i, one)
            b = Gather <axis = 0> (x, before)
         }
      >
      sum = Add (e, shift)
      r = Tanh (sum)
      again = Identity (cond)
   }>
}""",
    best="""choice (float[$T, $D] x) => (float[$T, $D] y)
   <int64[1] first = {0}, int64[1] end = {-1}, int64[2] row = {1, -1}> {
   start_row = Reshape (start, row)
   until = Slice (x, first, end, first)
   shift = Concat <axis = 0> (start_row, until)
   sum = Add (x, shift)
   y = Tanh (sum)
}""",
    weights={"start": "D"},
    sizes={"T": 300, "D": 16},
)

ranking = _case(
    name="top_classes_by_row",
    model="""ranking (float[T, $D] x) => (float[T, $K] scores, int64[T, $K] classes)
   <int64 zero = {0}, bool always = {1}, int64[1] k = {$K}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   scores, classes = Loop (length, always) <body = row (int64 i, bool cond)
      => (bool again, float[$K] s, int64[$K] c) {
      e = Gather <axis = 0> (x, i)
      p = Softmax <axis = -1> (e)
      s, c = TopK <axis = -1> (p, k)
      again = Identity (always)
   }>
}""",
    best="""
ranking (float[T, $D] x) => (float[T, $K] scores, int64[T, $K] classes) <int64[1] k = {$K}> {
   p = Softmax <axis = -1> (x)
   scores, classes = TopK <axis = -1> (p, k)
}""",
    sizes={"T": 500, "D": 100, "K": 5},
)

normalized_weights = _case(
    name="weights_normalized_inside",
    model="""normalized (float[T, $D] x) => (float[T, $K] y) <float tiny = {1e-6}> {
   y = Scan <num_scan_inputs = 1, body = row (float[$D] e) => (float[$K] r) {
      length = ReduceL2 <axes = [0], keepdims = 1> (w)
      safe = Add (length, tiny)
      unit = Div (w, safe)
      e_length = ReduceL2 <axes = [0], keepdims = 1> (e)
      e_safe = Add (e_length, tiny)
      e_unit = Div (e, e_safe)
      r = MatMul (e_unit, unit)
   }> (x)
}""",
    best="""normalized (float[T, $D] x) => (float[T, $K] y) <float tiny = {1e-6}> {
   x_length = ReduceL2 <axes = [1], keepdims = 1> (x)
   x_safe = Add (x_length, tiny)
   x_unit = Div (x, x_safe)
   y = MatMul (x_unit, unit)
}""",
    weights={"w": "D K"},
    packed=lambda given: {
        "unit": (given["w"] / (np.linalg.norm(given["w"], axis=0) + 1e-6)).astype(np.float32)
    },
    sizes={"T": 500, "D": 64, "K": 32},
)

covariance = _case(
    name="outer_product_by_row",
    model="""
covariance (float[$T, $D] x) => (float[$T, $D, $D] y) <int64 length = {$T}, bool always = {1}> {
   y = Loop (length, always) <body = row (int64 i, bool cond) => (bool again, float[$D, $D] r)
      <int64[2] column = {-1, 1}, int64[1] first = {0}> {
      e = Gather <axis = 0> (x, i)
      off = Sub (e, mean)
      down = Reshape (off, column)
      across = Unsqueeze (off, first)
      r = MatMul (down, across)
      again = Identity (cond)
   }>
}""",
    best="""covariance (float[$T, $D] x) => (float[$T, $D, $D] y)
   <int64[1] second = {1}, int64[1] third = {2}> {
   off = Sub (x, mean)
   down = Unsqueeze (off, third)
   across = Unsqueeze (off, second)
   y = MatMul (down, across)
}""",
    weights={"mean": "D"},
    sizes={"T": 300, "D": 12},
)

CASES = (choice, first_differs, ranking, normalized_weights, covariance)
