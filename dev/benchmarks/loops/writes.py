"""Results that a loop writes one after the other: lists, buffers, growing tensors."""

import functools

import numpy as np

from .case import Case, Sizes, size

_SIZES = {"T": 500, "D": 16}
_SMALL = {"T": 3, "D": 2}
_ROW = """
      e = Gather <axis = 0> (x, i)
      scaled = Mul (e, gain)
      moved = Add (scaled, bias)
      r = Sigmoid (moved)"""
_BEST = """best (float[T, $D] x) => (float[T, $D] y) {
   scaled = Mul (x, gain)
   moved = Add (scaled, bias)
   y = Sigmoid (moved)
}"""
_WEIGHTS = {"gain": "D", "bias": "D"}

_case = functools.partial(
    Case, feeds={"x": "T D"}, sizes=_SIZES, small=_SMALL, true_recurrence=False
)

listed = _case(
    name="list_append_and_stack",
    model=f"""
listed (float[T, $D] x) => (float[T, $D] y) <int64 zero = {{0}}, bool always = {{1}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   nothing = SequenceEmpty <dtype = 1> ()
   outs = Loop (length, always, nothing) <body = step
      (int64 i, bool cond, seq(float[$D]) list) => (bool again, seq(float[$D]) list_next) {{{_ROW}
      list_next = SequenceInsert (list, r)
      again = Identity (always)
   }}>
   y = ConcatFromSequence <axis = 0, new_axis = 1> (outs)
}}""",
    best=_BEST,
    weights=_WEIGHTS,
)

concatenated = _case(
    name="list_append_and_concat",
    model=f"""
listed (float[$T, $D] x) => (float[$E] y) <int64 length = {{$T}}, bool always = {{1}}> {{
   nothing = SequenceEmpty <dtype = 1> ()
   outs = Loop (length, always, nothing) <body = step
      (int64 i, bool cond, seq(float[$D]) list) => (bool again, seq(float[$D]) list_next) {{{_ROW}
      list_next = SequenceInsert (list, r)
      again = Identity (cond)
   }}>
   y = ConcatFromSequence <axis = 0> (outs)
}}""",
    best="""best (float[$T, $D] x) => (float[$E] y) <int64[1] flat = {-1}> {
   scaled = Mul (x, gain)
   moved = Add (scaled, bias)
   rows = Sigmoid (moved)
   y = Reshape (rows, flat)
}""",
    weights=_WEIGHTS,
    sizes={**_SIZES, "E": 500 * 16},
    small={**_SMALL, "E": 6},
)

scattered = _case(
    name="buffer_scatter_nd",
    model=f"""
scattered (float[T, $D] x) => (float[T, $D] y) <int64 zero = {{0}}, bool always = {{1}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   buffer = ConstantOfShape (shape)
   y = Loop (length, always, buffer) <body = step
      (int64 i, bool cond, float[T, $D] out) => (bool again, float[T, $D] out_next)
      <int64[2] one_index = {{1, 1}}, int64[1] first = {{0}}> {{{_ROW}
      index = Reshape (i, one_index)
      row = Unsqueeze (r, first)
      out_next = ScatterND (out, index, row)
      again = Identity (cond)
   }}>
}}""",
    best=_BEST,
    weights=_WEIGHTS,
    sizes={**_SIZES, "T": 1000},
)

scattered_elements = _case(
    name="buffer_scatter_elements",
    model=f"""
scattered (float[$T, $D] x) => (float[$T, $D] y) <int64 length = {{$T}}, bool always = {{1}},
   int64[2] buffer_shape = {{$T, $D}}, int64[2] row_shape = {{1, $D}}> {{
   buffer = ConstantOfShape (buffer_shape)
   y = Loop (length, always, buffer) <body = step
      (int64 i, bool cond, float[$T, $D] out) => (bool again, float[$T, $D] out_next)
      <int64[1] first = {{0}}> {{{_ROW}
      index = Expand (i, row_shape)
      row = Unsqueeze (r, first)
      out_next = ScatterElements <axis = 0> (out, index, row)
      again = Identity (cond)
   }}>
}}""",
    best=_BEST.replace("[T,", "[$T,"),
    weights=_WEIGHTS,
)

assigned_columns = _case(
    name="buffer_torch_columns",
    model="""columns (float[$B, $T, $D] x) => (float[$B, $T, $D] y)
   <int64 one = {1}, bool always = {1}, int64[1] last = {-1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, one)
   buffer = ConstantOfShape (shape)
   y = Loop (length, always, buffer) <body = step
      (int64 t, bool cond, float[$B, $T, $D] out) => (bool again, float[$B, $T, $D] out_next)
      <int64 zero = {0}, int64 one_more = {1}, int64[1] first = {0}, int64[1] second = {1}> {
      e = Gather <axis = 1> (x, t)
      scaled = Mul (e, gain)
      moved = Add (scaled, bias)
      r = Relu (moved)
      rows = Gather <axis = 0> (shape, zero)
      numbers = Range (zero, rows, one_more)
      across = Unsqueeze (numbers, second)
      t_1 = Unsqueeze (t, first)
      down = Expand (t_1, across_shape)
      index = Concat <axis = 1> (across, down)
      out_next = ScatterND (out, index, r)
      again = Identity (always)
   }>
}""",
    best="""best (float[$B, $T, $D] x) => (float[$B, $T, $D] y) {
   scaled = Mul (x, gain)
   moved = Add (scaled, bias)
   y = Relu (moved)
}""",
    feeds={"x": "B T D"},
    weights={**_WEIGHTS, "across_shape": lambda s, _: np.array([s["B"], 1], np.int64)},
    packed=lambda given: {name: given[name] for name in _WEIGHTS},
    sizes={**_SIZES, "T": 200, "B": 4},
    small={**_SMALL, "B": 2},
)

