"""Signals and images, worked on a frame at a time."""

import functools

import numpy as np

from .case import Case, Draw, Sizes, size

_SIGNAL = {"T": 400, "K": 32, "S": 16, "F": 17}
_SIGNAL_SMALL = {"T": 3, "K": 4, "S": 2, "F": 3}


def _signal(sizes: Sizes, generator: np.random.Generator) -> np.ndarray:
    length = sizes["S"] * (sizes["T"] - 1) + sizes["K"]
    return generator.standard_normal(length).astype(np.float32)


def _short_signal(sizes: Sizes, generator: np.random.Generator) -> np.ndarray:
    return generator.standard_normal(sizes["T"] - 1 + sizes["K"]).astype(np.float32)


def _wave(function: np.ufunc) -> Draw:
    def draw(sizes: Sizes, _: np.random.Generator) -> np.ndarray:
        turns = np.outer(np.arange(sizes["K"]), np.arange(sizes["F"])) / sizes["K"]
        return function(2 * np.pi * turns).astype(np.float32)

    return draw


_WAVES = {"cosines": _wave(np.cos), "sines": _wave(np.sin)}

_case = functools.partial(Case, sizes=_SIGNAL, small=_SIGNAL_SMALL, true_recurrence=False)

spectrum = _case(
    name="spectrum_of_frames",
    model="""spectrum (float[T, $K] frames) => (float[T, $F] y) {
   y = Scan <num_scan_inputs = 1, body = frame (float[$K] e) => (float[$F] r) {
      shaped = Mul (e, window)
      re = MatMul (shaped, cosines)
      im = MatMul (shaped, sines)
      re_2 = Mul (re, re)
      im_2 = Mul (im, im)
      power = Add (re_2, im_2)
      r = Sqrt (power)
   }> (frames)
}""",
    best="""spectrum (float[T, $K] frames) => (float[T, $F] y) {
   shaped = Mul (frames, window)
   re = MatMul (shaped, cosines)
   im = MatMul (shaped, sines)
   re_2 = Mul (re, re)
   im_2 = Mul (im, im)
   power = Add (re_2, im_2)
   y = Sqrt (power)
}""",
    feeds={"frames": "T K"},
    weights={**_WAVES, "window": "K"},
)

windows = _case(
    name="windows_by_slice",
    model="""
windows (float[N] x, int64 count) => (float[T, $F] y) <bool always = {1}, int64[1] width = {$K}> {
   y = Loop (count, always) <body = window (int64 i, bool cond) => (bool again, float[$F] r)
      <int64[1] first = {0}> {
      start = Unsqueeze (i, first)
      end = Add (start, width)
      part = Slice (x, start, end, first)
      shaped = Mul (part, shape)
      r = MatMul (shaped, kernel)
      again = Identity (cond)
   }>
}""",
    best="""windows (float[N] x, int64 count) => (float[T, $F] y)
   <int64 zero = {0}, int64 one = {1}, int64 width = {$K}, int64[2] column = {-1, 1}> {
   starts = Range (zero, count, one)
   offsets = Range (zero, width, one)
   down = Reshape (starts, column)
   index = Add (down, offsets)
   parts = Gather <axis = 0> (x, index)
   shaped = Mul (parts, shape)
   y = MatMul (shaped, kernel)
}""",
    feeds={"x": _short_signal, "count": size("T")},
    weights={"shape": "K", "kernel": "K F"},
)

strided = _case(
    name="windows_by_strided_index",
    model="""frames (float[N] x) => (float[T, $F] y)
   <bool always = {1}, int64 length = {$T}, int64 step = {$S}> {
   y = Loop (length, always) <body = window (int64 i, bool cond) => (bool again, float[$F] r) {
      start = Mul (i, step)
      index = Add (offsets, start)
      part = Gather <axis = 0> (x, index)
      shaped = Mul (part, shape)
      product = MatMul (shaped, kernel)
      r = Abs (product)
      again = Identity (cond)
   }>
}""",
    best="""frames (float[N] x) => (float[T, $F] y)
   <int64 zero = {0}, int64 one = {1}, int64 length = {$T}, int64[2] column = {-1, 1},
    int64 step = {$S}> {
   numbers = Range (zero, length, one)
   starts = Mul (numbers, step)
   down = Reshape (starts, column)
   index = Add (down, offsets)
   parts = Gather <axis = 0> (x, index)
   shaped = Mul (parts, shape)
   product = MatMul (shaped, kernel)
   y = Abs (product)
}""",
    feeds={"x": _signal},
    weights={"shape": "K", "kernel": "K F", "offsets": lambda s, _: np.arange(s["K"])},
)

