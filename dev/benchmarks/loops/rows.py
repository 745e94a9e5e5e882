"""Work that is done row by row though no row needs another."""

import functools

from .case import Case, size

_SMALL = {"T": 3, "D": 4, "H": 5, "K": 2}

_case = functools.partial(Case, feeds={"x": "T D"}, small=_SMALL, true_recurrence=False)

mlp = _case(
    name="mlp_scan",
    model="""mlp (float[T, $D] x) => (float[T, $K] y) {
   y = Scan <num_scan_inputs = 1, body = row (float[$D] e) => (float[$K] r) {
      a = MatMul (e, w1)
      a_b = Add (a, b1)
      h = Relu (a_b)
      b = MatMul (h, w2)
      b_b = Add (b, b2)
      r = Softmax <axis = -1> (b_b)
   }> (x)
}""",
    best="""mlp (float[T, $D] x) => (float[T, $K] y) {
   a = Gemm (x, w1, b1)
   h = Relu (a)
   b = Gemm (h, w2, b2)
   y = Softmax <axis = -1> (b)
}""",
    weights={"w1": "D H", "b1": "H", "w2": "H K", "b2": "K"},
    sizes={"T": 500, "D": 32, "H": 64, "K": 10},
)

mlp_given = _case(
    name="mlp_rows_given",
    model="""mlp (float[T, $D] x, int64 n) => (float[N, $K] y) <bool always = {1}> {
   y = Loop (n, always) <body = row (int64 i, bool cond) => (bool again, float[$K] r)
      <int64[1] first = {0}> {
      e = Gather <axis = 0> (x, i)
      row = Unsqueeze (e, first)
      a = Gemm (row, w1, b1)
      h = Tanh (a)
      b = Gemm (h, w2, b2)
      r = Squeeze (b, first)
      again = Identity (cond)
   }>
}""",
    best="""mlp (float[T, $D] x, int64 n) => (float[N, $K] y) <int64[1] first = {0}> {
   end = Unsqueeze (n, first)
   rows = Slice (x, first, end, first)
   a = Gemm (rows, w1, b1)
   h = Tanh (a)
   y = Gemm (h, w2, b2)
}""",
    feeds={"x": "T D", "n": size("T")},
    weights={"w1": "D H", "b1": "H", "w2": "H K", "b2": "K"},
    sizes={"T": 400, "D": 32, "H": 64, "K": 10},
)

softmax = _case(
    name="softmax_and_matmul",
    model="""attend (float[T, $D] x, float[$H, $D] keys, float[$H, $D] values) => (float[T, $D] y)
   <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always) <body = row (int64 i, bool cond) => (bool again, float[$D] r)
      <float scale = {0.25}> {
      q = Gather <axis = 0> (x, i)
      keys_t = Transpose <perm = [1, 0]> (keys)
      s = MatMul (q, keys_t)
      scaled = Mul (s, scale)
      p = Softmax <axis = -1> (scaled)
      r = MatMul (p, values)
      again = Identity (always)
   }>
}""",
    best="""attend (float[T, $D] x, float[$H, $D] keys, float[$H, $D] values) => (float[T, $D] y)
   <float scale = {0.25}> {
   keys_t = Transpose <perm = [1, 0]> (keys)
   s = MatMul (x, keys_t)
   scaled = Mul (s, scale)
   p = Softmax <axis = -1> (scaled)
   y = MatMul (p, values)
}""",
    feeds={"x": "T D", "keys": "H D", "values": "H D"},
    sizes={"T": 500, "D": 32, "H": 64},
)

elementwise = _case(
    name="gelu_rows",
    model="""gelu (float[$T, $D] x) => (float[$T, $D] y)
   <float root = {1.4142135}, float one = {1}, float half = {0.5}> {
   y = Scan <num_scan_inputs = 1, body = row (float[$D] e) => (float[$D] r) {
      scaled = Div (e, root)
      erf = Erf (scaled)
      shifted = Add (erf, one)
      halved = Mul (shifted, half)
      r = Mul (halved, e)
   }> (x)
}""",
    best="""gelu (float[$T, $D] x) => (float[$T, $D] y)
   <float root = {1.4142135}, float one = {1}, float half = {0.5}> {
   scaled = Div (x, root)
   erf = Erf (scaled)
   shifted = Add (erf, one)
   halved = Mul (shifted, half)
   y = Mul (halved, x)
}""",
    sizes={"T": 2000, "D": 8},
)

