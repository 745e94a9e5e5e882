"""Attention to rows that a loop appends to caches: decoders that know their inputs beforehand."""

import functools

import numpy as np

from .case import Case

_SIZES = {"T": 200, "D": 32, "P": 20, "H": 4, "E": 8}
_SMALL = {"T": 3, "D": 4, "P": 2, "H": 2, "E": 2}
_CONSTANTS = """int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, bool always = {1},
   float lowest = {-inf}"""
_MASK = """
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   numbers = Range (zero, length, one)
   last = Unsqueeze (numbers, second)
   seen = LessOrEqual (numbers, last)"""


def _weights(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "D D")


def _scale(name: str) -> dict[str, object]:
    return {"scale": lambda sizes, _: np.array(1 / np.sqrt(sizes[name]), np.float32)}


_case = functools.partial(
    Case, feeds={"x": "T D"}, sizes=_SIZES, small=_SMALL, true_recurrence=False
)

attention = _case(
    name="attention_to_cache",
    model=f"""
attention (float[T, $D] x) => (float[T, $D] y) <{_CONSTANTS}, int64[2] empty_shape = {{0, $D}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   nothing = ConstantOfShape (empty_shape)
   keys, values, y = Loop (length, always, nothing, nothing) <body = step
      (int64 i, bool cond, float[N, $D] k, float[N, $D] v)
      => (bool again, float[M, $D] k_next, float[M, $D] v_next, float[$D] r) {{
      e = Gather <axis = 0> (x, i)
      row = Unsqueeze (e, first)
      query = MatMul (row, w_q)
      key = MatMul (row, w_k)
      value = MatMul (row, w_v)
      k_next = Concat <axis = 0> (k, key)
      v_next = Concat <axis = 0> (v, value)
      turned = Transpose <perm = [1, 0]> (k_next)
      products = MatMul (query, turned)
      scores = Mul (products, scale)
      weights = Softmax <axis = -1> (scores)
      sum = MatMul (weights, v_next)
      r = Squeeze (sum, first)
      again = Identity (cond)
   }}>
}}""",
    best=f"""
best (float[T, $D] x) => (float[T, $D] y) <{_CONSTANTS}, int64[1] second = {{1}}> {{{_MASK}
   query = MatMul (x, w_q)
   key = MatMul (x, w_k)
   value = MatMul (x, w_v)
   turned = Transpose <perm = [1, 0]> (key)
   products = MatMul (query, turned)
   scores = Mul (products, scale)
   masked = Where (seen, scores, lowest)
   weights = Softmax <axis = -1> (masked)
   y = MatMul (weights, value)
}}""",
    weights=_weights("w_q", "w_k", "w_v") | _scale("D"),
)

