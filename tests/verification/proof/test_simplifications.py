"""Rules of simplifiers: right ones are proved in both directions, near misses stay open."""

import itertools
import re

import onnx
import pytest
from straightline import prove

RIGHT = """
float[] x | float[3] x | float[n, m] x:
  y = Mul (x, float{1}) => y = Identity (x)
  y = Mul (float{1}, x) => y = Identity (x)
  y = Div (x, float{1}) => y = Identity (x)
  y = Sub (x, float{0.0}) => y = Identity (x)
  y = Add (x, float{-0.0}) => y = Identity (x)
  a = Neg (x) y = Neg (a) => y = Identity (x)
  a = Relu (x) y = Relu (a) => y = Relu (x)
  a = Abs (x) y = Abs (a) => y = Abs (x)
  a = Ceil (x) y = Ceil (a) => y = Ceil (x)
  a = Floor (x) y = Floor (a) => y = Floor (x)
  a = Round (x) y = Round (a) => y = Round (x)
  a = Sign (x) y = Sign (a) => y = Sign (x)
  a = Neg (x) y = Abs (a) => y = Abs (x)
  a = Ceil (x) y = Floor (a) => y = Ceil (x)
  a = Floor (x) y = Round (a) => y = Floor (x)
  y = Add (x, float{-2.5}) => y = Sub (x, float{2.5})
  y = Mul (x, float{-1}) => y = Neg (x)
  y = Div (x, float{-1}) => y = Neg (x)
  y = Sub (float{-0.0}, x) => y = Neg (x)
  y = Div (x, float{2}) => y = Mul (x, float{0.5})
  y = Add (x, x) => y = Mul (x, float{2})
  a = Abs (x) y = Mul (a, a) => y = Mul (x, x)
  a = Neg (x) y = Mul (a, a) => y = Mul (x, x)
  y = Max (x) => y = Identity (x)
  y = Cast <to = 1> (x) => y = Identity (x)
  y = Dropout (x) => y = Identity (x)
float[n, 4] x | float[2, 4] x:
  y = Mul (x, float[4]{1, 1, 1, 1}) => y = Identity (x)
float[n, m] x | float[2, 4] x | float[1] x:
  y = Mul (x, float[1]{1}) => y = Identity (x)
int64[] x | int64[n] x | int64[2, 3] x:
  y = Add (x, int64{0}) => y = Identity (x)
  y = Sub (x, int64{0}) => y = Identity (x)
  y = Mul (x, int64{1}) => y = Identity (x)
  y = Div (x, int64{1}) => y = Identity (x)
bool[] x | bool[n] x | bool[2, 3] x:
  y = And (x, bool{1}) => y = Identity (x)
  y = Or (x, bool{0}) => y = Identity (x)
  y = Xor (x, bool{0}) => y = Identity (x)
  y = Xor (x, bool{1}) => y = Not (x)
  y = Equal (x, bool{1}) => y = Identity (x)
  y = Equal (x, bool{0}) => y = Not (x)
  a = Not (x) y = Not (a) => y = Identity (x)
  y = And (x, x) => y = Identity (x)
  y = Or (x, x) => y = Identity (x)
int64[n] x | int64[2, 3] x:
  y = Mul (x, int64{0}) => y = Sub (x, x)
  y = Sub (x, x) => h = Shape (x) y = ConstantOfShape <value = int64[1] {0}> (h)
int32[] x | int32[n] x:
  y = BitwiseAnd (x, int32{-1}) => y = Identity (x)
  y = BitwiseOr (x, int32{0}) => y = Identity (x)
  y = BitwiseXor (x, int32{0}) => y = Identity (x)
  a = Cast <to = 7> (x) y = Cast <to = 6> (a) => y = Identity (x)
int64[] x | int32[n] x:
  a = Neg (x) y = Neg (a) => y = Identity (x)
int64[] x | int64[n] x | int32[2, 3] x | uint8[n, m] x:
  a = BitwiseNot (x) y = BitwiseNot (a) => y = Identity (x)
  y = BitwiseAnd (x, x) => y = Identity (x)
  y = BitwiseOr (x, x) => y = Identity (x)
float[n, m] x:
  p = Slice (x, int64[1]{-1}, int64[1]{-9223372036854775807}, int64[1]{1}, int64[1]{-1}) y = Slice
      (p, int64[1]{-1}, int64[1]{-9223372036854775807}, int64[1]{1}, int64[1]{-1}) => y = Identity
      (x)
  a = Unsqueeze (x, int64[1]{0}) y = Transpose <perm = [0, 2, 1]> (a) => b = Transpose <perm = [1,
      0]> (x) y = Unsqueeze (b, int64[1]{0})
  a = Unsqueeze (x, int64[1]{1}) y = Softmax <axis = 2> (a) => a = Softmax <axis = 1> (x) y =
      Unsqueeze (a, int64[1]{1})
  a = Relu (x) y = Slice (a, int64[1]{-3}, int64[1]{-1}, int64[1]{1}) => a = Slice (x, int64[1]{-3},
      int64[1]{-1}, int64[1]{1}) y = Relu (a)
  h = Shape (x) e = ConstantOfShape <value = float[1] {2.5}> (h) y = Mul (x, e) => y = Mul (x,
      float{2.5})
  h = Shape (x) y = Expand (x, h) => y = Identity (x)
  h = Shape (x) e = ConstantOfShape <value = float[1] {0}> (h) y = Max (x, e) => y = Max (x,
      float{0.0})
  y = Pad <mode = "edge"> (x, int64[4]{0, 0, 0, 0}) => y = Identity (x)
  h = Shape (x) y = Reshape (x, h) => y = Identity (x)
  h = Shape <end = 1> (x) q = Squeeze (h, int64[1]{0}) r = Range (int64{0}, q, int64{1}) y = Gather
      (x, r) => y = Identity (x)
  y = Trilu (x, int64{0}) => y = Trilu (x)
  a = Cast <to = 7> (x) y = Reshape (a, int64[1]{-1}) => a = Reshape (x, int64[1]{-1}) y = Cast <to
      = 7> (a)
  y = ReduceMax (x, int64[1]{1}) => y = ReduceMax (x, int64[1]{-1})
  y = Size (x) => h = Shape (x) y = ReduceProd <keepdims = 0> (h)
int64[] x | int64[n] x | float[] x | float[n] x:
  y = Max (x, x) => y = Identity (x)
float[] x | float[n, m] x:
  y = Min (x, x) => y = Identity (x)
bool[n] x:
  y = Xor (x, x) => h = Shape (x) y = ConstantOfShape <value = bool[1] {0}> (h)
  y = Where (x, bool{1}, bool{0}) => y = Identity (x)
  a = Cast <to = 7> (x) y = Cast <to = 1> (a) => y = Cast <to = 1> (x)
float[n] x | float[] x:
  a = Clip (x, float{0.0}, float{6}) y = Clip (a, float{0.0}, float{6}) => y = Clip (x, float{0.0},
      float{6})
int32[] x | int32[3] x | int32[n, m] x:
  y = Clip (x) => y = Identity (x)
bool[n] x, bool[n] z:
  a = Or (x, z) b = And (x, a) y = And (b, z) => y = And (x, z)
bool[n] x, bool[n] z | bool[] x, bool[] z:
  a = And (x, z) y = Not (a) => a = Not (x) b = Not (z) y = Or (a, b)
float[] x, float[] z | float[3] x, float[3] z | float[n, m] x, float[m] z:
  a = Neg (z) y = Add (x, a) => y = Sub (x, z)
float[] x, float[] z | float[n] x, float[n] z:
  a = Neg (z) y = Sub (x, a) => y = Add (x, z)
  y = Greater (x, z) => y = Less (z, x)
float[n] x, float[n] z:
  a = Neg (x) b = Neg (z) y = Mul (a, b) => y = Mul (x, z)
  a = Neg (x) y = Div (a, z) => a = Div (x, z) y = Neg (a)
  a = Add (x, z) y = Slice (a, int64[1]{-1}, int64[1]{-9223372036854775807}, int64[1]{0},
      int64[1]{-1}) => a = Slice (x, int64[1]{-1}, int64[1]{-9223372036854775807}, int64[1]{0},
      int64[1]{-1}) b =    Slice (z, int64[1]{-1}, int64[1]{-9223372036854775807}, int64[1]{0},
      int64[1]{-1}) y = Add    (a, b)
float[n] x, float[n] z | float[] x, float[] z:
  a = Neg (x) y = Mul (a, z) => a = Mul (x, z) y = Neg (a)
float[n, 2] x:
  y = Div (x, float[2]{8, 0.25}) => y = Mul (x, float[2]{0.125, 4})
float[] x, float[] z | float[n, m] x, float[m] z:
  y = Add (x, z) => y = Add (z, x)
float[n, 4, m] x | float[2, 3, 4] x | float[a, b, c] x:
  y = Concat <axis = 1> (x) => y = Identity (x)
  a = Transpose <perm = [0, 2, 1]> (x) y = Transpose <perm = [0, 2, 1]> (a) => y = Identity (x)
  y = Transpose <perm = [0, 1, 2]> (x) => y = Identity (x)
  a = Transpose <perm = [0, 2, 1]> (x) y = Relu (a) => a = Relu (x) y = Transpose <perm = [0, 2, 1]>
      (a)
  a = Transpose <perm = [2, 0, 1]> (x) b = Relu (a) y = Transpose <perm = [1, 2, 0]> (b) => y = Relu
      (x)
  a = Transpose <perm = [0, 2, 1]> (x) y = Add (a, float{3}) => a = Add (x, float{3}) y = Transpose
      <perm = [0, 2, 1]> (a)
  a = Transpose <perm = [0, 2, 1]> (x) y = ReduceMax <keepdims = 0> (a, int64[1]{2}) => y =
      ReduceMax <keepdims = 0> (x, int64[1]{1})
  a = Transpose <perm = [0, 2, 1]> (x) y = ReduceSum (a, int64[1]{2}) => b = ReduceSum (x,
      int64[1]{1}) y = Transpose <perm = [0, 2, 1]> (b)
  a = Transpose <perm = [0, 2, 1]> (x) y = Softmax <axis = 2> (a) => b = Softmax <axis = 1> (x) y =
      Transpose <perm = [0, 2, 1]> (b)
  a = Transpose <perm = [0, 2, 1]> (x) y = Slice (a, int64[1]{1}, int64[1]{3}, int64[1]{2}) => b =
      Slice (x, int64[1]{1}, int64[1]{3}, int64[1]{1}) y = Transpose <perm = [0, 2, 1]> (b)
  a = Transpose <perm = [0, 2, 1]> (x) y = Gather <axis = 2> (a, int64{1}) => y = Gather <axis = 1>
      (x, int64{1})
  a = Transpose <perm = [0, 2, 1]> (x) y = ArgMax <axis = 2, keepdims = 0> (a) => y = ArgMax <axis =
      1, keepdims = 0> (x)
  a = Transpose <perm = [0, 2, 1]> (x) y = CumSum (a, int64{2}) => b = CumSum (x, int64{1}) y =
      Transpose <perm = [0, 2, 1]> (b)
  a = Reshape (x, int64[1]{-1}) y = Relu (a) => a = Relu (x) y = Reshape (a, int64[1]{-1})
  a = ReduceMax (x, int64[1]{1}) y = Squeeze (a, int64[1]{1}) => y = ReduceMax <keepdims = 0> (x,
      int64[1]{1})
  a = Reshape (x, int64[1]{-1}) y = Cast <to = 11> (a) => a = Cast <to = 11> (x) y = Reshape (a,
      int64[1]{-1})
  a = Gather <axis = 1> (x, int64{1}) y = Unsqueeze (a, int64[1]{0}) => a = Gather <axis = 1> (x,
      int64[1]{1}) y = Transpose <perm = [1, 0, 2]> (a)
  y = Slice (x, int64[1]{0}, int64[1]{9223372036854775807}, int64[1]{1}) => y = Identity (x)
  a = Slice (x, int64[1]{0}, int64[1]{2}, int64[1]{1}) y = Slice (a, int64[1]{0}, int64[1]{2},
      int64[1]{1}) => y = Slice (x, int64[1]{0}, int64[1]{2}, int64[1]{1})
  a = Slice (x, int64[1]{0}, int64[1]{2}, int64[1]{0}) y = Slice (a, int64[1]{0}, int64[1]{2},
      int64[1]{2}) => y = Slice (x, int64[2]{0, 0}, int64[2]{2, 2}, int64[2]{0, 2})
  a = Slice (x, int64[1]{0}, int64[1]{2}, int64[1]{0}) y = Slice (a, int64[1]{0}, int64[1]{2},
      int64[1]{2}) => a = Slice (x, int64[1]{0}, int64[1]{2}, int64[1]{2}) y = Slice (a,
      int64[1]{0}, int64[1]{2},    int64[1]{0})
  y = Split <axis = 1, num_outputs = 1> (x) => y = Identity (x)
  y = Expand (x, int64[1]{1}) => y = Identity (x)
  y = Pad (x, int64[2]{0, 0}, , int64[1]{1}) => y = Identity (x)
  y = Softmax (x) => y = Softmax <axis = 2> (x)
int64[n] x, int64[n] z:
  a = Add (x, z) y = Sub (a, z) => y = Identity (x)
int64[n] x, int64[n] z, int64[n] w:
  a = Add (x, z) y = Mul (a, w) => a = Mul (x, w) b = Mul (z, w) y = Add (a, b)
bool[] k, float[] x, float[] z | bool[n] k, float[n] x, float[n] z | bool[n, 1] k, float[m] x,
float[m] z:
  a = Not (k) y = Where (a, x, z) => y = Where (k, z, x)
bool[n] k, float[n] x | bool[n] k, float[m, n] x:
  y = Where (k, x, x) => y = Identity (x)
bool[n] k, float[n] x, float[n] z, float[n] w | bool[n, 1] k, float[n, m] x, float[m] z,
float[n, m] w:
  a = Where (k, x, z) y = Where (k, a, w) => y = Where (k, x, w)
bool[n] k, float[n] x, float[n] z, float[n] w:
  a = Where (k, x, z) y = Where (k, w, a) => y = Where (k, w, z)
  a = Add (x, w) b = Add (z, w) y = Where (k, a, b) => a = Where (k, x, z) y = Add (a, w)
int64[n] x, int64[n] z | int32[] x, int32[] z:
  a = Less (x, z) y = Not (a) => y = GreaterOrEqual (x, z)
bool[] x | bool[n] x:
  a = Cast <to = 1> (x) y = Cast <to = 9> (a) => y = Identity (x)
bool[n] k, float[n] x, float[n] z:
  a = Where (k, x, z) y = Relu (a) => a = Relu (x) b = Relu (z) y = Where (k, a, b)
  a = Where (k, x, z) y = Cast <to = 11> (a) => a = Cast <to = 11> (x) b = Cast <to = 11> (z) y =
      Where (k, a, b)
float[n, 4, m] x, float[n, 4, m] z | float[a, b, c] x, float[a, b, c] z:
  a = Transpose <perm = [0, 2, 1]> (x) b = Transpose <perm = [0, 2, 1]> (z) y = Add (a, b) => a =
      Add (x, z) y = Transpose <perm = [0, 2, 1]> (a)
float[n, 4, m] x, float[4] z:
  a = Transpose <perm = [0, 2, 1]> (x) y = Add (a, z) => u = Unsqueeze (z, int64[1]{1}) a = Add (x,
      u) y = Transpose <perm = [0, 2, 1]> (a)
float[n, 4, h, w] x:
  y = ReduceMean <keepdims = 0> (x, int64[2]{2, 3}) => a = Transpose <perm = [0, 2, 3, 1]> (x) y =
      ReduceMean <keepdims = 0> (a, int64[2]{1, 2})
  a = Transpose <perm = [0, 2, 3, 1]> (x) b = LogSoftmax <axis = -1> (a) y = Transpose <perm = [0,
      3, 1, 2]> (b) => y = LogSoftmax <axis = 1> (x)
float[n, 4, m] x, float[n, k, m] z | float[2, 3, 4] x, float[2, 5, 4] z:
  a = Transpose <perm = [0, 2, 1]> (x) b = Transpose <perm = [0, 2, 1]> (z) y = Concat <axis = 2>
      (a, b) => c = Concat <axis = 1> (x, z) y = Transpose <perm = [0, 2, 1]> (c)
float[n, 4, m] x, int64[k] i:
  a = Transpose <perm = [0, 2, 1]> (x) y = Gather <axis = 2> (a, i) => b = Gather <axis = 1> (x, i)
      y = Transpose <perm = [0, 2, 1]> (b)
  a = Softmax <axis = 2> (x) y = Gather <axis = 1> (a, i) => a = Gather <axis = 1> (x, i) y =
      Softmax <axis = 2> (a)
float[n, 4, m] x:
  a = Transpose <perm = [0, 2, 1]> (x) b, d = Split <axis = 2, num_outputs = 2> (a) y = Add (b, d)
      => b, d = Split <axis = 1, num_outputs = 2> (x) e = Add (b, d) y = Transpose <perm = [0, 2,
      1]>    (e)
  a = Transpose <perm = [0, 2, 1]> (x) y = Pad (a, int64[6]{0, 0, 1, 0, 0, 2}) => b = Pad (x,
      int64[6]{0, 1, 0, 0, 2, 0}) y = Transpose <perm = [0, 2, 1]> (b)
  a = Transpose <perm = [0, 2, 1]> (x) y, i = TopK <axis = 2> (a, int64[1]{2}) => b, i = TopK <axis
      = 1> (x, int64[1]{2}) y = Transpose <perm = [0, 2, 1]> (b)
  a = Transpose <perm = [0, 2, 1]> (x) y = Tile (a, int64[3]{1, 1, 3}) => b = Tile (x, int64[3]{1,
      3, 1}) y = Transpose <perm = [0, 2, 1]> (b)
float[n, m] x, float[k, m] z, float[k] w:
  a = Transpose <perm = [1, 0]> (z) y = Gemm (x, a, w) => y = Gemm <transB = 1> (x, z, w)
float[n, 1, m] x:
  a = Transpose <perm = [0, 2, 1]> (x) y = Expand (a, int64[3]{1, 1, 5}) => b = Expand (x,
      int64[3]{1, 5, 1}) y = Transpose <perm = [0, 2, 1]> (b)
  y = Transpose <perm = [1, 0, 2]> (x) => a = Squeeze (x, int64[1]{1}) y = Unsqueeze (a,
      int64[1]{0})
  a = Squeeze (x, int64[1]{1}) y = Unsqueeze (a, int64[1]{1}) => y = Identity (x)
  y = ReduceMax (x, int64[1]{1}) => y = Identity (x)
bool[n, 4, m] k, float[n, 4, m] x, float[n, 4, m] z:
  d = Transpose <perm = [0, 2, 1]> (k) a = Transpose <perm = [0, 2, 1]> (x) b = Transpose <perm =
      [0, 2, 1]> (z) y = Where (d, a, b) => c = Where (k, x, z) y = Transpose <perm = [0, 2, 1]> (c)
float[n, m, 4] x, float[4] w:
  a = Transpose <perm = [1, 0, 2]> (x) y = LayerNormalization (a, w) => b = LayerNormalization (x,
      w) y = Transpose <perm = [1, 0, 2]> (b)
int8[n, m] x:
  a = Transpose <perm = [1, 0]> (x) y = DequantizeLinear (a, float{0.5}) => b = DequantizeLinear (x,
      float{0.5}) y = Transpose <perm = [1, 0]> (b)
int32[a, b, c] x:
  a = Transpose <perm = [0, 2, 1]> (x) y = Cast <to = 1> (a) => b = Cast <to = 1> (x) y = Transpose
      <perm = [0, 2, 1]> (b)
float[a, b] x, float[a, b] z | float[2, 3] x, float[2, 3] z:
  a = Reshape (x, int64[1]{-1}) b = Reshape (z, int64[1]{-1}) y = Add (a, b) => a = Add (x, z) y =
      Reshape (a, int64[1]{-1})
float[a, b] x | float[2, 3] x:
  a = Reshape (x, int64[1]{-1}) y = Add (a, float{2.5}) => a = Add (x, float{2.5}) y = Reshape (a,
      int64[1]{-1})
float[a, b] x, float[b] z:
  a = Unsqueeze (x, int64[1]{1}) y = Add (a, z) => a = Add (x, z) y = Unsqueeze (a, int64[1]{1})
  u = Unsqueeze (z, int64[1]{0}) y = Add (x, u) => y = Add (x, z)
float[a, 1, b] x, float[b] z:
  a = Squeeze (x, int64[1]{1}) y = Mul (a, z) => a = Mul (x, z) y = Squeeze (a, int64[1]{1})
float[a, b] x, float[a, b] z:
  u = Unsqueeze (z, int64[1]{0}) y = Add (x, u) => a = Add (x, z) y = Unsqueeze (a, int64[1]{0})
float[2, 3, 4] x:
  a = Reshape (x, int64[2]{0, -1}) y = Reshape (a, int64[1]{-1}) => y = Reshape (x, int64[1]{-1})
  y = Flatten <axis = 1> (x) => y = Reshape (x, int64[2]{0, -1})
float[n, m] x, float[k, m] z:
  a = Unsqueeze (x, int64[1]{2}) b = Unsqueeze (z, int64[1]{2}) y = Concat <axis = 0> (a, b) => c =
      Concat <axis = 0> (x, z) y = Unsqueeze (c, int64[1]{2})
float[n, m] x, int64 i:
  a = Gather (x, i) y = Unsqueeze (a, int64[1]{0}) => j = Unsqueeze (i, int64[1]{0}) y = Gather (x,
      j)
float[n, 8] x:
  a = Slice (x, int64[1]{1}, int64[1]{7}, int64[1]{1}) y = Slice (a, int64[1]{1}, int64[1]{3},
      int64[1]{1}) => y = Slice (x, int64[1]{2}, int64[1]{4}, int64[1]{1})
float[n, m] x, int64[k] i, int64[l] j:
  a = Gather <axis = 0> (x, i) y = Gather <axis = 1> (a, j) => a = Gather <axis = 1> (x, j) y =
      Gather <axis = 0> (a, i)
float[n, m] x, int64[k] i:
  a = Relu (x) y = Gather (a, i) => a = Gather (x, i) y = Relu (a)
float[n, m] x, float[n, m] z, int64[k] i:
  a = Add (x, z) y = Gather (a, i) => a = Gather (x, i) b = Gather (z, i) y = Add (a, b)
float[n, 4] x:
  a, b = Split <axis = 1, num_outputs = 2> (x) y = Concat <axis = 1> (a, b) => y = Identity (x)
  a = Slice (x, int64[1]{0}, int64[1]{2}, int64[1]{1}) b = Slice (x, int64[1]{2}, int64[1]{4},
      int64[1]{1}) y = Mul (a, b) => a, b = Split <axis = 1, num_outputs = 2> (x) y = Mul (a, b)
float[n] x, float[m] z, float[k] w:
  a = Concat <axis = 0> (x, z) y = Concat <axis = 0> (a, w) => y = Concat <axis = 0> (x, z, w)
float[n, 3] x, float[n, 2] z:
  a = Concat <axis = 1> (x, z) y = Slice (a, int64[1]{0}, int64[1]{3}, int64[1]{1}) => y = Identity
      (x)
float[n] x, float[m] z:
  a = Concat <axis = 0> (x, z) y = Relu (a) => a = Relu (x) b = Relu (z) y = Concat <axis = 0> (a,
      b)
float[n, 2] x, float[n, 3] z:
  a = Concat <axis = 1> (x, z) y = Add (a, float{2.5}) => a = Add (x, float{2.5}) b = Add (z,
      float{2.5}) y = Concat <axis = 1> (a, b)
float[n, m] x, float[m] z:
  h = Shape (x) e = Expand (z, h) y = Add (x, e) => y = Add (x, z)
float[2, 3] x, float[3] z:
  e = Expand (z, int64[2]{2, 3}) y = Add (x, e) => y = Add (x, z)
bool[n, m] k, float[n, m] x:
  h = Shape (x) e = ConstantOfShape <value = float[1] {2.5}> (h) y = Where (k, x, e) => y = Where
      (k, x, float{2.5})
bool[n, 1] k, float[n, m] x:
  h = Shape (x) e = Expand (k, h) y = Where (e, x, x) => y = Identity (x)
float[1, 1] x:
  a = Expand (x, int64[2]{1, 3}) y = Expand (a, int64[2]{2, 3}) => y = Expand (x, int64[2]{2, 3})
float[n, 1] x:
  a = Expand (x, int64[2]{1, 3}) y = Relu (a) => a = Relu (x) y = Expand (a, int64[2]{1, 3})
  y = Expand (x, int64[2]{1, 3}) => y = Tile (x, int64[2]{1, 3})
  y = ReduceMax <keepdims = 0> (x, int64[1]{1}) => y = Squeeze (x, int64[1]{1})
float[b, n, m] x, float[m, k] z:
  h = Shape <end = 1> (x) g = Shape (z) f = Concat <axis = 0> (h, g) e = Expand (z, f) y = MatMul
      (x, e) => y = MatMul (x, z)
float[m] z, float[n, m] x:
  h = Shape (x) e = ConstantOfShape <value = float[1] {1}> (h) y = Mul (z, e) => h = Shape (x) y =
      Expand (z, h)
float[n, m] x | float[2, 3] x:
  y = Tile (x, int64[2]{1, 1}) => y = Identity (x)
  y = Pad (x, int64[4]{0, 0, 0, 0}) => y = Identity (x)
  y = Reshape (x, int64[2]{0, 0}) => y = Identity (x)
float[n, m] x | float[] x:
  y = ReduceMax <noop_with_empty_axes = 1> (x, int64[0]{}) => y = Identity (x)
int64[n, m] x:
  y = ReduceSum <noop_with_empty_axes = 1> (x, int64[0]{}) => y = Identity (x)
int64[n, 1, m] x:
  y = ReduceSum <keepdims = 0> (x, int64[1]{1}) => y = Squeeze (x, int64[1]{1})
float[n] x:
  y = Transpose (x) => y = Identity (x)
float[n, 0] z, float[n, m] x:
  y = Concat <axis = 1> (z, x) => y = Identity (x)
int64[n, 1] x:
  y = CumSum (x, int64{1}) => y = Identity (x)
int8[] x | int8[n] x:
  a = Cast <to = 6> (x) y = Cast <to = 7> (a) => y = Cast <to = 7> (x)
float[n] x | float16[n] x:
  a = Cast <to = 11> (x) y = Cast <to = 1> (a) => y = Cast <to = 1> (x)
float16[n] x:
  a = Cast <to = 1> (x) y = Cast <to = 11> (a) => y = Cast <to = 11> (x)
int16[n] x:
  a = Cast <to = 1> (x) y = Cast <to = 11> (a) => y = Cast <to = 11> (x)
int64[n] x:
  a = Cast <to = 6> (x) y = Cast <to = 3> (a) => y = Cast <to = 3> (x)
float16[n, m] x, int64[k] i:
  a = Cast <to = 1> (x) y = Gather (a, i) => a = Gather (x, i) y = Cast <to = 1> (a)
float[n, 3, h, w] x, float[4, 3, 3, 3] z:
  y = Conv <kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]> (x, z) => y = Conv (x, z)
"""
WRONG = """
float[] x | float[3] x:
  y = Add (x, float{0.0}) => y = Identity (x)
float[] x | float[n] x:
  y = Mul (x, float[1]{1}) => y = Mul (x, float[1]{1.0000001})
float[] x:
  y = Mul (x, float[1]{1}) => y = Identity (x)
float[m] x:
  y = Mul (x, float[2]{1, 1}) => y = Identity (x)
float[n] x:
  y = Mul (x, float{0}) => a = Sub (x, x) y = Identity (a)
  y = Sub (x, x) => h = Shape (x) y = ConstantOfShape <value = float[1] {0}> (h)
  y = Div (x, x) => h = Shape (x) y = ConstantOfShape <value = float[1] {1}> (h)
  y = Div (x, float{3}) => y = Mul (x, float{0.33333334})
  y = Sub (float{0.0}, x) => y = Neg (x)
  a = Reciprocal (x) y = Reciprocal (a) => y = Identity (x)
  a = Sqrt (x) y = Mul (a, a) => y = Identity (x)
  a = Mul (x, x) y = Sqrt (a) => y = Abs (x)
  a = Exp (x) y = Log (a) => y = Identity (x)
  a = Floor (x) y = Ceil (a) => y = Ceil (x)
  a = Sign (x) y = Abs (a) => y = Sign (x)
  a = Neg (x) y = Relu (a) => a = Relu (x) y = Neg (a)
  y = Relu (x) => y = Abs (x)
  y = Equal (x, x) => h = Shape (x) y = ConstantOfShape <value = bool[1] {1}> (h)
  y = Clip (x) => y = Identity (x)
  y = Pad (x, int64[2]{0, 1}) => y = Identity (x)
  a = Cast <to = 7> (x) y = Cast <to = 1> (a) => y = Identity (x)
  a = Cast <to = 10> (x) b = Relu (a) y = Cast <to = 1> (b) => y = Relu (x)
  y = Sum (x) => y = Identity (x)
float[n] x, float[n] z:
  a = Sub (x, z) y = Neg (a) => y = Sub (z, x)
  a = Neg (x) b = Neg (z) y = Add (a, b) => a = Add (x, z) y = Neg (a)
  a = Neg (x) y = Sub (a, z) => a = Add (x, z) y = Neg (a)
  a = Add (x, z) y = Sub (a, z) => y = Identity (x)
  y = Max (x, z) => y = Max (z, x)
  a = Less (x, z) y = Not (a) => y = GreaterOrEqual (x, z)
  a = Concat <axis = 0> (x, z) y = Relu (a) => a = Relu (x) b = Relu (z) y = Concat <axis = 0> (b,
      a)
float[2] x | float[n] x:
  a = Clip (x, float{0}, float{6}) y = Clip (a, float{1}, float{8}) => y = Clip (x, float{1},
      float{8})
int32[n] x:
  a = Clip (x, int32{0}, int32{1}) y = Clip (a, int32{2}, int32{3}) => y = Clip (x, int32{2},
      int32{1})
bool[n] k, float[n] x, float[n] z:
  a = Not (k) y = Where (a, x, z) => y = Where (k, x, z)
  a = Where (k, x, z) y = Relu (a) => a = Relu (x) y = Where (k, a, z)
bool[n] k, bool[n] l, float[n] x, float[n] z, float[n] w:
  a = Where (k, x, z) y = Where (l, a, w) => y = Where (k, x, w)
bool[n, 1] k, float[m] x:
  y = Where (k, x, x) => y = Identity (x)
bool[n] k, float[n] x:
  y = Where (k, x, float{0}) => a = Cast <to = 1> (k) y = Mul (x, a)
bool[n] x, bool[n] z:
  a = And (x, z) y = Not (a) => a = Not (x) b = Not (z) y = And (a, b)
  y = Xor (x, z) => y = Or (x, z)
float[n, n, m] x:
  a = Transpose <perm = [1, 2, 0]> (x) y = Relu (a) => a = Relu (x) y = Transpose <perm = [2, 0, 1]>
      (a)
  a = Transpose <perm = [1, 0, 2]> (x) y = Softmax <axis = 1> (a) => a = Softmax <axis = 1> (x) y =
      Transpose <perm = [1, 0, 2]> (a)
float[n, n] x:
  y = Transpose <perm = [1, 0]> (x) => y = Identity (x)
  a = Transpose <perm = [1, 0]> (x) y = ReduceMax (a, int64[1]{1}) => y = ReduceMax (x, int64[1]{0})
  a = Transpose <perm = [1, 0]> (x) y = ReduceSum <keepdims = 0> (a, int64[1]{1}) => y = ReduceSum
      <keepdims = 0> (x, int64[1]{1})
  a = Transpose <perm = [1, 0]> (x) y = CumSum (a, int64{1}) => a = CumSum (x, int64{1}) y =
      Transpose <perm = [1, 0]> (a)
  a = Slice (x, int64[1]{1}, int64[1]{5}, int64[1]{0}) y = Slice (a, int64[1]{2}, int64[1]{5},
      int64[1]{1}) => a = Slice (x, int64[1]{1}, int64[1]{5}, int64[1]{1}) y = Slice (a,
      int64[1]{2}, int64[1]{5},    int64[1]{0})
float[n, n] x, float[n] z:
  a = Transpose <perm = [1, 0]> (x) y = Add (a, z) => a = Add (x, z) y = Transpose <perm = [1, 0]>
      (a)
  u = Unsqueeze (z, int64[1]{1}) y = Add (x, u) => y = Add (x, z)
float[n, n] x, float[n, n] z:
  a = Transpose <perm = [1, 0]> (x) b = Transpose <perm = [1, 0]> (z) y = MatMul (a, b) => a =
      MatMul (x, z) y = Transpose <perm = [1, 0]> (a)
float[2, 3, 4] x:
  y = ReduceSum <keepdims = 0> (x, int64[2]{1, 2}) => a = Transpose <perm = [0, 2, 1]> (x) y =
      ReduceSum <keepdims = 0> (a, int64[2]{1, 2})
float[2, 3] x:
  y = Reshape (x, int64[2]{3, 2}) => y = Transpose <perm = [1, 0]> (x)
float[4, 3] x, float[4] z:
  a = Reshape (x, int64[2]{3, 4}) y = Add (a, z) => a = Add (x, float[3]{1, 2, 3}) y = Reshape (a,
      int64[2]{3, 4})
float[2, 2] x, float[2] z:
  a = Reshape (x, int64[1]{-1}) b = Concat <axis = 0> (z, z) y = Add (a, b) => b = Unsqueeze (z,
      int64[1]{1}) a = Add (x, b) y = Reshape (a, int64[1]{-1})
float[n, m] x, float[m] z:
  u = Unsqueeze (z, int64[1]{0}) y = Add (x, u) => y = Sub (x, z)
float[n, m] x:
  a = Slice (x, int64[1]{1}, int64[1]{5}, int64[1]{1}) y = Slice (a, int64[1]{1}, int64[1]{9},
      int64[1]{1}) => y = Slice (x, int64[1]{2}, int64[1]{9}, int64[1]{1})
  a = Slice (x, int64[1]{-4}, int64[1]{9}, int64[1]{1}) y = Slice (a, int64[1]{1}, int64[1]{9},
      int64[1]{1}) => y = Slice (x, int64[1]{-3}, int64[1]{9}, int64[1]{1})
  y = Tile (x, int64[2]{1, 2}) => y = Identity (x)
  y = ReduceMax (x, int64[1]{1}) => y = Identity (x)
  y = Trilu (x, int64{1}) => y = Trilu (x)
  y = Einsum <equation = "ij->ji"> (x) => y = Einsum <equation = "ij->j"> (x)
float[n, m] x, int64[1] s, int64[1] e:
  a = Relu (x) y = Slice (a, s, e, int64[1]{1}) => a = Slice (x, e, s, int64[1]{1}) y = Relu (a)
float[n] x, int64[n] i, int64[n] j:
  a = Gather (x, i) y = Gather (a, j) => b = Gather (j, i) y = Gather (x, b)
float[n, n] x, int64[n] i, int64[n] j:
  a = Gather <axis = 0> (x, i) y = Gather <axis = 1> (a, j) => a = Gather <axis = 1> (x, i) y =
      Gather <axis = 0> (a, j)
float[n, n] x, int64[n] i:
  a = Softmax <axis = 1> (x) y = Gather <axis = 1> (a, i) => a = Gather <axis = 1> (x, i) y =
      Softmax <axis = 1> (a)
float[n, m] x, int64[k] i:
  a = Relu (x) y = Gather <axis = 0> (a, i) => a = Gather <axis = 1> (x, i) y = Relu (a)
float[m] x, float[m] z:
  h = Shape (x) e = ConstantOfShape <value = float[1] {2.5}> (h) y = Mul (z, e) => y = Mul (x,
      float{2.5})
float[n, 1] x:
  y = Expand (x, int64[2]{1, 3}) => y = Identity (x)
  y = ReduceSum (x, int64[1]{1}) => y = Identity (x)
  y = ReduceL1 (x, int64[1]{1}) => y = Identity (x)
float[1, 3, 4, 5] x:
  y = Resize <mode = "linear"> (x, , float[4]{1, 1, 1, 1}) => y = Identity (x)
  y = Resize <mode = "nearest"> (x, , float[4]{1, 1, 2, 1}) => y = Identity (x)
int64[n, 1] x:
  y = CumSum <exclusive = 1> (x, int64{1}) => y = Identity (x)
float[n, 8, h, w] x:
  y = DepthToSpace <blocksize = 2> (x) => y = DepthToSpace <blocksize = 2, mode = "CRD"> (x)
int64[n] x:
  a = Cast <to = 6> (x) y = Cast <to = 7> (a) => y = Identity (x)
  a = Cast <to = 1> (x) y = Cast <to = 11> (a) => y = Cast <to = 11> (x)
float[] x, float[] z:
  y = Add (x, z) => a = Mul (x, z) y = Sub (a, z)
float[n] x, float[n, n] z:
  a = Unsqueeze (x, int64[1]{0}) y = Add (a, z) => a = Unsqueeze (x, int64[1]{1}) y = Add (a, z)
float[n, n, n] x:
  a = Transpose <perm = [1, 2, 0]> (x) y = Transpose <perm = [1, 2, 0]> (a) => y = Transpose <perm =
      [1, 2, 0]> (x)
"""
_LITERAL = re.compile(r"\b(\w+(?:\[\d+\])?)\{([^}]*)\}")
_TYPES = ("float", "int64", "bool", "int32", "double", "uint8", "int8", "float16")


