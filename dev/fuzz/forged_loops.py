"""Pairs of different models with loops, sequences, sizes and moved operands, for the forger.

The form is that of `forged_pairs`.
"""

TEXT = r"""
# a name that looks like a sum, 17, 17
g (float[a] v, float[b] w, float["a+b"] x) => (y) {
- s=Shape(v) t=Shape(w) y=Add(s,t) }
+ y=Shape(x) }
# a name that looks like a product, 17, 17
g (float[a] v, float["2*a"] x) => (y) {
- s=Shape(v) y=Add(s,s) }
+ y=Shape(x) }
# a name that looks like a sum in a loop, 17, 17
g (float[a] v, float[b] w, float["a+b"] x, int64 t) => (y) <int64[1] o={0}, int64[1] l={0}> {
c=Concat<axis=0>(v,w)
- y=Loop(t,,o)<body=b(int64 i, bool d, int64[1] u) => (bool e, int64[1] r) { e=Identity(d)
z=Loop(i,,c)<body=p(int64 j, bool f, float[q] h) => (bool k, float[q] n) { k=Identity(f) n=Neg(h) }>
r=Shape(z) }> }
+ y=Loop(t,,o)<body=b(int64 i, bool d, int64[1] u) => (bool e, int64[1] r) { e=Identity(d)
r=Shape(x) }> }
# a part of both operands, 17, 17
g (float[n,4] x, float[n,2] w) => (y) <int64[1] a={1}, int64[1] b={3}> {
- m=Concat<axis=1>(w,x) y=Slice(m,a,b,a) }
+ y=Slice(x,a,b,a) }
# a part of another operand, 17, 17
g (float[3] x, float[3] w) => (y)
- <int64[1] a={0}, int64[1] b={3}> { m=Concat<axis=0>(w,x) y=Slice(m,a,b) }
+ { y=Identity(x) }
# a part of operands of any size, 17, 17
g (float[n] x, float[3] w) => (y)
- <int64[1] a={0}, int64[1] b={3}> { m=Concat<axis=0>(x,w) y=Slice(m,a,b) }
+ { y=Identity(w) }
# axes of a row that are an attribute, 17, 17
g (float[t,3,3] x) => (float[t,3] y) {
- y=Scan<num_scan_inputs=1, body=b(float[3,3] e) => (float[3] r) {
r=ReduceMax<axes=[1], keepdims=0>(e) }>(x) }
+ y=ReduceMax<axes=[1], keepdims=0>(x) }
# a size in int32, 17, 17
g (float[n] x) => (y) {
- s=Shape(x) c=Cast<to=6>(s) d=Cast<to=7>(c) y=Identity(d) }
+ y=Shape(x) }
# a size in int32 that is declared, 17, 17
g (float[n] x, float w)
- => (float[m] y) { s=Shape(x) c=Cast<to=6>(s) d=Cast<to=7>(c) y=Expand(w,d) }
+ => (float[n] y) { s=Shape(x) c=Cast<to=6>(s) d=Cast<to=7>(c) y=Expand(w,d) }
# a sum in int32, 17, 17
g (float[9] x) => (y)
- <int32[1] k={2147483647}> { s=Shape(x) c=Cast<to=6>(s) a=Add(c,k) y=Cast<to=7>(a) }
+ <int64[1] k={2147483656}> { y=Identity(k) }
# the wider one of two sizes, 17, 17
g (float[n] x, float[m] w) => (y) { a=Add(x,w)
- y=Shape(a) }
+ y=Shape(x) }
# a part that is not all, 17, 17
g (float[n] x) => (y) <int64[1] a={0}, int64[1] b={1}> { s=Slice(x,a,b)
- y=Shape(s) }
+ y=Shape(x) }
# a root without its epsilon, 23, 23
g (float[n,2] x) => (y)
- <float[2] w={2,3}> { y=RMSNormalization<epsilon=0.125>(x,w) }
+ <float[2] w={2,3}, int64[1] a={1}> { q=Mul(x,x) v=ReduceMean(q,a) r=Sqrt(v) i=Div(x,r) y=Mul(i,w)
}
# a smallest integer that is negated, 17, 17
g (int64[n] x) => (y)
- { a=Neg(x) y=Relu(a) }
+ <int64 z={0}> { a=Sub(z,x) y=Max(z,x) }
# no iteration, 17, 17
g (float[n] x) => (y)
- <int64 t={0}> { y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) {
d=Identity(c) u=Tanh(s) }> }
+ { y=Tanh(x) }
# two iterations or three, 17, 17
g (float[n] x) => (y)
- <int64 t={2}> { y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) {
d=Identity(c) u=Tanh(s) }> }
+ { a=Tanh(x) b=Tanh(a) y=Tanh(b) }
# a condition that is false at first, 17, 17
g (float[n] x) => (y)
- <int64 t={1}, bool f={0}> { y=Loop(t,f,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n]
u) <bool k={1}> { d=Identity(k) u=Tanh(s) }> }
+ { y=Tanh(x) }
# a condition that ends, 17, 17
g (float[n] x) => (y)
- <int64 t={5}, int64 e={1}> { y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n]
u) { d=Less(i,e) u=Tanh(s) }> }
+ { y=Tanh(x) }
# a condition that depends on data, 17, 17
g (float[1] x, float z) => (y)
- <int64 t={1}> { y=Loop(,,x)<body=b(int64 i, bool c, float[1] s) =>(bool d, float[1] u) { u=Tanh(s)
r=ReduceMax<keepdims=0>(u) d=Less(z,r) }> }
+ { y=Tanh(x) }
# a number that is a vector, 17, 17
g (float[n] x)
- => (y, r) <int64 t={1}, int64 z={0}> { y,r=Loop(t,,x)<body=b(int64[1] i, bool c, float[n]
s)=>(bool d, float[n] u, int64 v) { d=Identity(c) u=Tanh(s) w=Shape(i) v=Size(w) }> }
+ => (y, int64[1] r) <int64[1] z={0}> { y=Tanh(x) r=Identity(z) }
# a condition that is a vector, 17, 17
g (float[n] x, bool[1] c0, int64 t) => (y, r)
- { y,r=Loop(t,c0,x)<body=b(int64 i, bool c, float[n] s)=>(bool d, float[n] u, int64 v) {
d=Identity(c0) u=Tanh(s) w=Shape(c) v=Size(w) }> }
+ <int64 z={0}> { y,r=Loop(t,c0,x)<body=b(int64 i, bool c, float[n] s)=>(bool d, float[n] u, int64
v) { d=Identity(c0) u=Tanh(s) v=Identity(z) }> }
# a condition in a body that is false, 17, 17
g (float[n] x, int64 t) => (y) {
- y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) { d=Not(c) u=Tanh(s) }> }
+ y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) <bool k={1}> {
d=Identity(k) u=Tanh(s) }> }
# a condition of the body in a Loop without one, 17, 17
g (float[n] x) => (y)
- <int64 t={3}> { y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) <bool
f={0}> { d=Identity(f) u=Tanh(s) }> }
+ { y=Tanh(x) }
# a variable of the condition in a Loop without one, 17, 17
g (float[n] x, int64 t) => (y) {
- y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) { d=Not(c) v=Tanh(s)
u=Where(c,v,s) }> }
+ y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) { d=Not(c) u=Tanh(s) }> }
# a division that may not run, 17, 17
g (int64[n] x, int64[n] w, int64 t) => (y) {
- y=Loop(t,,x)<body=b(int64 i, bool c, int64[n] s) =>(bool d, int64[n] u) { d=Identity(c) q=Div(x,w)
u=Add(s,q) }> }
+ q=Div(x,w) y=Loop(t,,x)<body=b(int64 i, bool c, int64[n] s)=>(bool d, int64[n] u) { d=Identity(c)
u=Add(s,q) }> }
# a division in a body alone, 17, 17
g (float[n] x, int64[n] k, int64 t) => (y) {
- y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) { d=Identity(c) u=Tanh(s)
}> }
+ y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) { d=Identity(c) u=Tanh(s)
q=Div(k,k) }> }
# a division of a branch that does not run, 17, 17
g (int64[n] x) => (y)
- <int64 t={1}, int64 one={1}> { y=Loop(t,,x)<body=b(int64 i, bool c, int64[n] s)=>(bool d, int64[n]
u) { d=Identity(c) e=Equal(i,one) u=If(e)<then_branch=a()=>(v) { v=Div(one,s) },
else_branch=o()=>(w) { w=Neg(s) }> }> }
+ <int64 one={1}> { v=Div(one,x) y=Neg(x) }
# a dead division with another state, 17, 17
g (float[n] x, int64 t) => (y) <int64 p={5}, int64 z={0}, int64 q={7}> {
- y,e=Loop(t,,x,p)<body=b( int64 i, bool c, float[n] s, int64 k)=>(bool d, float[n] u, int64 m) {
d=Identity(c) u=Tanh(s) m=Identity(k) w=Div(q,k) }> }
+ y,e=Loop(t,,x,z)<body=b( int64 i, bool c, float[n] s, int64 k)=>(bool d, float[n] u, int64 m) {
d=Identity(c) u=Tanh(s) m=Identity(k) w=Div(q,k) }> }
# a state that grows, 17, 17
g (float[n] x, int64 t) => (int64[1] y) {
- s=Loop(t,,x)<body=b(int64 i, bool c, float[k] s) =>(bool d, float[m] u) { d=Identity(c)
u=Concat<axis=0>(s,x) }> y=Shape(s) }
+ y=Shape(x) }
# a state that gains an axis, 17, 17
g (float[n] x, int64 t) => (int64 y)
- <int64[1] a={0}> { s=Loop(t,,x)<body=b(int64 i, bool c, float s)=>(bool d, float u) {
d=Identity(c) u=Unsqueeze(s,a) }> r=Shape(s) y=Size(r) }
+ <int64 o={1}> { y=Identity(o) }
# states that change places, 17, 17
g (float[n] x, float[n] w, int64 t) => (y) {
- y,z=Loop(t,,x,w)<body=b(int64 i, bool c, float[n] s, float[n] r)=>(bool d, float[n] u, float[n] v)
{ d=Identity(c) u=Identity(r) v=Identity(s) }> }
+ y=Identity(x) z=Neg(w) }
# a state before and after, 17, 17
g (float[n] x, float[t,n] w) => (y, z) {
- z,y=Scan(x,w)<num_scan_inputs=1, body=b(float[n] s, float[n] e)=>(float[n] u, float[n] r) {
u=Add(s,e) r=Identity(s) }> }
+ z,y=Scan(x,w)<num_scan_inputs=1, body=b(float[n] s, float[n] e)=>(float[n] u, float[n] r) {
u=Add(s,e) r=Identity(u) }> }
# rows backwards, 17, 17
g (float[2,n] w) => (y) {
- y=Scan(w)<num_scan_inputs=1, scan_input_directions=[1], body=b(float[n] e) =>(float[n] r) {
r=Tanh(e) }> }
+ y=Tanh(w) }
# outputs backwards, 17, 17
g (float[2,n] w) => (y) {
- y=Scan(w)<num_scan_inputs=1, scan_output_directions=[1], body=b( float[n] e) =>(float[n] r) {
r=Tanh(e) }> }
+ y=Tanh(w) }
# columns as rows, 17, 17
g (float[2,2] w) => (y) {
- y=Scan(w)<num_scan_inputs=1, scan_input_axes=[1], body=b(float[2] e) =>(float[2] r) { r=Tanh(e) }>
}
+ y=Tanh(w) }
# an axis of rows, 18, 18
g (float[2,2] w) => (y) <int64[1] a={0}> {
- y=Scan(w)<num_scan_inputs=1, body=b(float[2] e) =>(float r) { r=ReduceSum<keepdims=0>(e,a) }> }
+ y=ReduceSum<keepdims=0>(w,a) }
# a softmax of rows, 18, 18
g (float[t,2,2] w) => (y) {
- y=Scan(w)<num_scan_inputs=1, body=b(float[2,2] e) =>(float[2,2] r) { r=Softmax<axis=0>(e) }> }
+ y=Softmax<axis=0>(w) }
# an operand along the rows, 17, 17
g (float[2,2] w, float[2] k) => (y) <int64[1] a={1}> {
- y=Scan(w)<num_scan_inputs=1, body=b( float[2] e) =>(float[2] r) { r=Add(e,k) }> }
+ u=Unsqueeze(k,a) y=Add(w,u) }
# a transposition of rows, 17, 17
g (float[2,2,2] w) => (y) {
- y=Scan(w)<num_scan_inputs=1, body=b(float[2,2] e) =>(float[2,2] r) { r=Transpose(e) }> }
+ y=Transpose<perm=[1,0,2]>(w) }
# rows of no iteration of another size, 17, 17
g (float[t,3] w) => (y) {
- y=Scan(w)<num_scan_inputs=1, body=b(float[3] e)=>(float[2] r) { r=Tanh(e) }> }
+ y=Tanh(w) }
# rows that a runtime does not stack, 17, 17
g (float[n] x, int64 t) => (y) {
- y,r=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u, int64 v) { d=Identity(c)
u=Tanh(s) v=Identity(i) }> }
+ y,r=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u, int64[k] v) <int64
z={0}, int64 o={1}> { d=Identity(c) u=Tanh(s) v=Range(z,i,o) }> }
# numbers drawn in each iteration, 17, 17
g (float[n] x) => (y)
- <int64 t={2}> { z,y=Loop(t,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u, float[1]
v) { d=Identity(c) u=Identity(s) v=RandomNormal<shape=[1],seed=1.0>() }> }
+ <int64[1] a={0}> { z=Identity(x) v=RandomNormal<shape=[1],seed=1.0>() r=Unsqueeze(v,a)
y=Concat<axis=0>(r,r) }
# a loop in a loop, 17, 17
g (float[n] x, int64 t) => (y)
- <int64 two={2}> { y=Loop(two,,x)<body=b(int64 i, bool c, float[n] s) =>(bool d, float[n] u) {
d=Identity(c) a=Loop(t,,s)<body=e(int64 j, bool f, float[n] p) =>(bool h, float[n] q) {
h=Identity(f) q=Tanh(p) }> u=Loop(t,,s)<body=k(int64 j, bool f, float[n] p)=>(bool h, float[n] q) {
h=Identity(f) q=Add(p,a) }> }> }
+ { a=Loop(t,,x)<body=e(int64 j, bool f, float[n] p) =>(bool h, float[n] q) { h=Identity(f)
q=Tanh(p) }> s=Loop(t,,x)<body=k(int64 j, bool f, float[n] p)=>(bool h, float[n] q) { h=Identity(f)
q=Add(p,a) }> y=Loop(t,,s)<body=k(int64 j, bool f, float[n] p)=>(bool h, float[n] q) { h=Identity(f)
q=Add(p,a) }> }
# an If of another domain, 17, 17
<ir_version: 8, opset_import: ["" : 17, "o" : 1]> g (int64[n] x) => (int64[n] y) <bool f={0}> {
y=Neg(x)
- z=o.If(f)<else_branch=a()=>(v) { v=Neg(x) }> }
+ z=o.If(f)<else_branch=a()=>(v) { v=Neg(x) }, then_branch=b()=>(w) { w=Div(x,x) }> }
# elements in another order, 17, 17
g (float[n] x, float[n] w) => (y) {
- e=SequenceEmpty() a=SequenceInsert(e,x) b=SequenceInsert(a,w) y=ConcatFromSequence<axis=0>(b) }
+ y=Concat<axis=0>(w,x) }
# elements inserted in front, 17, 17
g (float[n] x, float[n] w) => (y)
- <int64 z={0}> { a=SequenceConstruct(x) b=SequenceInsert(a,w,z) y=ConcatFromSequence<axis=0>(b) }
+ { y=Concat<axis=0>(x,w) }
# an element that is not there, 17, 17
g (float[n] x) => (y)
- { y=Neg(x) }
+ <int64 k={1}> { a=SequenceConstruct(x) b=SequenceAt(a,k) y=Neg(x) }
# elements along a new axis, 17, 17
g (float[2,2] x, float[2,2] w) => (y) { a=SequenceConstruct(x,w)
- y=ConcatFromSequence<axis=0,new_axis=1>(a) }
+ y=ConcatFromSequence<axis=1,new_axis=1>(a) }
# another epsilon, 17, 17
g (float[n,2] x, float[2] w) => (y)
- <float e={0.1}, int64[1] a={1}> { y=LayerNormalization<axis=-1,epsilon=0.2>(x,w) }
+ <float e={0.1}> { m=ReduceMean<axes=[1]>(x) f=Sub(x,m) q=Mul(f,f) v=ReduceMean<axes=[1]>(q)
z=Add(v,e) r=Sqrt(z) i=Reciprocal(r) h=Mul(f,i) y=Mul(h,w) }
# a mean of another axis, 17, 17
g (float[2,2] x, float[2] w) => (y)
- { y=LayerNormalization<axis=0,epsilon=0.1>(x,w) }
+ <float e={0.1}> { m=ReduceMean<axes=[1]>(x) f=Sub(x,m) q=Mul(f,f) v=ReduceMean<axes=[1]>(q)
z=Add(v,e) r=Sqrt(z) i=Reciprocal(r) h=Mul(f,i) y=Mul(h,w) }
# a mean of doubles, 17, 17
g (double[n,2] x, double[2] w) => (y)
- { y=LayerNormalization<axis=1,epsilon=0.1>(x,w) }
+ <double e={0.1}> { m=ReduceMean<axes=[1]>(x) f=Sub(x,m) q=Mul(f,f) v=ReduceMean<axes=[1]>(q)
z=Add(v,e) r=Sqrt(z) i=Reciprocal(r) h=Mul(f,i) y=Mul(h,w) }
# backwards from the end, 17, 17
g (float[3] x) => (y)
- <int64[1] s={-1}, int64[1] e={-9}, int64[1] a={0}, int64[1] t={-1}> { y=Slice(x,s,e,a,t) }
+ { y=Identity(x) }
# rows that are equal in themselves, 17, 17
g (float[2,2] x) => (y)
- <float[2,2] k={1,1,2,2}> { y=Add(x,k) }
+ <float[2] k={1,2}> { y=Add(x,k) }
# equal rows of an unknown shape, 17, 17
g (float x) => (y)
- <float[2,2] k={1,2,1,2}> { y=Add(x,k) }
+ <float[2] k={1,2}> { y=Add(x,k) }
# rows and columns of a product, 17, 17
g (float[2,2] x, float[2,2] w) => (y) {
- m=MatMul(x,w) y=Transpose(m) }
+ t=Transpose(x) y=MatMul(t,w) }
# a view of a product, 17, 17
g (float[2,2] x, float[2,4] w) => (y)
- <int64[2] s={4,2}> { m=MatMul(x,w) y=Reshape(m,s) }
+ <int64[2] s={4,1}, int64[2] i={0,1}> { r=Reshape(x,s) v=Gather<axis=1>(w,i) q=Gather<axis=0>(v,i)
z=Gather<axis=0>(w,i) y=MatMul(x,z) }
# a product by a factor, 17, 17
g (float[2,2] x, float[2,2] w, float[2] k) => (y) {
- y=Gemm<beta=2.0>(x,w,k) }
+ m=MatMul(x,w) y=Add(m,k) }
# a product with a larger summand, 17, 17
g (float[1,2] x, float[2,2] w, float[3,2] k) => (y) {
- m=MatMul(x,w) y=Add(m,k) }
+ y=Gemm(x,w,k) }
# a product of integers, 17, 17
g (int32[1,2] x, int32[2,2] w, int32[2] k) => (y) {
- m=MatMul(x,w) y=Add(m,k) }
+ y=Gemm(x,w,k) }
# slopes of more axes, 17, 17
g (float[1] x, float[3] w) => (y) {
- y=Neg(x) }
+ d=PRelu(x,w) y=Neg(x) }
# a size of int32, 17, 17
g (float[n,0] x) => (float[n,0] y) <float z={0}> { s=Shape(x)
- c=Cast<to=6>(s) d=Cast<to=7>(c) y=Expand(z,d) }
+ y=Expand(z,s) }
# a larger of two zeros, 17, 17
g (float[n] x) => (y)
- <float a={-0.0}, float b={0}> { m=Max(a,b) y=Div(x,m) }
+ <float a={-0.0}> { y=Div(x,a) }
# a whole number beyond int32, 17, 17
g (int32[n] x) => (y)
- <float k={3000000000}> { c=Cast<to=6>(k) y=Add(x,c) }
+ <int32 k={2147483647}> { y=Add(x,k) }
# a product with one less, 17, 17
g (int64[n] x) => (y)
- <int64 k={-2}> { y=Mul(x,k) }
+ { y=Neg(x) }
# states that are not zero, 17, 17
g (float[t,b,2] x, float[1,3,2] w, float[1,3,3] r, float[2,b,3] h) => (y)
- <int64[1] a={0}, int64[1] e={1}> { i=Slice(h,a,e,a) y=RNN<hidden_size=3>(x,w,r,,,i) }
+ { y=RNN<hidden_size=3>(x,w,r) }
# rows in the other order, 17, 17
g (float[t,2] x, float[2] h) => (y) {
- z,y=Scan(h,x)<num_scan_inputs=1, scan_input_directions=[1],body=b(float[2] s, float[2]
e)=>(float[2] u, float[2] r) { u=Add(s,e) r=Tanh(u) }> }
+ z,y=Scan(h,x)<num_scan_inputs=1,body=b(float[2] s, float[2] e)=>(float[2] u, float[2] r) {
u=Add(s,e) r=Tanh(u) }> }
# results in the other order, 17, 17
g (float[t,2] x, float[2] h) => (y) {
- z,y=Scan(h,x)<num_scan_inputs=1, scan_output_directions=[1],body=b(float[2] s, float[2]
e)=>(float[2] u, float[2] r) { u=Add(s,e) r=Tanh(u) }> }
+ z,y=Scan(h,x)<num_scan_inputs=1,body=b(float[2] s, float[2] e)=>(float[2] u, float[2] r) {
u=Add(s,e) r=Tanh(u) }> }
# rows along another axis, 17, 17
g (float[t,t] x, float[t] h) => (y) {
- z,y=Scan(h,x)<num_scan_inputs=1,scan_input_axes=[1], body=b(float[t] s, float[t] e)=>(float[t] u,
float[t] r) { u=Add(s,e) r=Tanh(u) }> }
+ z,y=Scan(h,x)<num_scan_inputs=1,body=b(float[t] s, float[t] e)=>(float[t] u, float[t] r) {
u=Add(s,e) r=Tanh(u) }> }
# results along another axis, 17, 17
g (float[t,t] x, float[t] h) => (y) {
- z,y=Scan(h,x)<num_scan_inputs=1,scan_output_axes=[1], body=b(float[t] s, float[t] e)=>(float[t] u,
float[t] r) { u=Add(s,e) r=Tanh(u) }> }
+ z,y=Scan(h,x)<num_scan_inputs=1,body=b(float[t] s, float[t] e)=>(float[t] u, float[t] r) {
u=Add(s,e) r=Tanh(u) }> }
# a division before a recurrence without iterations, 17, 17
g (int64[t] x, int64 h, int64 k, int64 n) => (y) <bool c={1}> {
- y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) { f=Identity(d) q=Div(h,k)
u=Add(s,q) }> }
+ q=Div(h,k) y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) { f=Identity(d)
u=Add(s,q) }> }
# quotients of rows that no iteration reads, 17, 17
g (int64[t] x, int64 h, int64 k) => (y) <int64 z={0}, int64 o={1}> { a=Shape(x) n=Gather(a,z)
c=Less(h,k)
- y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) { e=Gather(x,i) q=Div(o,e)
u=Add(s,q) f=Less(u,k) }> }
+ p=Div(o,x) y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) { q=Gather(p,i)
u=Add(s,q) f=Less(u,k) }> }
# quotients of rows that one branch reads, 17, 17
g (int64[t] x, int64 h, bool k) => (y) <int64 z={0}, int64 o={1}, bool c={1}> { a=Shape(x)
n=Gather(a,z)
- y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) { f=Identity(c) e=Gather(x,i)
q=If(k)<then_branch=p()=>(v) { v=Div(o,e) }, else_branch=r()=>(w) { w=Neg(e) }> u=Add(s,q) }> }
+ l=Div(o,x) y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) { f=Identity(c)
e=Gather(x,i) q=If(k)<then_branch=p()=>(v) { v=Gather(l,i) }, else_branch=r()=>(w) { w=Neg(e) }>
u=Add(s,q) }> }
# rows beyond those that are read, 17, 17
g (int64[t] x, int64[n] k, int64 h) => (y) <int64 z={0}, bool c={1}> {
- a=Shape(k) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64 u) {
f=Identity(c) e=Gather(x,i) q=Neg(e) u=Add(s,q) }> }
+ a=Shape(x) n=Gather(a,z) p=Neg(x) y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s)=>(bool f, int64
u) { f=Identity(c) q=Gather(p,i) u=Add(s,q) }> }
# a row of as many rows as there are not, 17, 17
g (float[t] x, float[n] k) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(k) n=Gather(a,z) y=Loop(n,c)<body=b(int64 i, bool d)=>(bool f,
float r) { f=Identity(c) r=Gather(x,i) }> }
+ { y=Identity(x) }
# rows of other sizes without iterations, 17, 17
g (float[t,2] x, float[2] h) => (y) {
- z,y=Scan(h,x)<num_scan_inputs=1,body=b(float[2] s, float[2] e)=>(float[2] u, float[3] r) {
u=Add(s,e) r=Concat<axis=0>(u,u) }> }
+ z,k=Scan(h,x)<num_scan_inputs=1,body=b(float[2] s, float[2] e)=>(float[2] u, float[2] r) {
u=Add(s,e) r=Identity(u) }> y=Concat<axis=1>(k,k) }
# operands that never met, 17, 17
g (float[t,n] x, float[m] k, float[n] h) => (y) {
- y,r=Scan(h,x)<num_scan_inputs=1,body=b( float[n] s, float[n] e)=>(float[n] u, float[n] v) {
q=Add(e,k) u=Identity(s) v=Tanh(q) }> }
+ q=Add(x,k) v=Tanh(q) y=Identity(h) }
# a part that grows with the number, 17, 17
g (float[t] x) => (y) <int64 z={0}, int64[1] o={0}, bool c={1}> { a=Shape(x) n=Gather(a,z)
- y=Loop(n,c)<body=b(int64 i, bool d)=>(bool f, float r) { f=Identity(c) j=Unsqueeze(i,o)
p=Slice(x,o,j) r=ReduceSum<keepdims=0>(p) }> }
+ k=Loop(n,c)<body=b(int64 i, bool d)=>(bool f, float[m] p) { f=Identity(c) j=Unsqueeze(i,o)
p=Slice(x,o,j) }> l=ReduceSum<keepdims=0>(k) y=Expand(l,a) }
# a number of another loop, 17, 17
g (float[t] x) => (y) <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z)
- y=Loop(n,c)<body=b(int64 i, bool d)=>(bool f, float[t] r) { f=Identity(c) r=Loop(n,c)<body=q(int64
j, bool k)=>(bool l, float v) { l=Identity(c) v=Gather(x,i) }> }> }
+ y=Loop(n,c)<body=b(int64 i, bool d)=>(bool f, float[t] r) { f=Identity(c) r=Identity(x) }> }
# draws of each iteration, 17, 17
g (float[t,2] x) => (y) {
- y=Scan(x)<num_scan_inputs=1,body=b(float[2] e)=>(float[2] r) { q=RandomNormalLike(e) r=Add(e,q) }>
}
+ q=RandomNormalLike(x) y=Add(x,q) }
# a recurrence of the row before, 17, 17
g (float[t,2] x, float[2] h) => (y) {
- z,y=Scan(h,x)<num_scan_inputs=1,body=b(float[2] s, float[2] e)=>(float[2] u, float[2] r) {
u=Tanh(e) r=Add(s,e) }> }
+ q=Tanh(x) y=Add(q,x) }
# scan inputs of two sizes, 17, 17
g (float[t] x, float[n] k) => (y) {
- y=Scan(x,k)<num_scan_inputs=2,body=b(float e, float f) =>(float r) { r=Neg(e) }> }
+ y=Scan(k,x)<num_scan_inputs=2,body=b(float f, float e) =>(float r) { r=Neg(f) }> }
# a row that no iteration changes, 17, 17
g (float[3,2] x, float[2,2] k) => (y)
- { y=Scan(x)<num_scan_inputs=1,body=b(float[2] e) =>(float[2,2] r) { r=Transpose(k) }> }
+ <int64[3] s={3,2,2}> { y=Expand(k,s) }
# a dead state of another loop, 17, 17
g (float[t] x) => (y) <int64 z={0}, int64 o={5}, bool c={1}> { a=Shape(x) n=Gather(a,z)
- y,e=Loop(n,c,z,z)<body=b(int64 i, bool d, int64 s, int64 k)=>(bool f, int64 u, int64 m) {
f=Identity(c) u=Add(s,i) m=Identity(k) w=Gather(x,k) }> }
+ y,e=Loop(n,c,z,o)<body=b(int64 i, bool d, int64 s, int64 k)=>(bool f, int64 u, int64 m) {
f=Identity(c) u=Add(s,i) m=Identity(k) w=Gather(x,k) }> }
# rows that begin with others, 17, 17
g (float[t,2] x, float[1,2] h) => (y)
- <int64 z={0}, bool c={1}, int64[1] o={0}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i,
bool d, float[p,2] s)=>(bool f, float[q,2] u) { f=Identity(c) e=Gather(x,i) r=Unsqueeze(e,o)
u=Concat<axis=0>(s,r) }> }
+ { y=Identity(x) w=Neg(h) }
# rows in front of others, 17, 17
g (float[3,2] x) => (y)
- <int64 n={3}, bool c={1}, int64[1] o={0}, int64[2] z={0,2}> { h=ConstantOfShape(z)
y=Loop(n,c,h)<body=b(int64 i, bool d, float[p,2] s)=>(bool f, float[q,2] u) { f=Identity(c)
e=Gather(x,i) r=Unsqueeze(e,o) u=Concat<axis=0>(r,s) }> }
+ { y=Identity(x) }
# columns that grow, 17, 17
g (float[t,2] x) => (y)
- <int64 z={0}, bool c={1}, int64[1] o={1}, int64[2] k={2,0}> { a=Shape(x) n=Gather(a,z)
h=ConstantOfShape(k) y=Loop(n,c,h)<body=b(int64 i, bool d, float[2,p] s)=>(bool f, float[2,q] u) {
f=Identity(c) e=Gather(x,i) r=Unsqueeze(e,o) u=Concat<axis=1>(s,r) }> }
+ { y=Identity(x) }
# a list from its end, 17, 17
g (float[t,2] x) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) q=SequenceEmpty() l=Loop(n,c,q)<body=b(int64
i, bool d, seq(float[2]) s)=>(bool f, seq(float[2]) u) { f=Identity(c) e=Gather(x,i)
u=SequenceInsert(s,e,z) }> y=ConcatFromSequence<axis=0,new_axis=1>(l) }
+ { y=Identity(x) }
# a list with a first element, 17, 17
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) q=SequenceConstruct(h)
l=Loop(n,c,q)<body=b(int64 i, bool d, seq(float[2]) s)=>(bool f, seq(float[2]) u) { f=Identity(c)
e=Gather(x,i) u=SequenceInsert(s,e) }> y=ConcatFromSequence<axis=0,new_axis=1>(l) }
+ { y=Identity(x) w=Neg(h) }
# a list joined along another axis, 17, 17
g (float[2,2] x) => (y)
- <int64 n={2}, bool c={1}> { q=SequenceEmpty() l=Loop(n,c,q)<body=b(int64 i, bool d, seq(float[2])
s)=>(bool f, seq(float[2]) u) { f=Identity(c) e=Gather(x,i) u=SequenceInsert(s,e) }>
y=ConcatFromSequence<axis=1,new_axis=1>(l) }
+ { y=Identity(x) }
# columns for rows, 17, 17
g (float[t,t] x) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c)<body=b(int64 i, bool d)=>(bool f,
float[t] r) { f=Identity(c) r=Gather<axis=1>(x,i) }> }
+ { y=Identity(x) }
# the place of a maximum of no element, 17, 17
g (float[n,2] x) => (y) { y=Neg(x)
- }
+ k=ArgMax<axis=0>(x) }
# sizes that are alike for one number, 17, 17
g (float[n] x) => (bool y)
- <int64 o={1}> { s=Size(x) y=Equal(s,o) }
+ <bool f={0}> { y=Identity(f) }
# an operator before rows that are turned, 18, 18
g (float[3,3] x, float[3] b) => (y) {
- r=Transpose(x) y=Add(r,b) }
+ r=Add(x,b) y=Transpose(r) }
# a product before rows that are turned, 18, 18
g (float[3,3] x, float[3,3] w) => (y) {
- r=Transpose(x) y=MatMul(r,w) }
+ r=MatMul(x,w) y=Transpose(r) }
# an operand for each row before regrouped rows, 18, 18
g (float[4,1,3] x, float[2,2,1] b) => (y)
- <int64[3] s={2,2,3}, int64[3] l={4,1,3}> { r=Reshape(x,s) k=Add(r,b) y=Reshape(k,l) }
+ <int64[3] s={1,4,1}> { k=Reshape(b,s) u=Transpose<perm=[1,2,0]>(k) v=Transpose<perm=[2,0,1]>(b)
y=Add(x,v) }
# rows of a Scan backwards, 18, 18
g (float[t,2] x) => (y) {
- y=Scan(x)<num_scan_inputs=1, scan_input_directions=[1],body=b(float[2] e) => (float[2] r) {
r=Tanh(e) }> }
+ y=Scan(x)<num_scan_inputs=1,body=b(float[2] e) => (float[2] r) { r=Tanh(e) }> }
# all rows but the last one backwards, 18, 18
g (float[t,2] x) => (y)
- <int64[1] a={-2}, int64[1] b={-9223372036854775808}, int64[1] k={0}, int64[1] m={-1}> {
r=Slice(x,a,b,k,m) y=Shape(r) }
+ { y=Shape(x) }
# every second row backwards, 18, 18
g (float[t,2] x) => (y)
- <int64[1] a={-1}, int64[1] b={-9223372036854775808}, int64[1] k={0}, int64[1] m={-2}> {
r=Slice(x,a,b,k,m) y=Shape(r) }
+ { y=Shape(x) }
# rows below a limit, 18, 18
g (float[t,2] x, int64 n) => (y)
- <int64 z={0}, bool c={1}> { y=Loop(n,c)<body=b(int64 i, bool d) => (bool f, float[2] r) {
f=Identity(d) e=Gather(x,i) r=Tanh(e) }> }
+ { y=Tanh(x) }
# rows below a limit of at least one, 18, 18
g (float[t,2] x, int64 n) => (y)
- <int64 z={0}, bool c={1}> { y=Loop(n,c)<body=b(int64 i, bool d) => (bool f, float[2] r) {
f=Identity(d) e=Gather(x,i) r=Tanh(e) }> }
+ <int64 z={0}, int64 o={1}> { l=Max(n,o) k=Range(z,l,o) e=Gather(x,k) y=Tanh(e) }
# rows of a loop that a row ends, 18, 18
g (float[t,2] x, int64 n) => (y)
- <int64 z={0}, bool c={1}> { y=Loop(n,c)<body=b(int64 i, bool d) => (bool f, float[2] r) {
e=Gather(x,i) q=Gather(e,z) f=Cast<to=9>(q) r=Tanh(e) }> }
+ <int64 z={0}, int64 o={1}> { l=Max(n,z) k=Range(z,l,o) e=Gather(x,k) y=Tanh(e) }
# the last row of none, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u) { f=Identity(d) e=Gather(x,i) u=Tanh(e) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) r=Tanh(x) e=Slice(r,m,l,z) y=Squeeze(e,z) }
# the row before the last one, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u) { f=Identity(d) e=Gather(x,i) u=Tanh(e) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) r=Tanh(x) c=Concat<axis=0>(w,r) a=Shape<end=1>(x) p=Sub(a,o) e=Gather(c,p)
y=Squeeze(e,z) }
# states after for states before, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) v,y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u, float[2] r) { f=Identity(d) e=Gather(x,i) u=Tanh(e)
r=Identity(s) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) y=Tanh(x) }
# all rows for states before, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) v,y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u, float[2] r) { f=Identity(d) e=Gather(x,i) u=Tanh(e)
r=Identity(s) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) r=Tanh(x) c=Concat<axis=0>(w,r) y=Slice(c,o,l,z) }
# states before a condition that ends, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) v,y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u, float[2] r) { e=Gather(x,i) q=Gather(e,z) f=Cast<to=9>(q)
u=Tanh(e) r=Identity(s) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) r=Tanh(x) c=Concat<axis=0>(w,r) y=Slice(c,z,m,z) }
# a sum without its start, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u) { f=Identity(d) e=Gather(x,i) u=Add(s,e) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) c=CumSum(x,k) a=Shape<end=1>(x) p=Sub(a,o) e=Gather(c,p) y=Squeeze(e,z) }
# a sum with its state in the row, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] s) => (bool f, float[2] u) { f=Identity(d) e=Gather(x,i) p=Mul(s,e) u=Add(s,p) }> }
+ <int64[1] z={0}, int64[1] o={1}, int64[1] m={-1}, int64 k={0}, int64[1] l={9223372036854775807}> {
w=Unsqueeze(h,z) p=Mul(x,h) f=Concat<axis=0>(w,p) c=CumSum(f,k) a=Shape<end=1>(x) e=Gather(c,a)
y=Squeeze(e,z) }
# any for all, 18, 18
g (float[t,2] x, bool[2] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d, bool[2]
s) => (bool f, bool[2] u) { f=Identity(d) e=Gather(x,i) k=Constant<value_float=0.>() g=Greater(e,k)
u=And(s,g) }> }
+ <int64[1] z={0}, float k={0}> { w=Unsqueeze(h,z) r=Greater(x,k) f=Concat<axis=0>(w,r)
n=Cast<to=6>(f) m=ReduceMax<keepdims=0>(n,z) y=Cast<to=9>(m) }
# a row added in front, 18, 18
g (float[t,2] x, float[p,2] h) => (y)
- <int64 z={0}, bool c={1}, int64[1] l={0}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i,
bool d, float[m,2] s) => (bool f, float[q,2] u) { f=Identity(d) e=Gather(x,i) r=Unsqueeze(e,l)
u=Concat<axis=0>(r,s) }> }
+ { y=Concat<axis=0>(h,x) }
# rows added before the start, 18, 18
g (float[t,2] x, float[p,2] h) => (y)
- <int64 z={0}, bool c={1}, int64[1] l={0}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i,
bool d, float[m,2] s) => (bool f, float[q,2] u) { f=Identity(d) e=Gather(x,i) r=Unsqueeze(e,l)
u=Concat<axis=0>(s,r) }> }
+ { y=Concat<axis=0>(x,h) }
# a state from another start, 18, 18
g (float[t,2] x, float[2] h, float[2] w) => (y) <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z)
- o,y=Loop(n,c,h,w)<body=b(int64 i, bool d, float[2] s, float[2] k) => (bool f, float[2] u, float[2]
v) { f=Identity(d) e=Gather(x,i) u=Tanh(s) v=Mul(k,e) }> }
+ y=Loop(n,c,h)<body=b(int64 i, bool d, float[2] k) => (bool f, float[2] v) { f=Identity(d)
e=Gather(x,i) v=Mul(k,e) }> }
# a state that another one needs, 18, 18
g (float[t,2] x, float[2] h, float[2] w) => (y) <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z)
- o,y=Loop(n,c,h,w)<body=b(int64 i, bool d, float[2] s, float[2] k) => (bool f, float[2] u, float[2]
v) { f=Identity(d) e=Gather(x,i) u=Tanh(s) v=Mul(k,u) }> }
+ y=Loop(n,c,w)<body=b(int64 i, bool d, float[2] k) => (bool f, float[2] v) { f=Identity(d)
e=Gather(x,i) v=Mul(k,e) }> }
# states that are exchanged, 18, 18
g (float[t,2] x, float[2] h, float[2] w) => (y) <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z)
- o,y=Loop(n,c,h,w)<body=b(int64 i, bool d, float[2] s, float[2] k) => (bool f, float[2] u, float[2]
v) { f=Identity(d) e=Gather(x,i) u=Tanh(k) v=Identity(s) }> }
+ y=Loop(n,c,w)<body=b(int64 i, bool d, float[2] k) => (bool f, float[2] v) { f=Identity(d)
e=Gather(x,i) v=Tanh(k) }> }
# a counter from another start, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}, int64 o={1}, int64 q={2}> { a=Shape(x) n=Gather(a,z)
p,y=Loop(n,c,o,h)<body=b(int64 i, bool d, int64 s, float[2] k) => (bool f, int64 u, float[2] v) {
f=Identity(d) e=Gather(x,i) u=Add(s,o) w=Gather(x,s) v=Mul(k,w) }> }
+ <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] k) => (bool f, float[2] v) { f=Identity(d) e=Gather(x,i) v=Mul(k,e) }> }
# a counter of steps by iteration, 18, 18
g (float[t,2] x, float[2] h) => (y)
- <int64 z={0}, bool c={1}, int64 o={1}, int64 q={2}> { a=Shape(x) n=Gather(a,z)
p,y=Loop(n,c,z,h)<body=b(int64 i, bool d, int64 s, float[2] k) => (bool f, int64 u, float[2] v) {
f=Identity(d) e=Gather(x,i) u=Add(s,i) w=Gather(x,s) v=Mul(k,w) }> }
+ <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d,
float[2] k) => (bool f, float[2] v) { f=Identity(d) e=Gather(x,i) v=Mul(k,e) }> }
# a Slice of no step that nothing reads, 18, 18
g (float[n,2] x) => (y) <int64[1] z={0}, int64[1] o={1}, int64 k={5}, int64[1] l={9}> { y=Neg(x)
- }
+ r=Slice(x,z,o,z,z) }
# a CumSum of a missing axis that nothing reads, 18, 18
g (float[n,2] x) => (y) <int64[1] z={0}, int64[1] o={1}, int64 k={5}, int64[1] l={9}> { y=Neg(x)
- }
+ r=CumSum(x,k) }
# a row after the last one that nothing reads, 18, 18
g (float[n,2] x) => (y) <int64[1] z={0}, int64[1] o={1}, int64 k={5}, int64[1] l={9}> { y=Neg(x)
- }
+ s=Shape<end=1>(x) r=Gather(x,s) }
# a second row that nothing reads, 18, 18
g (float[n,2] x) => (y) <int64[1] z={0}, int64[1] o={1}, int64 k={5}, int64[1] l={9}> { y=Neg(x)
- }
+ r=Gather(x,o) }
# a Slice of two starts that nothing reads, 18, 18
g (float[n,2] x) => (y) <int64[1] z={0}, int64[1] o={1}, int64 k={5}, int64[1] l={9}> { y=Neg(x)
- }
+ t=Concat<axis=0>(z,z) r=Slice(x,t,o,z,o) }
# a normalization in training, 13, 15
g (float[n,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (y) {
- y=BatchNormalization(x,s,b,m,v) }
+ y,p,q=BatchNormalization<training_mode=1>(x,s,b,m,v) }
# a normalization of running means, 15, 15
g (float[n,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (y) {
- y=BatchNormalization(x,s,b,m,v) }
+ y,p,q=BatchNormalization<training_mode=1>(x,s,b,m,v) }
# the last element of a list for the first, 17, 17
g (float[t,2] x, int64 n) => (y)
- <bool c={1}, int64 z={0}> { q=SequenceEmpty() l=Loop(n,c,q)<body=b (int64 i, bool d, seq(float[2])
s) => (bool f, seq(float[2]) u) { f=Identity(d) e=Gather(x,i) u=SequenceInsert(s,e) }>
y=SequenceAt(l,z) }
+ <int64 z={0}, int64 o={1}, int64 k={-1}> { m=Max(n,z) r=Range(z,m,o) e=Gather(x,r) y=Gather(e,k) }
# a later element of a list for one of a loop, 17, 17
g (float[t,2] x, int64 n) => (y)
- <bool c={1}, int64 k={-1}> { q=SequenceEmpty() l=Loop(n,c,q)<body=b (int64 i, bool d,
seq(float[2]) s) => (bool f, seq(float[2]) u) { f=Identity(d) e=Gather(x,i) u=SequenceInsert(s,e) }>
w=ReduceMax<axes=[0],keepdims=0>(x) a=SequenceInsert(l,w) y=SequenceAt(a,k) }
+ <int64 z={0}, int64 o={1}, int64 k={-1}> { m=Max(n,z) r=Range(z,m,o) e=Gather(x,r) y=Gather(e,k) }
# an element of a list that started with one, 17, 17
g (float[t,2] x, float[2] w, int64 n) => (y)
- <bool c={1}, int64 z={0}> { q=SequenceConstruct(w) l=Loop(n,c,q)<body=b (int64 i, bool d,
seq(float[2]) s) => (bool f, seq(float[2]) u) { f=Identity(d) e=Gather(x,i) u=SequenceInsert(s,e) }>
y=SequenceAt(l,z) }
+ <int64 z={0}, int64 o={1}> { m=Max(n,z) r=Range(z,m,o) e=Gather(x,r) y=Gather(e,z) }
# columns added to one column, 18, 18
g (float[t,2] x, float[2,1] h) => (y)
- <int64 z={0}, bool c={1}, int64[1] l={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i,
bool d, float[2,m] s) => (bool f, float[2,q] u) { f=Identity(d) e=Gather(x,i) r=Unsqueeze(e,l)
u=Concat<axis=1>(s,r) }> }
+ <int64[2] l={-1,1}> { k=Reshape(x,l) y=Concat<axis=0>(h,k) }
# a row of a state that is no more, 18, 18
g (float[t] x, int64 h, int64 a, int64 b, int64 n) => (y) <bool c={1}> {
- y,v,w=Loop(n,c,h,a,b)<body= l(int64 i, bool d, int64 p, int64 s, int64 k) => (bool f, int64 q,
int64 u, int64 r) { f=Identity(d) e=Gather(x,s) q=Mul(p,k) u=Mul(s,s) r=Mul(k,k) }> }
+ y,w=Loop(n,c,h,b)<body= l(int64 i, bool d, int64 p, int64 k) => (bool f, int64 q, int64 r) {
f=Identity(d) e=Gather(x,k) q=Mul(p,k) r=Mul(k,k) }> }
# a node of another loop with the same body, 18, 18
g (float[t] x, float h, int64 n) => (y,w) <int64 l={3}, bool c={1}> { y,r=Loop(l,c,h)<body=b(int64
i, bool d, float s) => (bool f, float u, float q) { f=Identity(d) u=Tanh(s) q=Neg(s) }>
w=Loop(n,c,h)<body=k(int64 i, bool d, float s) => (bool f, float u) { f=Identity(d) u=Tanh(s)
- j=Cast<to=7>(s) e=Gather(x,j) }> }
+ }> j=Cast<to=7>(h) e=Gather(x,j) }
# an axis of run time that nothing reads, 18, 18
g (float[n,3] x, int64[1] a) => (y) { y=Neg(x)
- }
+ u=Unsqueeze(x,a) }
# a last row of none that nothing reads, 18, 18
g (float[t,2] x) => (y)
- { y=Neg(x) }
+ <int64 i={-1}> { y=Neg(x) u=Gather(x,i) }
# the first row of none that nothing reads, 18, 18
g (float[t,2] x) => (y)
- { y=Neg(x) }
+ <int64 i={0}> { y=Neg(x) u=Gather(x,i) }
# a counter of a step that changes, 18, 18
g (int64 n, int64 h, int64 p) => (y)
- <bool c={1}> { v,y=Loop(n,c,p,h)<body=b(int64 i, bool d, int64 o, int64 s) => (bool f, int64 q,
int64 u) { f=Identity(d) q=Mul(o,o) u=Add(s,o) }> }
+ <int64 z={0}> { m=Max(n,z) a=Mul(m,p) y=Add(h,a) }
# a counter at its end, 18, 18
g (float[t] x, int64 n, int64 h) => (y) <bool c={1}, int64 o={1}> {
- v,y=Loop(n,c,h)<body=b(int64 i, bool d, int64 s) => (bool f, int64 u, int64 r) { f=Identity(d)
u=Add(s,o) r=Identity(u) }> }
+ y=Loop(n,c)<body=b(int64 i, bool d) => (bool f, int64 r) { f=Identity(d) r=Add(h,i) }> }
# a sum of wide rows, 18, 18
g (float[t,2] x, float[1] h) => (y)
- <int64 z={0}, bool c={1}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d, s) =>
(bool f, u) { f=Identity(d) e=Gather(x,i) u=Add(s,e) }> }
+ <int64[1] z={0}, int64 k={0}> { w=Unsqueeze(h,z) q=Constant<value=int64[2] {1,2}>() b=Expand(w,q)
f=Concat<axis=0>(b,x) c=CumSum(f,k) a=Shape<end=1>(x) e=Gather(c,a) y=Squeeze(e,z) }
# a state of rows that a condition ends, 18, 18
g (float[t,2] x, float[2] h, bool c) => (y)
- <int64 z={0}> { a=Shape(x) n=Gather(a,z) y=Loop(n,c,h)<body=b(int64 i, bool d, float[2] s) =>
(bool f, float[2] u) { f=Identity(d) e=Gather(x,i) u=Tanh(e) }> }
+ <int64[1] z={0}> { w=Unsqueeze(h,z) r=Tanh(x) k=Concat<axis=0>(w,r) a=Shape<end=1>(x)
e=Gather(k,a) y=Squeeze(e,z) }
# a value of three elements that nothing reads, 18, 18
g (float[n] x) => (y) { y=Neg(x)
- }
+ s=Shape(x) z=ConstantOfShape<value=float[3] {0,0,0}>(s) }
# a product of states that start with other sizes, 17, 17
g (float[t,2] x) => (y) <bool c={1}, int64 z={0}, int64[1] o={0}, int64[2] w={0,2}, int64[2]
k={1,2}> {
a=Shape(x) n=Gather(a,z) p=ConstantOfShape(w) q=ConstantOfShape(k)
- f,h,y=Loop(n,c,p,q)<body=b(int64 i, bool d, float[s,2] l, float[r,2] m) => (bool e, float[u,2] f,
float[v,2] h, float[2] y) { e=Identity(d) y=Gather(x,i) j=Unsqueeze(y,o) f=Concat<axis=0>(l,j)
h=Concat<axis=0>(m,j) }> }
+ f,h,y=Loop(n,c,p,q)<body=b(int64 i, bool d, float[s,2] l, float[r,2] m) => (bool e, float[u,2] f,
float[v,2] h, float[2] y) { e=Identity(d) y=Gather(x,i) j=Unsqueeze(y,o) f=Concat<axis=0>(l,j)
h=Concat<axis=0>(m,j) aa=Transpose(f) bb=MatMul(aa,h) }> }
# a product that another loop has, 17, 17
g (float[t,2] x, float[t,2] w) => (y, v) <bool c={1}, int64 z={0}, int64[1] o={0}, int64[2]
e0={0,2},
int64[2] e1={1,2}> { a=Shape(x) n=Gather(a,z) p=ConstantOfShape(e0) q=ConstantOfShape(e1)
f,h,y=Loop(n,c,p,p)<body=b(int64 i, bool d, float[s,2] l, float[r,2] m) => (bool e, float[u,2] f,
float[v,2] h, float[2,2] y) { e=Identity(d) k=Gather(x,i) j=Unsqueeze(k,o) f=Concat<axis=0>(l,j)
h=Concat<axis=0>(m,j) aa=Transpose(f) y=MatMul(aa,h) }>
- f2,h2,v=Loop(n,c,p,q)<body=b(int64 i, bool d, float[s,2] l, float[r,2] m) => (bool e, float[u,2]
f,
float[v,2] h, float[2] y) { e=Identity(d) y=Gather(x,i) j=Unsqueeze(y,o) f=Concat<axis=0>(l,j)
h=Concat<axis=0>(m,j) }> }
+ f2,h2,v=Loop(n,c,p,q)<body=b(int64 i, bool d, float[s,2] l, float[r,2] m) => (bool e, float[u,2]
f,
float[v,2] h, float[2] y) { e=Identity(d) y=Gather(x,i) j=Unsqueeze(y,o) f=Concat<axis=0>(l,j)
h=Concat<axis=0>(m,j) aa=Transpose(f) bb=MatMul(aa,h) }> }
# the last of two rows at a place, 18, 18
g (float[2,2] x, float[3,2] w) => (y) <bool c={1}, int64 n={2}, int64[1] o={0}, int64[2,1] p={1,1}>
{
- y=Loop(n,c,w)<body=b(int64 i, bool d, float[3,2] a) => (bool e, float[3,2] f) { e=Identity(d)
k=Gather(x,i) j=Gather(p,i) q=Unsqueeze(j,o) v=Unsqueeze(k,o) f=ScatterND(a,q,v) }> }
+ v=Unsqueeze(x,o) q=Unsqueeze(p,o) y=ScatterND(w,q,v) }
# rows below a state, 18, 18
g (float[3,2] x, float[4,2] w) => (y)
- <bool c={1}, int64 n={3}, int64[2] s={1,1}, int64[1] o={0}> {
y=Loop(n,c,w)<body=b(int64 i, bool d, float[4,2] a) => (bool e, float[4,2] f) { e=Identity(d)
k=Gather(x,i) q=Reshape(i,s) v=Unsqueeze(k,o) f=ScatterND(a,q,v) }> }
+ <int64[1] i={3}, int64 z={3}, int64[1] o={0}> { r=Gather(x,i) y=Concat<axis=0>(x,r) }
# rows that add up, 18, 18
g (float[t,2] x, float[t,2] w) => (y)
- <bool c={1}, int64 z={0}, int64[2] s={1,1}, int64[1] o={0}> { h=Shape(x) n=Gather(h,z)
y=Loop(n,c,w)<body=b(int64 i, bool d, float[t,2] a) => (bool e, float[t,2] f) { e=Identity(d)
k=Gather(x,i) q=Reshape(i,s) v=Unsqueeze(k,o) f=ScatterND<reduction="add">(a,q,v) }> }
+ { y=Identity(x) }
# a branch that fails where the other one runs, 17, 17
g (float[4] x, bool c, int64[1] s) => (y) {
- y=If(c)<then_branch=a() => (float[4] u) { u=Abs(x) }, else_branch=b() => (float[4] v) {
w=Reshape(x,s) v=Sub(x,w) }> }
+ u=Abs(x) w=Reshape(x,s) v=Sub(x,w) y=Where(c,u,v) }
# a condition of one element, 17, 17
g (float x, bool[1] c) => (y) {
- y=If(c)<then_branch=a() => (float u) { u=Abs(x) }, else_branch=b() => (float v) { v=Neg(x) }> }
+ u=Abs(x) v=Neg(x) y=Where(c,u,v) }
# more places than an axis has, 17, 17
g (float[t,m] x) => (y) <int64[1] k={3}> { y=Neg(x)
- }
+ v,i=TopK(x,k) }
# places of a row that has none, 17, 17
g (float[t,m] x) => (y) <int64[1] k={3}, bool c={1}, int64 n={0}> { y=Loop(n,c)<body=b(int64 i,
bool d)
=> (bool e, float[m] r) { e=Identity(d) r=Gather(x,i) v,q=TopK(r,k) }>
- }
+ v,i=TopK(x,k) }
# channels that do not fit, 17, 17
g (float[t,2,4,4] x, float[1,3,2,2] w) => (y) { y=Neg(x)
- }
+ z=Conv(x,w) }
# a pool of vectors, 17, 17
g (float[t,2] x) => (y) { y=Neg(x)
- }
+ z=GlobalAveragePool(x) }
# a remainder by zero, 17, 17
g (int64[t] x) => (y) <int64 z={0}> { y=Neg(x)
- }
+ r=Mod(x,z) }
# a remainder of floats, 17, 17
g (float[t] x) => (y) <float z={2}> { y=Neg(x)
- }
+ r=Mod(x,z) }
"""