heads_past = _case(
    name="attention_heads_past",
    model=f"""attention (float[$T, $D] x, float[$H, P, $E] past_k, float[$H, P, $E] past_v)
   => (float[$T, $D] y, float[$H, Q, $E] keys, float[$H, R, $E] values)
   <int64 length = {{$T}}, {_CONSTANTS}, int64[3] heads = {{1, $H, $E}}, int64[1] flat = {{$D}}> {{
   keys, values, y = Loop (length, always, past_k, past_v) <body = step
      (int64 i, bool cond, float[$H, N, $E] k, float[$H, N, $E] v)
      => (bool again, float[$H, M, $E] k_next, float[$H, M, $E] v_next, float[$D] r) {{
      e = Gather <axis = 0> (x, i)
      row = Unsqueeze (e, first)
      q_all = MatMul (row, w_q)
      k_all = MatMul (row, w_k)
      v_all = MatMul (row, w_v)
      q_heads = Reshape (q_all, heads)
      k_heads = Reshape (k_all, heads)
      v_heads = Reshape (v_all, heads)
      query = Transpose <perm = [1, 0, 2]> (q_heads)
      key = Transpose <perm = [1, 0, 2]> (k_heads)
      value = Transpose <perm = [1, 0, 2]> (v_heads)
      k_next = Concat <axis = 1> (k, key)
      v_next = Concat <axis = 1> (v, value)
      turned = Transpose <perm = [0, 2, 1]> (k_next)
      products = MatMul (query, turned)
      scores = Mul (products, scale)
      weights = Softmax <axis = -1> (scores)
      sums = MatMul (weights, v_next)
      joined = Reshape (sums, flat)
      r = MatMul (joined, w_o)
      again = Identity (cond)
   }}>
}}""",
    best=f"""best (float[$T, $D] x, float[$H, P, $E] past_k, float[$H, P, $E] past_v)
   => (float[$T, $D] y, float[$H, Q, $E] keys, float[$H, R, $E] values)
   <{_CONSTANTS}, int64[1] second = {{1}}, int64[3] heads = {{$T, $H, $E}},
    int64[2] flat = {{$T, $D}}> {{{_MASK}
   q_all = MatMul (x, w_q)
   k_all = MatMul (x, w_k)
   v_all = MatMul (x, w_v)
   q_heads = Reshape (q_all, heads)
   k_heads = Reshape (k_all, heads)
   v_heads = Reshape (v_all, heads)
   query = Transpose <perm = [1, 0, 2]> (q_heads)
   key = Transpose <perm = [1, 0, 2]> (k_heads)
   value = Transpose <perm = [1, 0, 2]> (v_heads)
   keys = Concat <axis = 1> (past_k, key)
   values = Concat <axis = 1> (past_v, value)
   sizes = Shape (past_k)
   before = Gather <axis = 0> (sizes, one)
   total = Add (before, length)
   places = Range (zero, total, one)
   ends = Add (last, before)
   visible = LessOrEqual (places, ends)
   turned = Transpose <perm = [0, 2, 1]> (keys)
   products = MatMul (query, turned)
   scores = Mul (products, scale)
   masked = Where (visible, scores, lowest)
   weights = Softmax <axis = -1> (masked)
   sums = MatMul (weights, values)
   rows = Transpose <perm = [1, 0, 2]> (sums)
   joined = Reshape (rows, flat)
   y = MatMul (joined, w_o)
}}""",
    feeds={"x": "T D", "past_k": "H P E", "past_v": "H P E"},
    weights=_weights("w_q", "w_k", "w_v", "w_o") | _scale("E"),
)


def _layer(n: int, h: str, k: str, v: str) -> str:
    """A layer of a decoder, of rows before it and keys and values after its caches."""
    return f"""
      turned{n} = Transpose <perm = [1, 0]> ({k})
      products{n} = MatMul (query{n}, turned{n})
      scores{n} = Mul (products{n}, scale)
      MASK{n}
      weights{n} = Softmax <axis = -1> (masked{n})
      sums{n} = MatMul (weights{n}, {v})
      mixed{n} = MatMul (sums{n}, w_o{n})
      after{n} = Add ({h}, mixed{n})
      up{n} = MatMul (after{n}, w_u{n})
      act{n} = Relu (up{n})
      down{n} = MatMul (act{n}, w_d{n})
      out{n} = Add (after{n}, down{n})"""


def _projected(n: int, h: str) -> str:
    return f"""
      norm{n} = LayerNormalization (  {h}, gain, bias)
      query{n} = MatMul (norm{n}, w_q{n})
      key{n} = MatMul (norm{n}, w_k{n})
      value{n} = MatMul (norm{n}, w_v{n})"""


def _step() -> str:
    parts = []
    for n, h in ((1, "row"), (2, "out1")):
        appended = f"""
      k{n}_next = Concat <axis = 0> (k{n}, key{n})
      v{n}_next = Concat <axis = 0> (v{n}, value{n})"""
        layer = _layer(n, h, f"k{n}_next", f"v{n}_next")
        masked = layer.replace(f"MASK{n}", f"masked{n} = Identity (scores{n})")
        parts.append(_projected(n, h) + appended + masked)
    return "".join(parts)


def _rows() -> str:
    parts = []
    for n, h in ((1, "x"), (2, "out1")):
        layer = _layer(n, h, f"key{n}", f"value{n}")
        masked = layer.replace(f"MASK{n}", f"masked{n} = Where (seen, scores{n}, lowest)")
        parts.append(_projected(n, h) + masked)
    return "".join(parts)


_LAYERS = [f"w_{name}{n}" for n in (1, 2) for name in "qkvoud"]

