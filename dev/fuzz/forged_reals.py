"""Pairs that differ also over the reals, or where one is not defined, for the forger.

The form is that of `forged_pairs`.
"""

TEXT = r"""
# a scale of columns, 17, 17
g (float[2,2] x, float[2,2] w, float[2] k) => (y) {
- p=MatMul(x,w) y=Mul(p,k) }
+ v=Mul(k,x) y=MatMul(v,w) }
# a scale of rows of a Conv, 17, 17
g (float[1,2,2] x, float[2,2,1] w) => (y) <float[2] k={2,3}, int64[3] s={2,1,1}> {
- p=Conv(x,w) y=Mul(p,k) }
+ r=Reshape(k,s) v=Mul(w,r) y=Conv(x,v) }
# a scale of the channels that a Conv reads, 17, 17
g (float[1,2,2] x, float[2,2,1] w)
- => (y) <float[2,1] k={2,3}> { p=Conv(x,w) y=Mul(p,k) }
+ => (y) <float[1,2,1] k={2,3}> { v=Mul(w,k) y=Conv(x,v) }
# a scale of groups, 17, 17
g (float[1,2,2] x, float[2,1,1] w)
- => (y) <float[2,1] k={2,3}> { p=ConvTranspose<group=2>(x,w) y=Mul(p,k) }
+ => (y) <float[1,2,1] k={2,3}> { v=Mul(w,k) y=ConvTranspose<group=2>(x,v) }
# a scale of a Conv without its bias, 17, 17
g (float[1,2,2] x, float[2,2,1] w, float[2] b)
- => (y) <float[2,1] k={2,3}> { p=Conv(x,w,b) y=Mul(p,k) }
+ => (y) <float[2,1,1] k={2,3}> { v=Mul(w,k) y=Conv(x,v,b) }
# a scale of a batch, 17, 17
g (float[2,2,2] x, float[2,2,1] w)
- => (y) <float[2,1,1] k={2,3}> { p=Conv(x,w) y=Mul(p,k) }
+ => (y) <float[2,1,1] k={2,3}> { v=Mul(w,k) y=Conv(x,v) }
# a scale of a transposed matrix, 17, 17
g (float[2,2] x, float[2,2] w) => (y) <float[2] k={2,3}> {
- p=Gemm<transB=1>(x,w) y=Mul(p,k) }
+ v=Mul(w,k) y=Gemm<transB=1>(x,v) }
# a bias that is scaled, 17, 17
g (float[2,2] x, float[2,2] w, float[2] b) => (y) {
- y=Gemm<beta=2.0>(x,w,b) }
+ p=Gemm<beta=2.0>(x,w) y=Add(p,b) }
# a bias of rows, 17, 17
g (float[1,2,2] x, float[2,2,1] w, float[2] b) => (y) {
- y=Conv(x,w,b) }
+ p=Conv(x,w) y=Add(p,b) }
# a Softmax along another axis, 17, 17
g (float[2,2] x) => (y)
- { y=Softmax(x) }
+ <int64[1] a={0}> { e=Exp(x) s=ReduceSum(e,a) y=Div(e,s) }
# a Softmax of a matrix, 11, 17
g (float[2,2,2] x) => (y)
- { y=Softmax<axis=1>(x) }
+ <int64[1] a={1}> { e=Exp(x) s=ReduceSum(e,a) y=Div(e,s) }
# a Softmax for its logarithm, 18, 18
g (float[2,2] x) => (y)
- { y=LogSoftmax(x) }
+ <int64[1] a={1}> { l=ReduceLogSumExp(x,a) d=Sub(x,l) y=Exp(d) }
# a clipped line of another slope, 18, 18
g (float[n] x) => (y)
- { y=HardSwish(x) }
+ <float a={3}, float z={0}, float b={6}, float d={5}> { t=Add(x,a) c=Clip(t,z,b) p=Mul(x,c)
y=Div(p,d) }
# a clipped line without its factor, 18, 18
g (float[n] x) => (y)
- { y=HardSwish(x) }
+ <float a={3}, float z={0}, float b={6}> { t=Add(x,a) c=Clip(t,z,b) y=Div(c,b) }
# a normalization by another number, 17, 17
g (float[2,2] x, float[2] s, float[2] m) => (y)
- { y=BatchNormalization(x,s,m,m,s) }
+ { y=BatchNormalization<epsilon=0.001>(x,s,m,m,s) }
# a normalization in training, 17, 17
g (float[2,2] x, float[2] s, float[2] m) => (y)
- { y,a,b=BatchNormalization<training_mode=1>(x,s,m,m,s) }
+ { y=BatchNormalization(x,s,m,m,s) }
# a normalization without its mean, 17, 17
g (float[2,2] x, float[2] s, float[2] m, float[2] v) => (y)
- <float[2] z={0,0}> { y=BatchNormalization(x,s,m,m,v) }
+ <float[2] z={0,0}> { y=BatchNormalization(x,s,m,z,v) }
# a scale of more axes, 17, 17
g (float[2,2] x, float[2,2] w, float[1,1,1] k) => (y) {
- p=MatMul(x,w) y=Mul(p,k) }
+ v=Squeeze(k) u=Mul(w,v) y=MatMul(x,u) }
# a scale of both, 17, 17
g (float[2,2] x, float[2,2] w, float k) => (y) {
- p=MatMul(x,w) y=Mul(p,k) }
+ v=Mul(x,k) u=Mul(w,k) y=MatMul(v,u) }
# a third power, 17, 17
g (float[n] x) => (y)
- <float k={3}> { y=Pow(x,k) }
+ { y=Mul(x,x) }
# a square that broadcasts, 17, 17
g (float[1] x) => (y)
- <float[3] k={2,2,2}> { y=Pow(x,k) }
+ { y=Mul(x,x) }
# a root of integers, 17, 17
g (int64[n] x) => (y)
- <float k={0.5}> { y=Pow(x,k) }
+ { c=Cast<to=1>(x) r=Sqrt(c) y=Cast<to=7>(r) }
# a length along another axis, 18, 18
g (float[2,2] x) => (y)
- <int64[1] i={1}> { y=ReduceL2(x,i) }
+ <int64[1] i={0}> { q=Mul(x,x) s=ReduceSum(q,i) y=Sqrt(s) }
# a length without its root, 18, 18
g (float[2,2] x) => (y) <int64[1] i={1}> {
- y=ReduceL2(x,i) }
+ q=Mul(x,x) y=ReduceSum(q,i) }
# a rounded inverse, 17, 17
g (float[n] x) => (y)
- <float k={3}> { y=Div(x,k) }
+ <float k={0.33333334}> { y=Mul(x,k) }
# a rounded inverse that was folded, 17, 17
g (float[n] x) => (y)
- <float k={3}> { r=Reciprocal(k) y=Mul(x,r) }
+ <float k={3}, float r={0.3333333}> { y=Mul(x,r) }
# a number by itself, 17, 17
g (float[n] x) => (y)
- { y=Div(x,x) }
+ <float o={1}> { s=Shape(x) y=Expand(o,s) }
# a quotient of another shape, 17, 17
g (float[1] x, float[1] w) => (y)
- <float[3] o={1,1,1}> { d=Div(o,w) y=Mul(x,d) }
+ { y=Div(x,w) }
# a quotient of integers, 17, 17
g (int64[n] x) => (y)
- <int64 k={2}> { d=Div(x,k) y=Mul(d,k) }
+ { y=Identity(x) }
# a root of a square, 17, 17
g (float[n] x) => (y)
- <float k={2}> { p=Pow(x,k) y=Sqrt(p) }
+ { y=Identity(x) }
# a quotient exchanged, 17, 17
g (float[n] x, float[n] w) => (y) {
- y=Div(x,w) }
+ y=Div(w,x) }
# infinity as a number, 17, 17
g (float[n] x) => (y)
- <float o={1}, float z={0}> { i=Div(o,z) y=Mul(x,i) }
+ <float z={0}> { y=Div(x,z) r=Neg(x) }
# a sum of rows without the first state, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Add(s,k) }> }
+ { y=ReduceSum<keepdims=0>(x,o) }
# a product of rows without the first state, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Mul(s,k) }> }
+ { y=ReduceProd<keepdims=0,axes=[0]>(x) }
# a maximum of rows without the first state, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Max(s,k) }> }
+ { q=Identity(x) m=ReduceMax<keepdims=0,axes=[0]>(q)
g=IsNaN(q) j=Cast<to=1>(g) r=ReduceSum<keepdims=0>(j,o) b=Cast<to=9>(r) y=Where(b,v,m) }
# a minimum for a maximum, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Min(s,k) }> }
+ { f=Unsqueeze(a,o) q=Concat<axis=0>(f,x) m=ReduceMax<keepdims=0,axes=[0]>(q)
g=IsNaN(q) j=Cast<to=1>(g) r=ReduceSum<keepdims=0>(j,o) b=Cast<to=9>(r) y=Where(b,v,m) }
# a maximum that is a NaN elsewhere, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Max(s,k) }> }
+ { f=Unsqueeze(a,o) q=Concat<axis=0>(f,x) m=ReduceMax<keepdims=0,axes=[0]>(q)
g=IsNaN(q) j=Cast<to=1>(g) r=ReduceSum<keepdims=0>(j,o) b=Cast<to=9>(r) y=Where(b,m,v) }
# a difference for a sum, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Sub(s,k) }> }
+ { r=ReduceSum<keepdims=0>(x,o) y=Add(a,r) }
# a difference from rows, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) u=Sub(k,s) }> }
+ { r=ReduceSum<keepdims=0>(x,o) y=Add(a,r) }
# sums before each row, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) w,y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u, float[2] r) { e=Identity(d) k=Gather(x,i) u=Add(s,k) r=Identity(s) }> }
+ { r=CumSum(x,z) y=Add(r,a) }
# sums of rows without the first state, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) w,y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u, float[2] r) { e=Identity(d) k=Gather(x,i) u=Add(s,k) r=Identity(u) }> }
+ { y=CumSum(x,z) }
# sums of the last rows, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) w,y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u, float[2] r) { e=Identity(d) k=Gather(x,i) u=Add(s,k) r=Identity(u) }> }
+ { r=CumSum<reverse=1>(x,z) y=Add(r,a) }
# sums whose sizes the body names, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) w,y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u, float[m] r) { e=Identity(d) k=Gather(x,i) u=Add(s,k) r=Identity(u) }> }
+ { r=CumSum(x,z) y=Add(r,a) }
# products of the first rows, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) w,y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u, float[2] r) { e=Identity(d) k=Gather(x,i) u=Mul(s,k) r=Identity(u) }> }
+ { r=CumSum(x,z) y=Add(r,a) }
# a sum that ends early, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) {  k=Gather(x,i) u=Add(s,k) w=ReduceSum<keepdims=0>(k) e=Less(w,v) }> }
+ { r=ReduceSum<keepdims=0>(x,o) y=Add(a,r) }
# a sum of states twice, 17, 17
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, float v={nan}>
- { h=Shape(x) t=Gather(h,z) y=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s) => (bool e,
float[2] u) { e=Identity(d) k=Gather(x,i) w=Add(s,s) u=Add(w,k) }> }
+ { r=ReduceSum<keepdims=0>(x,o) y=Add(a,r) }
"""