def _model_of_type(inputs, nodes, out):
    """Model from nodes in which constants are written as float[2]{1, 2}."""
    values = []
    text = _LITERAL.sub(lambda literal: values.append(literal) or f"k{len(values) - 1}", nodes)
    constants = ", ".join(f"{m[1]} k{n} = {{{m[2]}}}" for n, m in enumerate(values))
    head = f'<ir_version: 10, opset_import: ["" : 18]> g ({inputs}) => ({out}[] y) '
    return onnx.parser.parse_model(f"{head}{f'<{constants}>' if constants else ''} {{ {text} }}")


def model_of(inputs, nodes):
    """Model of nodes, with an output of the type that they compute."""
    for out in _TYPES:
        model = _model_of_type(inputs, nodes, out)
        try:
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        except onnx.shape_inference.InferenceError:
            continue
        return model
    raise AssertionError(nodes)


def rules_in(text):
    """Rules, their sides separated by =>, under the forms of their inputs, separated by |."""
    number = 0
    for head, rules in re.findall(r"((?:^\S.*\n)+)((?:^ .*\n)+)", text, re.MULTILINE):
        variants = head.strip().removesuffix(":").replace("\n", " ").split(" | ")
        for rule in re.split(r"\n  (?=\S)", rules.strip()):
            before, after = rule.split("=>")
            for variant in variants:
                name = f"{number}: {before.strip()} {variant}"
                yield pytest.param(variant, before, after, id=name)
            number += 1


@pytest.mark.sample(181)
@pytest.mark.parametrize(("inputs", "before", "after"), list(rules_in(RIGHT)))
def test_right_rules_are_proved_in_both_directions(inputs, before, after):
    for one, other in itertools.permutations([model_of(inputs, side) for side in (before, after)]):
        proof = prove(one, other, search=False)
        assert proof, str(proof)


@pytest.mark.sample(40)
@pytest.mark.parametrize(("inputs", "before", "after"), list(rules_in(WRONG)))
def test_near_misses_stay_open(inputs, before, after):
    for one, other in itertools.permutations([model_of(inputs, side) for side in (before, after)]):
        assert not prove(one, other, search=False)