growing = _case(
    name="growing_concat",
    model=f"""growing (float[T, $D] x) => (float[T, $D] y) <int64 zero = {{0}}, bool always = {{1}},
   int64[2] empty_shape = {{0, $D}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   nothing = ConstantOfShape (empty_shape)
   y = Loop (length, always, nothing) <body = step
      (int64 i, bool cond, float[N, $D] out) => (bool again, float[K, $D] out_next)
      <int64[1] first = {{0}}> {{{_ROW}
      row = Unsqueeze (r, first)
      out_next = Concat <axis = 0> (out, row)
      again = Identity (cond)
   }}>
}}""",
    best=_BEST,
    weights=_WEIGHTS,
    sizes={**_SIZES, "T": 1000},
)

growing_cache = _case(
    name="growing_cache_given",
    model="""cache (float[T, $D] x, float[P, $D] past) => (float[Q, $D] y)
   <int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always, past) <body = step
      (int64 i, bool cond, float[N, $D] out) => (bool again, float[K, $D] out_next) {
      i_1 = Unsqueeze (i, axis)
      e = Gather <axis = 0> (x, i_1)
      key = MatMul (e, w_k)
      out_next = Concat <axis = 0> (out, key)
      again = Identity (cond)
   }>
}""",
    best="""cache (float[T, $D] x, float[P, $D] past) => (float[Q, $D] y) {
   keys = MatMul (x, w_k)
   y = Concat <axis = 0> (past, keys)
}""",
    feeds={"x": "T D", "past": "T D"},
    weights={"w_k": "D D", "axis": lambda *_: np.zeros(1, np.int64)},
    packed=lambda given: {"w_k": given["w_k"]},
    sizes={**_SIZES, "T": 300, "D": 32},
)

last_of_list = _case(
    name="list_last_only",
    model=f"""
last (float[T, $D] x, int64 n) => (float[$D] y) <int64 end = {{-1}}, bool always = {{1}}> {{
   nothing = SequenceEmpty <dtype = 1> ()
   outs = Loop (n, always, nothing) <body = step
      (int64 i, bool cond, seq(float[$D]) list) => (bool again, seq(float[$D]) list_next) {{{_ROW}
      list_next = SequenceInsert (list, r)
      again = Identity (cond)
   }}>
   y = SequenceAt (outs, end)
}}""",
    best="""last (float[T, $D] x, int64 n) => (float[$D] y) <int64 one = {1}> {
   last = Sub (n, one)
   e = Gather <axis = 0> (x, last)
   scaled = Mul (e, gain)
   moved = Add (scaled, bias)
   y = Sigmoid (moved)
}""",
    feeds={"x": "T D", "n": size("T")},
    weights=_WEIGHTS,
)


def _ids(sizes: Sizes, generator: np.random.Generator) -> np.ndarray:
    return generator.integers(0, sizes["V"], sizes["T"])


embeddings = _case(
    name="embedding_token_by_token",
    model="""embedding (int64[T] ids) => (float[T, $D] y) <int64 zero = {0}, bool always = {1}> {
   shape = Shape (ids)
   length = Gather <axis = 0> (shape, zero)
   y = Loop (length, always) <body = step (int64 i, bool cond) => (bool again, float[$D] out) {
      token = Gather <axis = 0> (ids, i)
      word = Gather <axis = 0> (table, token)
      place = Gather <axis = 0> (positions, i)
      sum = Add (word, place)
      out = LayerNormalization (sum, gain, bias)
      again = Identity (always)
   }>
}""",
    best="""embedding (int64[T] ids) => (float[T, $D] y) <int64[1] start = {0}> {
   words = Gather <axis = 0> (table, ids)
   length = Shape (ids)
   places = Slice (positions, start, length, start)
   sum = Add (words, places)
   y = LayerNormalization (sum, gain, bias)
}""",
    feeds={"ids": _ids},
    weights={"table": "V D", "positions": "L D", **_WEIGHTS},
    sizes={"T": 500, "D": 64, "V": 1000, "L": 512},
    small={"T": 3, "D": 4, "V": 7, "L": 5},
)

CASES = (
    listed,
    concatenated,
    scattered,
    scattered_elements,
    assigned_columns,
    growing,
    growing_cache,
    last_of_list,
    embeddings,
)
