"""Models as text that tests of passes and of the command line share."""

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
LOOP = """g (float[2] x) => (float[2] y) {
    iterations = Constant <value_int = 3> ()
    y = Loop (iterations, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Add (a, a) }> }"""

LOOP_AND_IF = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, int64 n, bool c) => (float[2] y) {
    h = Loop (n, , x) <body = b (int64 i, bool g, float[2] a) => (bool d, float[2] e) {
        d = Identity (g)
        e = Add (a, a) }>
    y = If (c) <
        then_branch = t () => (float[2] r) { r = Relu (h) },
        else_branch = f () => (float[2] s) { s = Neg (h) } > }"""

DECIDED_BY_INPUTS = """g (float[N, 4] x, int64 n, bool c, float[N] z) => (float[N, 4] y) {
    y = Loop (n, , x) <body = b (int64 i, bool g, float[N, 4] a) => (bool h, float[N, 4] e) {
        h = Identity (g)
        e = If (c) <
            then_branch = t () => (float[N, 4] r) { r = Relu (a) },
            else_branch = f () => (float[N, 4] s) { s = Neg (a) } > }> }"""

SEQUENCE = """g (float[2] x, float[2] y, int64 k) => (float[2] b) {
    s = SequenceConstruct (x, y)
    b = SequenceAt (s, k) }"""

NODE = "g (float[2] x) => (float[2] y) { %s }"

LOOP_THEN_IF = (
    HEADER
    + """g (float[2] x, bool q) => (float[2] y) <int64 n = {2}> {
        z = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c) r = Neg (a) }>
        y = If (q) <then_branch = t () => (float[2] u) { u = Neg (z) },
                    else_branch = e () => (float[2] v) { v = Relu (z) }> }"""
)
"""Constants decide the one, run time the other."""

WEIGHTED = """<ir_version: 10, opset_import: ["": 21]>
main (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Add(x, w) }"""