polynomial = _case(
    name="elementwise_rows_with_iteration",
    model="""positions (float[T, $D] x) => (float[T, $D] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always) <body = row (int64 i, bool cond) => (bool again, float[$D] r) {
      e = Gather <axis = 0> (x, i)
      place = Cast <to = 1> (i)
      angles = Mul (place, rates)
      wave = Sin (angles)
      moved = Add (e, wave)
      power = Mul (moved, moved)
      r = Sub (power, bias)
      again = Identity (cond)
   }>
}""",
    best="""positions (float[T, $D] x) => (float[T, $D] y)
   <int64 zero = {0}, int64 one = {1}, int64[2] column = {-1, 1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   numbers = Range (zero, length, one)
   places = Cast <to = 1> (numbers)
   places_2 = Reshape (places, column)
   angles = Mul (places_2, rates)
   wave = Sin (angles)
   moved = Add (x, wave)
   power = Mul (moved, moved)
   y = Sub (power, bias)
}""",
    weights={"rates": "D", "bias": "D"},
    sizes={"T": 1000, "D": 8},
)

norm = _case(
    name="layer_norm_rows",
    model="""norm (float[T, $D] x) => (float[T, $D] y) <float two = {2}, float tiny = {1e-5}> {
   y = Scan <num_scan_inputs = 1, body = row (float[$D] e) => (float[$D] r) {
      mean = ReduceMean <axes = [-1]> (e)
      off = Sub (e, mean)
      squares = Pow (off, two)
      spread = ReduceMean <axes = [-1]> (squares)
      safe = Add (spread, tiny)
      root = Sqrt (safe)
      unit = Div (off, root)
      scaled = Mul (unit, gain)
      r = Add (scaled, bias)
   }> (x)
}""",
    best="""norm (float[T, $D] x) => (float[T, $D] y) {
   y = LayerNormalization <axis = -1> (x, gain, bias)
}""",
    weights={"gain": "D", "bias": "D"},
    sizes={"T": 500, "D": 64},
)

columns = _case(
    name="columns_scan_over_axis_1",
    model="""columns (float[$B, T, $D] x) => (float[$B, T, $D] y) {
   y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
      body = column (float[$B, $D] e) => (float[$B, $D] r) {
      a = MatMul (e, w)
      b = Add (a, bias)
      r = Relu (b)
   }> (x)
}""",
    best="""columns (float[$B, T, $D] x) => (float[$B, T, $D] y) {
   a = MatMul (x, w)
   b = Add (a, bias)
   y = Relu (b)
}""",
    feeds={"x": "B T D"},
    weights={"w": "D D", "bias": "D"},
    sizes={"T": 300, "D": 32, "B": 4},
    small={**_SMALL, "B": 2},
)

backward = _case(
    name="rows_scanned_backward",
    model="""backward (float[T, $D] x, float[T, $D] z) => (float[T, $D] y) {
   y = Scan <num_scan_inputs = 2, scan_input_directions = [1, 0], scan_output_directions = [1],
      body = row (float[$D] e, float[$D] f) => (float[$D] r) {
      a = MatMul (e, w)
      s = Add (a, f)
      r = Tanh (s)
   }> (x, z)
}""",
    best="""backward (float[T, $D] x, float[T, $D] z) => (float[T, $D] y)
   <int64[1] first = {0}, int64[1] end = {-1}, int64[1] before = {-9223372036854775807}> {
   a = MatMul (x, w)
   turned = Slice (z, end, before, first, end)
   s = Add (a, turned)
   y = Tanh (s)
}""",
    feeds={"x": "T D", "z": "T D"},
    weights={"w": "D D"},
    sizes={"T": 500, "D": 16},
)

mapped = _case(
    name="sequence_map",
    model="""mapped (float[$T, $D] x) => (float[$T, $D] y) {
   rows = SplitToSequence <axis = 0, keepdims = 0> (x)
   made = SequenceMap <body = row (float[$D] e) => (float[$D] r) {
      a = MatMul (e, w)
      b = Add (a, bias)
      r = Sigmoid (b)
   }> (rows)
   y = ConcatFromSequence <axis = 0, new_axis = 1> (made)
}""",
    best="""mapped (float[$T, $D] x) => (float[$T, $D] y) {
   a = MatMul (x, w)
   b = Add (a, bias)
   y = Sigmoid (b)
}""",
    weights={"w": "D D", "bias": "D"},
    sizes={"T": 200, "D": 16},
)

CASES = (mlp, mlp_given, softmax, elementwise, polynomial, norm, columns, backward, mapped)