strided_slices = _case(
    name="windows_by_strided_slice",
    model="""stft (float[$B, N] x, int64 count) => (float[$B, T, $F] y)
   <bool always = {1}, int64[1] width = {$K}, int64 step = {$S}> {
   nothing = SequenceEmpty <dtype = 1> ()
   outs = Loop (count, always, nothing) <body = window
      (int64 i, bool cond, seq(float[$B, $F]) list) => (bool again, seq(float[$B, $F]) list_next)
      <int64[1] first = {0}, int64[1] second = {1}> {
      at = Mul (i, step)
      start = Unsqueeze (at, first)
      end = Add (start, width)
      part = Slice (x, start, end, second)
      shaped = Mul (part, shape)
      re = MatMul (shaped, cosines)
      im = MatMul (shaped, sines)
      re_2 = Mul (re, re)
      im_2 = Mul (im, im)
      power = Add (re_2, im_2)
      list_next = SequenceInsert (list, power)
      again = Identity (always)
   }>
   y = ConcatFromSequence <axis = 1, new_axis = 1> (outs)
}""",
    best="""stft (float[$B, N] x, int64 count) => (float[$B, T, $F] y)
   <int64 zero = {0}, int64 one = {1}, int64 width = {$K}, int64[2] column = {-1, 1},
    int64 step = {$S}> {
   numbers = Range (zero, count, one)
   starts = Mul (numbers, step)
   offsets = Range (zero, width, one)
   down = Reshape (starts, column)
   index = Add (down, offsets)
   parts = Gather <axis = 1> (x, index)
   shaped = Mul (parts, shape)
   re = MatMul (shaped, cosines)
   im = MatMul (shaped, sines)
   re_2 = Mul (re, re)
   im_2 = Mul (im, im)
   y = Add (re_2, im_2)
}""",
    feeds={"x": lambda s, g: np.stack([_signal(s, g) for _ in range(s["B"])]), "count": size("T")},
    weights={**_WAVES, "shape": "K"},
    sizes={**_SIGNAL, "T": 200, "B": 2},
    small={**_SIGNAL_SMALL, "B": 2},
)

moving_average = _case(
    name="moving_average",
    model="""
average (float[N, $D] x, int64 count) => (float[T, $D] y) <bool always = {1}, int64 width = {$K}> {
   y = Loop (count, always) <body = window (int64 i, bool cond) => (bool again, float[$D] r)
      <int64[1] first = {0}> {
      start = Unsqueeze (i, first)
      until = Add (i, width)
      end = Unsqueeze (until, first)
      part = Slice (x, start, end, first)
      r = ReduceMean <axes = [0], keepdims = 0> (part)
      again = Identity (cond)
   }>
}""",
    best="""average (float[N, $D] x, int64 count) => (float[T, $D] y)
   <int64[1] first = {0}, int64[1] one = {1}, int64[1] width = {$K}> {
   count_1 = Unsqueeze (count, first)
   more = Add (count_1, width)
   end = Sub (more, one)
   used = Slice (x, first, end, first)
   columns = Transpose <perm = [1, 0]> (used)
   image = Unsqueeze (columns, first)
   pooled = AveragePool <kernel_shape = [$K], strides = [1]> (image)
   columns_out = Squeeze (pooled, first)
   y = Transpose <perm = [1, 0]> (columns_out)
}""",
    feeds={
        "x": lambda s, g: g.standard_normal((s["T"] + s["K"] - 1, s["D"])).astype(np.float32),
        "count": size("T"),
    },
    sizes={"T": 500, "K": 16, "D": 8},
    small={"T": 3, "K": 2, "D": 2},
)

envelope = _case(
    name="extremes_of_windows_of_any_length",
    model="""envelope (float[T] x, int64 k) => (float[T] y)
   <int64 zero = {0}, int64 one = {1}, bool always = {1}, int64[1] first = {0}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always) <body = step (int64 i, bool cond) => (bool again, float r) {
      again = Identity (cond)
      low = Sub (i, k)
      start = Max (low, zero)
      behind = Add (i, k)
      high = Add (behind, one)
      end = Min (high, length)
      starts = Unsqueeze (start, first)
      ends = Unsqueeze (end, first)
      part = Slice (x, starts, ends, first)
      sizes = Abs (part)
      r = ReduceMax <keepdims = 0> (sizes)
   }>
}""",
    # Each of the few iterations doubles the length of the windows; two of those cover one.
    best="""envelope (float[T] x, int64 k) => (float[T] y)
   <int64[1] one = {1}, int64[1] two = {2}, int64[1] first = {0}, bool always = {1},
    float none = {0}, int64[10] powers = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}> {
   reach = Unsqueeze (k, first)
   double = Mul (reach, two)
   width = Add (double, one)
   length = Shape (x)
   sizes = Abs (x)
   pads = Concat <axis = 0> (reach, reach)
   padded = Pad (sizes, pads, none)
   fits = LessOrEqual (powers, width)
   ones = Cast <to = 7> (fits)
   steps = ReduceSum <keepdims = 0> (ones, first)
   most, power = Loop (steps, always, padded, one) <body = doubling
      (int64 i, bool cond, float[P] s, int64[1] shift)
      => (bool again, float[Q] s_next, int64[1] shift_next) {
      again = Identity (cond)
      back = Neg (shift)
      early = Slice (s, first, back, first)
      all = Shape (s)
      late = Slice (s, shift, all, first)
      s_next = Max (early, late)
      shift_next = Mul (shift, two)
   }>
   ahead = Slice (most, first, length, first)
   other = Sub (width, power)
   stop = Add (other, length)
   behind = Slice (most, other, stop, first)
   y = Max (ahead, behind)
}""",
    feeds={"x": "T", "k": lambda *_: np.array(20)},
    sizes={"T": 400},
    small={"T": 50},
    true_recurrence=True,
)

