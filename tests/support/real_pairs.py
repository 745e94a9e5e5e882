"""Pairs of models that are equal over the reals, named by the checker's rule that each needs."""

from pairs import pairs

REALS = pairs("""
# quotient: a product with an inverse
(float[n, 2] x, float[2] w)
- <float o = {1}> { r = Div (o, w) y = Mul (r, x) }
+ { y = Div (x, w) }
# quotient: a constant that is not rounded
(float[n, 2] x)
- <float k = {8}> { y = Div (x, k) }
+ <float k = {0.125}> { y = Mul (x, k) }
# sum-of-two
(float[n, 2] x, float[2] w) {
- y = Sum (x, w) }
+ y = Add (w, x) }
# sum-of-products: a sum that the other model has
(float[n, 2] x, float[2] w, float k) {
- s = Add (x, w) y = Add (s, k) }
+ s = Add (k, w) y = Add (s, x) }
# square
(float[n, 2] x)
- <float k = {2}> { y = Pow (x, k) }
+ { y = Mul (x, x) }
# root
(float[n, 2] x)
- <float k = {0.5}> { a = Abs (x) y = Pow (a, k) }
+ { a = Abs (x) y = Sqrt (a) }
# sum-of-products: constants of a sum
(float[n, 2] x)
- <float[2] a = {1, 2}, float b = {0.5}> { s = Add (x, a) y = Add (s, b) }
+ <float[2] c = {1.5, 2.5}> { y = Add (x, c) }
# sum-of-products: constants of a product
(float[n, 2] x)
- <float[2] a = {1, 2}, float b = {0.5}> { s = Mul (x, a) y = Mul (b, s) }
+ <float[2] c = {0.5, 1}> { y = Mul (x, c) }
# rounded-constant: of one operator
(float[n, 2] x)
- <float k = {3}> { y = Div (x, k) }
+ <float k = {0.333333343}> { y = Mul (k, x) }
# rounded-constant: of several
(float[n, 2] x)
- <float k = {0.1}, float m = {0.7}> { s = Add (x, k) t = Add (s, m) y = Add (t, k) }
+ <float c = {0.90000004}> { y = Add (x, c) }
# rounded-constant: in another order
(float[n, 2] x)
- <float[2] k = {0.1, 0.3}, float m = {0.7}, float[2] b = {0.2, 0.9}> {
s = Mul (x, k) t = Mul (s, m) u = Mul (b, m) v = Mul (u, k) y = Add (t, v) }
+ <float[2] k = {0.07, 0.21000001}, float[2] b = {0.014, 0.189}> { s = Mul (x, k) y = Add (s, b) }
# rounded-constant: rows of one
(float[n, 2] x)
- <float[2, 2] v = {0.1, 0.3, 0.7, 0.9}, float[2, 1] w = {0.4, 0.5}, float k = {0.3}> {
p = MatMul (x, v) q = Mul (p, k) r = MatMul (x, w) y = Sub (q, r) }
+ <float[2, 3] v = {0.4, 0.03, 0.09, 0.5, 0.21, 0.27}, int64[2] l = {1, 2}> { p = MatMul (x, v)
r, q = Split <axis = 1> (p, l) y = Sub (q, r) }
# formula
(float[n, 3] x) <int64[1] a = {1}> {
- y = Softmax (x) }
+ e = Exp (x) s = ReduceSum (e, a) y = Div (e, s) }
# formula: a logarithm
(float[n, 3] x) <int64[1] a = {-1}> {
- s = ReduceLogSumExp (x, a) y = Sub (x, s) }
+ y = LogSoftmax (x) }
# formula: a clipped line
(float[n, 3] x)
- <float a = {3}, float z = {0}, float b = {6}> { t = Add (x, a) c = Clip (t, z, b) p = Mul (c, x)
y = Div (p, b) }
+ { y = HardSwish (x) }
# formula: a normalization in inference
(float[n, 2, 3] x)
- <float[2] s = {1, -2}, float[2] b = {3, 4}, float[2] m = {1, 5}, float[2] v = {3, 0.75}> {
y = BatchNormalization <epsilon = 1.0> (x, s, b, m, v) }
+ <float[2, 1] k = {0.5, -1.5118579}, float[2, 1] c = {2.5, 11.559289}> { p = Mul (x, k)
y = Add (p, c) }
# bias-of-channels
(float[n, 2, 3] x, float[3, 2, 1] w, float[3] b) <int64[1] a = {1}> {
- y = Conv (x, w, b) }
+ u = Unsqueeze (b, a) p = Conv (x, w) y = Add (u, p) }
# scaled-channels: of a matrix and a bias
(float[n, 2] x)
- <float[2, 2] w = {0.1, 0.2, 0.3, 0.4}, float[2] b = {1, 3}, float[2] k = {0.3, 0.7}> {
p = Gemm <transB = 1> (x, w, b) y = Mul (p, k) }
+ <float[2, 2] v = {0.03, 0.06, 0.21, 0.28}, float[2] c = {0.3, 2.1}> {
y = Gemm <transB = 1> (x, v, c) }
# scaled-channels
(float[n, 4, 3] x, float[2, 2, 1] w) <float[1, 2, 1] k = {2, 3}, int64[3] s = {2, 1, 1}> {
- p = Conv <group = 2> (x, w) y = Mul (k, p) }
+ r = Reshape (k, s) v = Mul (w, r) y = Conv <group = 2> (x, v) }
# sum-of-products: a factor of a sum
(float[n, 2] x) <float[2] b = {1, 3}, float k = {2}> {
- s = Add (x, b) y = Mul (s, k) }
+ s = Mul (x, k) t = Mul (b, k) y = Add (s, t) }
# scaled-columns
(float[n, 2] x, float[2, 3] w, float[3] k) {
- p = MatMul (x, w) y = Mul (p, k) }
+ v = Mul (w, k) y = MatMul (x, v) }
# scaled-operand
(float[n, 2] x, float[2, 3] w, float k) {
- s = Mul (x, k) y = MatMul (s, w) }
+ p = MatMul (x, w) y = Mul (p, k) }
# scaled-product
(float[n, 2] x, float[2, 3] w, float k) {
- p = MatMul (x, w) y = Mul (k, p) }
+ v = Mul (w, k) y = MatMul (x, v) }
# folds: sums
(float[n, 2] x, float[2] a)
- <bool c = {1}, int64 z = {0}> { h = Shape (x) t = Gather (h, z)
y = Loop (t, c, a) <body = l (int64 i, bool d, float[2] s) => (bool e, float[2] u) {
e = Identity (d) k = Gather (x, i) u = Add (k, s) }> }
+ <int64[1] o = {0}> { r = ReduceSum <keepdims = 0> (x, o) y = Add (a, r) }
# folds: sums of the first rows
(float[n, 2] x, float[2] a)
- <bool c = {1}, int64 z = {0}> { h = Shape (x) t = Gather (h, z)
v, y = Loop (t, c, a) <body = l (int64 i, bool d, float[2] s) => (bool e, float[2] u, float[2] r) {
e = Identity (d) k = Gather (x, i) u = Add (s, k) r = Identity (u) }> }
+ <int64 z = {0}> { c = CumSum (x, z) y = Add (c, a) }
# folds: products
(float[n, 2] x, float[2] a)
- <bool c = {1}, int64 z = {0}> { h = Shape (x) t = Gather (h, z)
y = Loop (t, c, a) <body = l (int64 i, bool d, float[2] s) => (bool e, float[2] u) {
e = Identity (d) k = Gather (x, i) u = Mul (k, s) }> }
+ <int64[1] o = {0}> { f = Unsqueeze (a, o) q = Concat <axis = 0> (f, x)
y = ReduceProd <keepdims = 0> (q, o) }
# folds: maximum
(float[n, 2] x, float[2] a)
- <bool c = {1}, int64 z = {0}> { h = Shape (x) t = Gather (h, z)
y = Loop (t, c, a) <body = l (int64 i, bool d, float[2] s) => (bool e, float[2] u) {
e = Identity (d) k = Gather (x, i) u = Max (k, s) }> }
+ <int64[1] o = {0}, float v = {nan}> { f = Unsqueeze (a, o) q = Concat <axis = 0> (f, x)
m = ReduceMax <keepdims = 0> (q, o) g = IsNaN (q) h = Cast <to = 1> (g)
r = ReduceSum <keepdims = 0> (h, o) b = Cast <to = 9> (r) y = Where (b, v, m) }
# cell
(float[3, 1, 2] x, float[1, 2, 2] w, float[1, 2, 2] r) {
- y = RNN <hidden_size = 2, activations = ["Tanh"]> (x, w, r) }
+ y = RNN <hidden_size = 2> (x, w, r) }
# missing-row
(float[n, 1, 2] x, float[1, 1, 2] o, float[1, 1, 2] u, float[1, 2, 2] w, float[1, 2, 2] r)
<int64[1] z = {0}, int64[1] k = {1}> {
- s = Shape (x) n = Slice (s, z, k, z) f = Equal (n, z) c = Cast <to = 7> (f)
e = Slice (o, z, c, z) p = Concat <axis = 0> (x, e) a = RNN <hidden_size = 2> (p, w, r)
t = Squeeze (a, k) y = Slice (t, z, n, z) }
+ s = Shape (x) n = Slice (s, z, k, z) f = Equal (n, z) c = Cast <to = 7> (f)
e = Slice (u, z, c, z) p = Concat <axis = 0> (x, e) a = RNN <hidden_size = 2> (p, w, r)
t = Squeeze (a, k) y = Slice (t, z, n, z) }
# sum-of-products: of the rows of a recurrent operator
(float[3, 1, 2] x, float[3, 1, 2] v, float[1, 2, 2] w, float[1, 2, 2] r) {
- s = Add (x, v) p = Mul (s, x) y = RNN <hidden_size = 2> (p, w, r) }
+ a = Mul (x, x) b = Mul (v, x) p = Add (a, b) y = RNN <hidden_size = 2> (p, w, r) }
# operator-of-row
(float[3, 2] x, float[2] b, float[3] v) { i = ArgMax <axis = 0, keepdims = 0> (v)
- d = Gather (x, i) p = Add (x, b) q = Tanh (p) y = Gather (q, i) }
+ k = Gather (x, i) s = Add (k, b) y = Tanh (s) }
# parts-of-product
(float[n, 2] x, float[n, 1] h, float[3, 2] w)
- { c = Concat <axis = 1> (x, h) y = MatMul (c, w) }
+ <int64[1] z = {0}, int64[1] k = {2}, int64[1] l = {3}> { a = Slice (w, z, k, z)
b = Slice (w, k, l, z) p = MatMul (x, a) q = MatMul (h, b) y = Add (p, q) }
""")
