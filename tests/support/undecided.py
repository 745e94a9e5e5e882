"""Models whose control flow only their users can decide, with the options that do."""

BRANCHES = """<then_branch = t () => (float[] a) { a = Relu (x) },
              else_branch = e () => (float[] b) { b = Neg (x) }>"""
BODY = """<body = b (int64 i, bool c, float[] a) => (bool d, float[] r) {
              d = Identity (c)  q = Sin (a)  r = Exp (q) }>"""
WHILE = """y, last = Loop (, yes, x, zero) <body = b (int64 i, bool c, float[2] a, int64 j)
                                        => (bool go, float[2] r, int64 k) {
              r = Add (a, a)  top = ReduceMax <keepdims = 0> (r)  low = Less (top, limit)
              k = Add (j, one)  few = Less (k, LAST)  go = And (low, few) }>"""

UNSAID = """y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool go, float[2] r) {
              r = Add (a, a)  top = ReduceMax <keepdims = 0> (r)  go = Less (top, limit) }>"""

MODELS = {
    "an If on a sample rate": (
        f"g (float[N] x, int64 sr) => (float[] y) <int64 wide = {{16000}}> {{"
        f" c = Equal (sr, wide) y = If (c) {BRANCHES} }}",
        ["--set sr=16000"],
    ),
    "an If on a size": (f"g (float[N, M] x) => (float[] y) <int64 one = {{1}}> {{"
     f" s = Shape (x) m = Gather (s, one) c = Equal (m, one) y = If (c) {BRANCHES} }}",
     ["--shape x=4,4"]),
    "an If on data": (f"g (float[2, 3] x, float[2, 3] z) => (float[] y) {{"
     f" s = ReduceSum <keepdims = 0> (x) t = ReduceSum <keepdims = 0> (z) c = Less (s, t)"
     f" y = If (c) {BRANCHES} }}", ["--selects"]),
    "an If on data, of branches that differ in shape": (
        f"g (float[2, 3] x) => (float[] y) <float zero = {{0}}> {{"
        f" s = ReduceSum <keepdims = 0> (x) c = Less (s, zero)"
        f" y = If (c) {BRANCHES.replace('Neg (x)', 'Flatten <axis = 0> (x)')} }}",
        [],
    ),
    "a default that callers override": (
        f"g (float[2] x, bool q) => (float[] y) <bool q = {{1}}> {{ y = If (q) {BRANCHES} }}",
        ["--freeze-initializers"],
    ),
    "a Loop of as many iterations as Range gives": (
        f"g (float[2] x, int64 n) => (float[] y) <int64 zero = {{0}}, int64 one = {{1}}> {{"
        f" r = Range (zero, n, one) s = Shape (r) m = Squeeze (s) y = Loop (m, , x) {BODY} }}",
        ["--set n=4"],
    ),
    "a Loop in a Loop, which two inputs decide": (
        "g (float[] x, int64 n, int64 m) => (float[] y) {"
        " y = Loop (n, , x) <body = b (int64 i, bool c, float[] a) => (bool d, float[] r) {"
        " d = Identity (c)  r = Loop (m, , a) <body = e (int64 j, bool k, float[] u)"
        " => (bool l, float[] v) { l = Identity (k)  s = Sin (u)  v = Exp (s) }> }> }",
        ["--set m=4", "--set n=4 --set m=4"],
    ),
    "a Scan over rows that is an RNN": (
        "g (float[N,1,2] x, float[1,2] h, float[2,2] w, float[2,2] v) => (float[N,1,2] rows) {"
        " last, rows = Scan <num_scan_inputs = 1, body = b (float[1,2] a, float[1,2] e)"
        " => (float[1,2] r, float[1,2] row) { m = MatMul (a, w) o = MatMul (e, v) t = Add (m, o)"
        " r = Tanh (t) row = Identity (r) }> (h, x) }",
        ["--shape x=4,1,2", "--passes straighten{exact=false}"],
    ),
    "a Scan over rows": ("g (float[2] h, float[N,2] x) => (float[2] y, float[N,2] rows) {"
     " y, rows = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e)"
     " => (float[2] r, float[2] row) { t = Sin (a) r = Exp (t) row = Add (r, e) }> (h, x) }",
     ["--shape x=4,2"]),
    "a Loop over what NonZero finds": (f"g (float[8] x) => (float[] y) {{"
     f" r = NonZero (x) s = Shape <start = 1> (r) m = Squeeze (s) y = Loop (m, , x) {BODY} }}",
     ["--assume-max y=16 --selects"]),
    "a Loop that data may end early": ("g (float[2] x, float[3] ends) => (float[] y)"
     " <int64 zero = {0}, int64 one = {1}, bool yes = {1}, int64 five = {5}> {"
     f" limit = ReduceMax <keepdims = 0> (ends) {WHILE.replace('LAST', 'five')} }}", ["--selects"]),
    "a Loop that data may end before an input does": (
        "g (float[2] x, float[3] ends, int64 n) => (float[] y)"
        " <int64 zero = {0}, int64 one = {1}, bool yes = {1}> {"
        f" limit = ReduceMax <keepdims = 0> (ends) {WHILE.replace('LAST', 'n')} }}",
        ["--set n=4 --selects"],
    ),
    "two constructs that two inputs decide": (f"g (float[2] x, bool q, int64 n) => (float[] y) {{"
     f" z = If (q) {BRANCHES} y = Loop (n, , z) {BODY} }}",
     ["--set q=true", "--set n=4", "--set q=true --set n=4"]),
    "a Loop whose condition may count or not": (
        f"g (float[2] x) => (float[2] y) <float limit = {{9}}, int64 n = {{5}}> {{ {UNSAID} }}",
        ["--passes selects{absent_cond=honour}"],
    ),
    "the same, of as many iterations as an input says": (
        f"g (float[2] x, int64 n) => (float[2] y) <float limit = {{9}}> {{ {UNSAID} }}",
        ["--set n=4 --passes selects{absent_cond=honour}"],
    ),
}  # fmt: skip
