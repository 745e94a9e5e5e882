"""Near misses of rules of simplifiers: no two sides are proved equal."""

import itertools

import pytest
from simplifications import model_of, rules_in
from straightline import prove

RULES = """
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


@pytest.mark.sample(40)
@pytest.mark.parametrize(("inputs", "before", "after"), list(rules_in(RULES)))
def test_near_misses_stay_open(inputs, before, after):
    for one, other in itertools.permutations([model_of(inputs, side) for side in (before, after)]):
        assert not prove(one, other, search=False)