convolution = _case(
    name="convolution_by_frame",
    model="""video (float[T, $C, $W, $W] x) => (float[T, $D, $W, $W] y) {
   y = Scan <num_scan_inputs = 1, body = frame (float[$C, $W, $W] e) => (float[$D, $W, $W] r)
      <int64[1] first = {0}> {
      image = Unsqueeze (e, first)
      made = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (image, kernel, bias)
      active = Relu (made)
      r = Squeeze (active, first)
   }> (x)
}""",
    best="""video (float[T, $C, $W, $W] x) => (float[T, $D, $W, $W] y) {
   made = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, kernel, bias)
   y = Relu (made)
}""",
    feeds={"x": "T C W W"},
    weights={"kernel": "D C 3 3", "bias": "D"},
    sizes={"T": 200, "C": 3, "D": 8, "W": 16},
    small={"T": 3, "C": 2, "D": 3, "W": 4},
)

images = _case(
    name="image_normalization",
    model="""
images (uint8[T, $W, $W, 3] x) => (float[T, 3, $W, $W] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always) <body = image (int64 i, bool cond) => (bool again, float[3, $W, $W] r)
      <float most = {255}> {
      e = Gather <axis = 0> (x, i)
      f = Cast <to = 1> (e)
      unit = Div (f, most)
      off = Sub (unit, mean)
      scaled = Div (off, spread)
      r = Transpose <perm = [2, 0, 1]> (scaled)
      again = Identity (always)
   }>
}""",
    best="""images (uint8[T, $W, $W, 3] x) => (float[T, 3, $W, $W] y) <float most = {255}> {
   f = Cast <to = 1> (x)
   unit = Div (f, most)
   off = Sub (unit, mean)
   scaled = Div (off, spread)
   y = Transpose <perm = [0, 3, 1, 2]> (scaled)
}""",
    feeds={"x": lambda s, g: g.integers(0, 256, (s["T"], s["W"], s["W"], 3)).astype(np.uint8)},
    weights={"mean": "3", "spread": lambda *_: np.array([0.2, 0.3, 0.25], np.float32)},
    sizes={"T": 200, "W": 8},
    small={"T": 3, "W": 2},
)

standardized = _case(
    name="frame_standardization_and_pooling",
    model="""pooled (float[T, $C, $W, $W] x) => (float[T, $C] y) <float tiny = {1e-5}> {
   y = Scan <num_scan_inputs = 1, body = frame (float[$C, $W, $W] e) => (float[$C] r)
      <int64[1] first = {0}, int64[1] flat = {-1}> {
      mean = ReduceMean <axes = [1, 2], keepdims = 1> (e)
      off = Sub (e, mean)
      squares = Mul (off, off)
      spread = ReduceMean <axes = [1, 2], keepdims = 1> (squares)
      safe = Add (spread, tiny)
      root = Sqrt (safe)
      unit = Div (off, root)
      active = Relu (unit)
      image = Unsqueeze (active, first)
      pool = GlobalAveragePool (image)
      r = Reshape (pool, flat)
   }> (x)
}""",
    best="""pooled (float[T, $C, $W, $W] x) => (float[T, $C] y)
   <float tiny = {1e-5}, int64[2] flat = {0, -1}> {
   mean = ReduceMean <axes = [2, 3], keepdims = 1> (x)
   off = Sub (x, mean)
   squares = Mul (off, off)
   spread = ReduceMean <axes = [2, 3], keepdims = 1> (squares)
   safe = Add (spread, tiny)
   root = Sqrt (safe)
   unit = Div (off, root)
   active = Relu (unit)
   pool = GlobalAveragePool (active)
   y = Reshape (pool, flat)
}""",
    feeds={"x": "T C W W"},
    sizes={"T": 200, "C": 4, "W": 8},
    small={"T": 3, "C": 2, "W": 4},
)

CASES = (
    spectrum,
    windows,
    strided,
    strided_slices,
    moving_average,
    envelope,
    convolution,
    images,
    standardized,
)
