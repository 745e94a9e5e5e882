"""Models as text that tests of the command line share."""

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
LOOP = """g (float[2] x) => (float[2] y) {
    trips = Constant <value_int = 3> ()
    y = Loop (trips, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Add (a, a)
    }>
}"""

LOOP_AND_IF = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, int64 n, bool c) => (float[2] y) {
    h = Loop (n, , x) <body = b (int64 i, bool g, float[2] a) => (bool d, float[2] e) {
        d = Identity (g)
        e = Add (a, a)
    }>
    y = If (c) <
        then_branch = t () => (float[2] r) { r = Relu (h) },
        else_branch = f () => (float[2] s) { s = Neg (h) }
    >
}"""

DECIDED_BY_INPUTS = """g (float[N, 4] x, int64 n, bool c, float[N] z) => (float[N, 4] y) {
    y = Loop (n, , x) <body = b (int64 i, bool g, float[N, 4] a) => (bool h, float[N, 4] e) {
        h = Identity (g)
        e = If (c) <
            then_branch = t () => (float[N, 4] r) { r = Relu (a) },
            else_branch = f () => (float[N, 4] s) { s = Neg (a) }
        >
    }>
}"""

SEQUENCE = """g (float[2] x, float[2] y, int64 k) => (float[2] b) {
    s = SequenceConstruct (x, y)
    b = SequenceAt (s, k)
}"""

NODE = "g (float[2] x) => (float[2] y) { %s }"
