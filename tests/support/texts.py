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
