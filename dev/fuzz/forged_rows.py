"""Pairs of different models with rows of loops and lists, for the forger.

The form is that of `forged_pairs`.
"""

TEXT = r"""
# blocks in the other order, 17, 18
g (float[12] x) => (float[3] y)
- <int64 n={3}, bool t={1}, int64 f={4}, int64[1] a={0}> { y=Loop(n,t)<body=b(int64 i, bool c) =>
(bool d, float r) { d=Identity(c) k=Mul(i,f) s=Unsqueeze(k,a) m=Add(k,f) e=Unsqueeze(m,a)
w=Slice(x,s,e,a) r=ReduceMax<keepdims=0>(w) }> }
+ <int64[2] k={4,3}, int64[1] a={0}> { w=Reshape(x,k) y=ReduceMax<keepdims=0>(w,a) }
# a last block that is shorter, 17, 18
g (float[10] x) => (float[3] y)
- <int64 n={3}, bool t={1}, int64 f={4}, int64[1] a={0}> { y=Loop(n,t)<body=b(int64 i, bool c) =>
(bool d, float r) { d=Identity(c) k=Mul(i,f) s=Unsqueeze(k,a) m=Add(k,f) e=Unsqueeze(m,a)
w=Slice(x,s,e,a) r=ReduceMin<keepdims=0>(w) }> }
+ <int64[3,4] k={0,1,2,3,4,5,6,7,8,9,0,0}, int64[1] a={1}> { w=Gather(x,k)
y=ReduceMin<keepdims=0>(w,a) }
# blocks of a loop that ends early, 17, 18
g (float[12] x) => (y)
- <int64 n={3}, bool t={1}, int64 f={4}, int64 o={1}, int64[1] a={0}> { y=Loop(n,t)<body=b(int64 i,
bool c) => (bool d, float r) { d=Less(i,o) k=Mul(i,f) s=Unsqueeze(k,a) m=Add(k,f) e=Unsqueeze(m,a)
w=Slice(x,s,e,a) r=ReduceMax<keepdims=0>(w) }> }
+ <int64[2] k={3,4}, int64[1] a={1}> { w=Reshape(x,k) y=ReduceMax<keepdims=0>(w,a) }
# a block from the end, 17, 18
g (float[4] x) => (float[2,1] y)
- <int64 n={2}, bool t={1}, int64 o={-2}, int64 p={-1}, int64[1] a={0}> { y=Loop(n,t)<body=b(
int64 i, bool c) => (bool d, float[1] r) { d=Identity(c) k=Add(i,o) s=Unsqueeze(k,a) m=Sub(k,p)
e=Unsqueeze(m,a) w=Slice(x,s,e,a) r=ReduceSum<keepdims=1>(w) }> }
+ <int64[2,1] k={2,3}> { y=Gather(x,k) }
# blocks of another loop with the same body, 17, 17
g (float[8] x, int64 k) => (z) <int64 n={2}, bool t={1}, int64 f={4}, int64[1] a={0},
int64[2,4] q={0,1,2,3,4,5,6,7}> {
- y=Loop(n,t)<body=b(int64 i, bool c) => (bool d, float[m] r) { d=Identity(c) k0=Mul(i,f)
s=Unsqueeze(k0,a) m=Add(k0,f) e=Unsqueeze(m,a) r=Slice(x,s,e,a) }> v=Loop(k,t)<body=b(int64 i,
bool c) => (bool d, float[m] r) { d=Identity(c) k0=Mul(i,f) s=Unsqueeze(k0,a) m=Add(k0,f)
e=Unsqueeze(m,a) r=Slice(x,s,e,a) }> z=Concat<axis=0>(y,v) }
+ y=Gather(x,q) z=Concat<axis=0>(y,y) }
# elements of a list along another axis, 17, 17
g (float[3,3] x, int64 i) => (float[3] y) {
- q=SplitToSequence<axis=1,keepdims=0>(x) y=SequenceAt(q,i) }
+ y=Gather(x,i) }
# elements that keep their axis, 17, 17
g (float[3,1] x, int64 i) => (y) {
- q=SplitToSequence(x) y=SequenceAt(q,i) }
+ y=Gather(x,i) }
# parts of two rows, 17, 17
g (float[4,3] x, int64 i) => (y) <int64 k={2}> {
- q=SplitToSequence<axis=0>(x,k) y=SequenceAt(q,i) }
+ q=SplitToSequence<axis=0>(x) y=SequenceAt(q,i) }
# a map of lists in the other order, 17, 17
g (float[4] x, float[4] w) => (y) {
p=SplitToSequence<keepdims=0>(x) q=SplitToSequence<keepdims=0>(w)
- m=SequenceMap(p,q)<body=b(float a, float c) => (float r) { r=Sub(a,c) }>
y=ConcatFromSequence<axis=0,new_axis=1>(m) }
+ m=SequenceMap(q,p)<body=b(float a, float c) => (float r) { r=Sub(a,c) }>
y=ConcatFromSequence<axis=0,new_axis=1>(m) }
# an axis from the back before it could be, 10, 10
g (float[3,2] x) => (y) {
- r=ReduceMean<axes=[-1], keepdims=0>(x) y=Shape(r) }
+ r=ReduceMean<keepdims=0>(x) y=Shape(r) }
# parts of a size that their number does not divide, 18, 13
g (float[5] x) => (a, b) {
- a,b=Split<num_outputs=2>(x) }
+ a,b=Split(x) }
# a first part that is smaller, 18, 18
g (float[5] x) => (a, b)
- { a,b=Split<num_outputs=2>(x) }
+ <int64[2] s={2,3}> { a,b=Split(x,s) }
# a state that begins as another one, 17, 17
g (float[n] x, float w) => (y)
- <int64 z={0}, bool t={1}> { s=Shape(x) n=Gather(s,z) y,v=Loop(n,t,w,w)<body=b(int64 i, bool c,
float p, float q) => (bool d, float r, float u) { d=Identity(c) e=Gather(x,i) r=Identity(q)
u=Add(q,e) }> }
+ { y=Identity(w) }
# one row more than there are iterations, 17, 17
g (float[2] x, float[t] w) => (y) <int64 z={0}, int64[1] o={1}, bool c={1}> { k=Shape(w) v=Neg(x)
- n=Gather(k,z) y=Loop(n,c)<body=b(int64 i, bool d) => (bool e, float[2] r) { e=Identity(d)
r=Identity(v) }> }
+ m=Add(k,o) s=Concat<axis=0>(m,o) y=Expand(v,s) }
# one row until a condition ends, 17, 17
g (float[2] x, float[t] w, int64 l) => (y) <int64 z={0}, int64[1] o={1}, bool c={1}> { k=Shape(w)
v=Neg(x)
- n=Gather(k,z) y=Loop(n,c)<body=b(int64 i, bool d) => (bool e, float[2] r) { e=Less(i,l)
r=Identity(v) }> }
+ s=Concat<axis=0>(k,o) y=Expand(v,s) }
# rows along the last axis, 17, 17
g (float[2,2] x) => (y)
- { y=Scan(x)<num_scan_inputs=1, scan_output_axes=[-1], body=b(float[2] e) => (float[2] r) {
r=Softmax(e) }> }
+ { y=Softmax(x) }
# rows of the last axis, 17, 17
g (float[2,2] x) => (y)
- { y=Scan(x)<num_scan_inputs=1, scan_input_axes=[-1], body=b(float[2] e) => (float[2] r) {
r=Softmax(e) }> }
+ { y=Softmax(x) }
# a list of elements of several sizes, 17, 17
g (int64[t] x) => (y) <int64 z={0}, int64 o={1}, int64[1] a={-1}> {
- p=SplitToSequence<keepdims=0>(x) m=SequenceMap(p)<body=b(int64 e) => (int64[k] r) {
r=Range(z,e,o) }> y=ConcatFromSequence<axis=0>(m) }
+ m=Scan(x)<num_scan_inputs=1, body=b(int64 e) => (int64[k] r) { r=Range(z,e,o) }>
y=Reshape(m,a) }
# rows of a tensor that another one is longer than, 17, 17
g (float[n] x, float[m] w) => (y)
- <int64 z={0}, bool t={1}> { s=Shape(x) n=Gather(s,z) y=Loop(n,t)<body=b(int64 i, bool c) =>
(bool d, float r) { d=Identity(c) e=Gather(x,i) f=Gather(w,i) r=Add(e,f) }> }
+ { y=Scan(x,w)<num_scan_inputs=2, body=b(float e, float f) => (float r) { r=Add(e,f) }> }
# columns of a Scan for its rows, 17, 17
g (float[2,2] x) => (y)
- { y=Scan(x)<num_scan_inputs=1, body=b(float[2] e) => (float[2] r) { r=Softmax(e) }> }
+ { y=Scan(x)<num_scan_inputs=1, scan_output_axes=[1], body=b(float[2] e) => (float[2] r) {
r=Softmax(e) }> }
# a size that a body declares of a value around it, 17, 17
g (float[n] x, int64 t, bool c) => (y) { u=Neg(x)
- y=Loop(t,c)<body=b(int64 i, bool d) => (bool e, float[n] u) { e=Identity(d) }> }
+ y=Loop(t,c)<body=b(int64 i, bool d) => (bool e, float[3] u) { e=Identity(d) }> }
# rows of no iteration that are not cut, 17, 17
g (float[n,k] x) => (y)
- <int64 z={0}, bool t={1}> { s=Shape(x) l=Gather(s,z) y=Loop(l,t)<body=b(int64 i, bool c) =>
(bool d, float[k] r) { d=Identity(c) e=Gather(x,i) r=Tanh(e) }> }
+ { y=Tanh(x) }
# rows of no iteration whose size is declared, 17, 17
g (float[n,4] x) => (y)
- <int64 z={0}, bool t={1}> { s=Shape(x) l=Gather(s,z) y=Loop(l,t)<body=b(int64 i, bool c) =>
(bool d, float[4] r) { d=Identity(c) e=Gather(x,i) r=Tanh(e) }> }
+ <int64 z={0}, int64[1] a={0}, int64[1] o={1}> { s=Shape(x) l=Gather(s,z) v=Unsqueeze(l,a)
b=Cast<to=9>(v) c=Cast<to=7>(b) h=Tanh(x) q=Shape(h) f=Gather(q,o) e=Mul(f,c) y=Slice(h,a,e,o) }
# rows of no iteration whose size a value inside declares, 17, 17
g (float[n,k] x) => (y)
- <int64 z={0}, bool t={1}> { s=Shape(x) l=Gather(s,z) y=Loop(l,t)<body=b(int64 i, bool c) =>
(bool d, float[m] r) <float[5] e> { d=Identity(c) e=Gather(x,i) r=Tanh(e) }> }
+ <int64 z={0}, int64[1] a={0}, int64[1] o={1}> { s=Shape(x) l=Gather(s,z) v=Unsqueeze(l,a)
b=Cast<to=9>(v) c=Cast<to=7>(b) h=Tanh(x) q=Shape(h) f=Gather(q,o) e=Mul(f,c) y=Slice(h,a,e,o) }
# rows of a negative number of iterations, 17, 17
g (float[k] x, int64 l) => (y)
- <bool t={1}> { y=Loop(l,t)<body=b(int64 i, bool c) => (bool d, float[k] r) { d=Identity(c)
r=Tanh(x) }> }
+ <int64 z={0}, int64[1] a={0}, int64[1] o={1}> { v=Unsqueeze(l,a) m=Max(v,a) h=Tanh(x) q=Shape(h)
p=Concat<axis=0>(m,q) w=Expand(h,p) b=Cast<to=9>(v) c=Cast<to=7>(b) e=Mul(q,c) y=Slice(w,a,e,o) }
# a branch that a vector chooses, 17, 17
g (float[2] x, bool[n] q) => (y) { y=Neg(x)
- }
+ u=If(q)<then_branch=p() => (v) { v=Exp(x) }, else_branch=o() => (w) { w=Neg(x) }> }
# rows up to a hit of the state before, 17, 17
g (float[n] x, float m) => (y)
- <bool c={1}, int64 z={0}, float f={0}> { h=Shape(x) t=Gather(h,z) o, y=Loop(t,c,f)<body=q(int64 i,
bool d, float s) => (bool e, float u, float r) { k=Gather(x,i) u=Add(s,k) e=Less(s,m) r=Exp(k) }> }
+ <int64 z={0}, int64 o={1}, int32[1] b={1}, int64 l={9223372036854775807}> { h=Shape(x)
t=Gather(h,z) v=CumSum(x,z) e=Less(v,m) s=Not(e) k=Cast<to=6>(s) q=Concat<axis=0>(k,b)
f=ArgMax<axis=0, keepdims=0>(q) u=Size(s) g=Less(f,u) w=Add(f,o) p=Where(g,w,l) j=Min(t,p)
d=Max(j,z) i=Range(z,d,o) r=Gather(x,i) y=Exp(r) }
# flags of an odd number of rows, 17, 17
g (bool[n] x, bool w) => (y)
- <bool c={1}, int64 z={0}> { h=Shape(x) t=Gather(h,z) v, y=Loop(t,c,w)<body=l(int64 i, bool d,
bool s) => (bool e, bool u, bool r) { e=Identity(d) k=Gather(x,i) u=Xor(s,k) r=Identity(u) }> }
+ <int64 z={0}, int64[1] a={0}, int64[1] o={1}, int64[1] l={9223372036854775807}> { h=Unsqueeze(w,a)
q=Concat<axis=0>(h,x) k=Cast<to=7>(q) c=CumSum(k,z) d=Cast<to=9>(c) y=Slice(d,o,l,a) }
# flags of any row before, 17, 17
g (bool[n] x, bool w) => (y)
- <bool c={1}, int64 z={0}> { h=Shape(x) t=Gather(h,z) v, y=Loop(t,c,w)<body=l(int64 i, bool d,
bool s) => (bool e, bool u, bool r) { e=Identity(d) k=Gather(x,i) u=Or(s,k) r=Identity(s) }> }
+ <int64 z={0}, int64[1] a={0}, int64[1] o={1}, int64[1] l={9223372036854775807}> { h=Unsqueeze(w,a)
q=Concat<axis=0>(h,x) k=Cast<to=7>(q) c=CumSum(k,z) d=Cast<to=9>(c) y=Slice(d,o,l,a) }"""
_SEARCH = r"""
# rows up to HIT, 17, 17
g (float[n,2] x, float m) => (y)
- <bool yes={1}, bool no={0}, int64 z={0}> { h=Shape(x) t=Gather(h,z) y=Loop(t,yes)<body=q(int64 i,
bool d) => (bool e, float[2] r) { k=Gather(x,i) v=ReduceMax<keepdims=0>(k) e=Less(v,m)
r=Exp(k) }> }
+ <int64 z={0}, int64 o={1}, int32[1] b={1}, int64 l={9223372036854775807}> { h=Shape(x)
t=Gather(h,z) v=ReduceMax<axes=[1], keepdims=0>(x) e=Less(v,m) s=Not(e) k=Cast<to=6>(s)
q=Concat<axis=0>(k,b) f=ArgMax<axis=0, keepdims=0>(q) u=Size(s) g=Less(f,u) w=Add(f,o)
p=Where(g,w,l) j=Min(t,p) d=Max(j,z) i=Range(z,d,o) r=Gather(x,i) y=Exp(r) }"""
_FROZEN = r"""
# the state before HIT, 17, 17
g (float[n,2] x, float m, float[2] a) => (y)
- <bool c={1}, bool f={0}, int64 z={0}> { h=Shape(x) t=Gather(h,z)
v, y=Loop(t,c,f,a)<body=l(int64 i, bool d, bool p, float[2] s) => (bool e, bool q, float[2] u) {
e=Identity(d) k=Gather(x,i) r=ReduceMax<keepdims=0>(k) g=Greater(r,m) q=Or(p,g) w=Tanh(k)
u=Where(q,s,w) }> }
+ <bool c={1}, bool f={0}, int64 z={0}, int64[1] o={0}> { h=Shape(x) t=Gather(h,z)
v, b=Loop(t,c,f)<body=l(int64 i, bool d, bool p) => (bool e, bool q, bool j) { e=Identity(d)
k=Gather(x,i) r=ReduceMax<keepdims=0>(k) g=Greater(r,m) q=Or(p,g) j=Identity(q) }> w=Tanh(x)
u=Unsqueeze(a,o) q=Concat<axis=0>(u,w) l=Not(b) s=Cast<to=7>(l) n=ReduceSum(s,o) j=Gather(q,n)
y=Squeeze(j,o) }"""
TEXT += r"""
# a hit by a state that does not stay, 17, 17
g (float[n] x, float m) => (y)
- <bool c={1}, float f={0}, int64 z={0}> { h=Shape(x) t=Gather(h,z)
v, y=Loop(t,c,f,f)<body=l(int64 i, bool d, float p, float s) => (bool e, float q, float u) {
e=Identity(d) k=Gather(x,i) q=Identity(k) g=Less(p,m) u=Where(g,s,k) }> }
+ <bool c={1}, float f={0}, int64 z={0}, int64[1] o={0}, float[1] a={0}> { h=Shape(x) t=Gather(h,z)
q=Concat<axis=0>(a,x) g=Less(q,m) w=Cast<to=7>(g) r=CumSum(w,z) j=Cast<to=9>(r) l=Not(j)
s=Cast<to=7>(l) n=ReduceSum(s,o) b=Gather(q,n) y=Squeeze(b,o) }"""
TEXT += "".join(
    _FROZEN.replace("HIT", name).replace(*change)
    for name, *change in (
        ("no hit", "Where(q,s,w)", "Where(q,w,s)"),
        ("a hit that does not last", "q=Or(p,g)", "q=Identity(g)"),
        ("a hit that another one takes back", "q=Or(p,g)", "q=Xor(p,g)"),
        ("a hit that all rows must have", "q=Or(p,g)", "q=And(p,g)"),
        ("a hit of the iteration before", "Where(q,s,w)", "Where(p,s,w)"),
        ("a hit of another flag", "q=Or(p,g) w", "g2=Less(r,m) q=Or(p,g2) w"),
        ("a hit of a loop that never starts", "Loop(t,c,f,a)", "Loop(t,f,f,a)"),
    )
)
TEXT += "".join(
    _SEARCH.replace("HIT", name).replace(*change)
    for name, *change in (
        ("the row before a hit", "w=Add(f,o)", "w=Identity(f)"),
        ("the last hit", "<axis=0, keepdims=0>(q)", "<axis=0, keepdims=0, select_last_index=1>(q)"),
        ("a row without a hit", "s=Not(e)", "s=Identity(e)"),
        ("a hit of a loop without a condition", "Loop(t,yes)", "Loop(t,)"),
        ("a hit of a loop that never starts", "Loop(t,yes)", "Loop(t,no)"),
        ("another hit", "e=Less(v,m)\nr", "e=Less(m,v)\nr"),
    )
)
TEXT += r"""
# a first state that is another one, 18, 18
g (float[n,2] x, float[2] a, float[2] b) => (y) <bool c={1}, int64 z={0}> {
h=Shape(x) t=Gather(h,z) s=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s)=>(bool e, float[2] u){
e=Identity(d) k=Gather(x,i) u=Tanh(s) }>
- q=Cast<to=9>(t) y=Where(q,s,b) }
+ y=Identity(s) }
# a choice by the size of another tensor, 18, 18
g (float[n,2] x, float[m,2] v, float[2] a) => (y) <bool c={1}, int64 z={0}> {
hv=Shape(v) tv=Gather(hv,z) h=Shape(x) t=Gather(h,z) s=Loop(t,c,a)<body=l(int64 i, bool d,
float[2] s)=>(bool e, float[2] u){ e=Identity(d) k=Gather(x,i) u=Tanh(s) }>
- q=Cast<to=9>(tv) y=Where(q,s,a) }
+ y=Identity(s) }
# a number of iterations that is unknown, 18, 18
g (float[2] x, float[2] a, int64 m, bool c) => (y) {
s=Loop(m,c,a)<body=l(int64 i, bool d, float[2] s)=>(bool e, float[2] u){ e=Identity(d) u=Tanh(s) }>
- t=Mul(m,m) q=Cast<to=9>(t) y=Where(q,s,a) }
+ y=Identity(s) }
# a number that is unknown on both sides, 18, 18
g (float[n,2] x, float[2] a, int64 m, bool c) => (y) <int64 z={0}> {
h=Shape(x) t=Gather(h,z) k=Mul(t,t)
s=Loop(k,c,a)<body=l(int64 i, bool d, float[2] s)=>(bool e, float[2] u){ e=Identity(d) u=Tanh(s) }>
- q=Cast<to=9>(k) y=Where(q,s,a) }
+ y=Identity(s) }
# a condition that may end the loop, and sizes, 18, 18
g (float[n,2] x, float[2] a, bool c) => (y) <int64 z={0}, int64 two={3}> {
h=Shape(x) t=Gather(h,z) k=Sub(t,two)
s=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s)=>(bool e, float[2] u){ e=Identity(d) u=Tanh(s) }>
- q=Cast<to=9>(k) y=Where(q,s,a) }
+ y=Identity(s) }
# the states the other way round, 18, 18
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64 z={0}> {
h=Shape(x) t=Gather(h,z) s=Loop(t,c,a)<body=l(int64 i, bool d, float[2] s)=>(bool e, float[2] u){
e=Identity(d) u=Tanh(s) }>
- q=Cast<to=9>(t) y=Where(q,a,s) }
+ y=Identity(s) }
# positions that do not start at 0, 18, 18
g (float[n,2] x) => (y) <int64 z={0}, int64 o={1}> {
- h=Shape(x) n=Gather(h,z) r=Range(o,n,o) y=Gather(x,r) }
+ y=Identity(x) }
# positions that end before the last one, 18, 18
g (float[n,2] x) => (y) <int64 z={0}, int64 o={1}> {
- h=Shape(x) n=Gather(h,z) m=Sub(n,o) r=Range(z,m,o) y=Gather(x,r) }
+ y=Identity(x) }
# positions of another axis, 18, 18
g (float[n,m] x) => (y) <int64 z={0}, int64 o={1}> {
- h=Shape(x) n=Gather(h,z) r=Range(z,n,o) y=Gather<axis=1>(x,r) }
+ y=Identity(x) }
# positions of the first axis for the last, 18, 18
g (float[n,n] x, float[n,n] v) => (y) <int64 z={0}, int64 o={2}> {
- h=Shape(x) n=Gather(h,z) r=Range(z,n,o) y=Gather<axis=-1>(x,r) }
+ y=Identity(x) }
# positions that may be out of range, 18, 18
g (float[n,m] x) => (y) <int64 z={0}, int64 o={1}> {
- y=Identity(x) }
+ h=Shape(x) n=Gather(h,z) r=Range(z,n,o) d=Gather<axis=-1>(x,r) y=Identity(x) }
# positions of another tensor, 18, 18
g (float[n,m] x, float[k,2] v) => (y) <int64 z={0}, int64 o={1}> {
- y=Identity(x) }
+ h=Shape(v) n=Gather(h,z) r=Range(z,n,o) d=Gather(x,r) y=Identity(x) }
# a state that gets an axis in each iteration, 18, 18
g (float[n,2] x, float[2] a) => (y) <bool c={1}, int64[1] z={0}, int64[1] k={1}, int64[2] o={0,1},
int64 zz={0}, int64[3] ones={1,1,1}> {
h=Shape(x) t=Gather(h,zz) t3=Reshape(t,ones)
s=Loop(t,c,a)<body=l(int64 i, bool d, float s)=>(bool e, float u){ e=Identity(d) u=Unsqueeze(s,z) }>
q=Cast<to=9>(t3)
- y=Where(q,s,a) }
+ y=Identity(s) }
# a state that doubles, 18, 18
g (float[n,2] x, float[1] a) => (y) <bool c={1}, int64 z={0}, float[2] b={1,2}> {
h=Shape(x) t=Gather(h,z)
s=Loop(t,c,a)<body=l(int64 i, bool d, float[k] s)=>(bool e, float[j] u){ e=Identity(d)
u=Concat<axis=0>(s,s) }>
- q=Cast<to=9>(t) y=Where(q,s,b) }
+ y=Identity(s) }
# a Where by a vector, 18, 18
g (float[n,2] x, float[1] a) => (y) <bool c={1}, int64 z={0}, int64[2] o={1,1}> {
h=Shape(x) t=Gather(h,z) t2=Reshape(t,o)
s=Loop(t,c,a)<body=l(int64 i, bool d, float[1] s)=>(bool e, float[1] u){ e=Identity(d) u=Tanh(s) }>
- q=Cast<to=9>(t2) y=Where(q,s,a) }
+ y=Identity(s) }
# a Gather of another axis by a Range, 18, 18
g (float[n,m] x) => (y) <int64 z={0}, int64 o={1}> {
- h=Shape(x) n=Gather(h,o) r=Range(z,n,o) y=Gather(x,r) }
+ y=Identity(x) }
# a Gather of all positions but the first, 18, 18
g (float[n,m] x) => (y) <int64 z={0}, int64 o={1}> {
- h=Shape(x) n=Gather(h,z) r=Range(o,n,o) y=Gather(x,r) }
+ y=Identity(x) }
# every other position, 18, 18
g (float[n,m] x) => (y) <int64 z={0}, int64 o={2}> {
- h=Shape(x) n=Gather(h,z) r=Range(z,n,o) y=Gather(x,r) }
+ y=Identity(x) }
"""
