"""Models as text that tests of the command line share."""

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
LOOP = """g (float[2] x) => (float[2] y) {
    trips = Constant <value_int = 3> ()
    y = Loop (trips, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Add (a, a)
    }>
}"""