layers = _case(
    name="decoder_layers",
    model=f"""
decoder (float[T, $D] x) => (float[T, $D] y) <{_CONSTANTS}, int64[2] empty_shape = {{0, $D}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   nothing = ConstantOfShape (empty_shape)
   k_1, v_1, k_2, v_2, y = Loop (length, always, nothing, nothing, nothing, nothing) <body = step
      (int64 i, bool cond, float[N, $D] k1, float[N, $D] v1, float[N, $D] k2, float[N, $D] v2)
      => (bool again, float[M, $D] k1_next, float[M, $D] v1_next, float[M, $D] k2_next,
          float[M, $D] v2_next, float[$D] r) {{
      e = Gather <axis = 0> (x, i)
      row = Unsqueeze (e, first){_step()}
      r = Squeeze (out2, first)
      again = Identity (cond)
   }}>
}}""",
    best=f"""
best (float[T, $D] x) => (float[T, $D] y) <{_CONSTANTS}, int64[1] second = {{1}}> {{{_MASK}
   {_rows()}
   y = Identity (out2)
}}""",
    weights=_weights(*_LAYERS) | _scale("D") | {"gain": "D", "bias": "D"},
    sizes={**_SIZES, "T": 100},
    tolerance=1e-3,
)

linear = _case(
    name="mean_of_history",
    model=f"""
history (float[T, $D] x) => (float[T, $D] y) <{_CONSTANTS}, int64[2] empty_shape = {{0, $D}}> {{
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   nothing = ConstantOfShape (empty_shape)
   rows, y = Loop (length, always, nothing) <body = step
      (int64 i, bool cond, float[N, $D] h) => (bool again, float[M, $D] h_next, float[$D] r) {{
      e = Gather <axis = 0> (x, i)
      row = Unsqueeze (e, first)
      new = MatMul (row, w)
      h_next = Concat <axis = 0> (h, new)
      mean = ReduceMean <axes = [0], keepdims = 0> (h_next)
      r = Tanh (mean)
      again = Identity (cond)
   }}>
}}""",
    best="""best (float[T, $D] x) => (float[T, $D] y)
   <int64 zero = {0}, float one = {1}, int64[2] shape_1 = {-1, 1}> {
   rows = MatMul (x, w)
   sums = CumSum (rows, zero)
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   length_f = Cast <to = 1> (length)
   end = Add (length_f, one)
   numbers = Range (one, end, one)
   counts = Reshape (numbers, shape_1)
   means = Div (sums, counts)
   y = Tanh (means)
}""",
    weights={"w": "D D"},
)

greedy = _case(
    name="greedy_decoding_cache",
    model=f"""greedy (float[$D] start) => (int64[$T] tokens) <int64 length = {{$T}}, {_CONSTANTS},
   int64[2] empty_shape = {{0, $D}}, int64[2] as_row = {{1, $D}}> {{
   nothing = ConstantOfShape (empty_shape)
   row0 = Reshape (start, as_row)
   keys, values, last, tokens = Loop (length, always, nothing, nothing, row0) <body = step
      (int64 i, bool cond, float[N, $D] k, float[N, $D] v, float[1, $D] row)
      => (bool again, float[M, $D] k_next, float[M, $D] v_next, float[1, $D] row_next,
          int64 token) {{
      query = MatMul (row, w_q)
      key = MatMul (row, w_k)
      value = MatMul (row, w_v)
      k_next = Concat <axis = 0> (k, key)
      v_next = Concat <axis = 0> (v, value)
      turned = Transpose <perm = [1, 0]> (k_next)
      products = MatMul (query, turned)
      scores = Mul (products, scale)
      weights = Softmax <axis = -1> (scores)
      sum = MatMul (weights, v_next)
      logits = MatMul (sum, w_o)
      best = ArgMax <axis = 1, keepdims = 0> (logits)
      token = Squeeze (best, first)
      row_next = Gather <axis = 0> (table, best)
      again = Identity (cond)
   }}>
}}""",
    best=None,
    feeds={"start": "D"},
    weights=_weights("w_q", "w_k", "w_v", "w_o", "table") | _scale("D"),
    true_recurrence=True,
)

CASES = (attention, heads_past, layers, linear, greedy)
