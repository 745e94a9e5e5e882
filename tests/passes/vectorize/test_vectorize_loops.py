import pytest
from harness import as_model, assert_keeps, assert_rewrites, op_types, run_passes
from loops import HEAD
from straightline.passes import VectorizeLoops
from vectorized import assert_same, numbers, untyped, vectorized


def test_a_scan_of_any_length():
    assert_rewrites(
        VectorizeLoops(),
        HEAD
        + """g (float[N, 4] x, float[4, 3] w, float[3] b) => (float[N, 3] y) {
            y = Scan <num_scan_inputs = 1, body = f (float[4] e) => (float[3] r) {
                a = MatMul (e, w) c = Add (a, b) r = Relu (c) }> (x)
        }""",
        HEAD
        + """g (float[N, 4] x, float[4, 3] w, float[3] b) => (float[N, 3] y) {
            a = MatMul (x, w) c = Add (a, b) y = Relu (c)
        }""",
        [{"x": numbers(n, 4), "w": numbers(4, 3), "b": numbers(3)} for n in (1, 6)],
    )


def test_an_invariant_is_repeated_once():
    assert_rewrites(
        VectorizeLoops(),
        HEAD
        + """g (float[N, 4] x, float[2] w) => (float[N, 8] y) {
            y = Scan <num_scan_inputs = 1, body = f (float[4] e) => (float[8] r) {
                a = Concat <axis = 0> (w, e) r = Concat <axis = 0> (a, w) }> (x)
        }""",
        HEAD
        + """g (float[N, 4] x, float[2] w) => (float[N, 8] y)
            <int64[1] k = {0}, int64[1] ones = {1}> {
            shape = Shape (x) iterations = Gather (shape, k)
            w_shape = Concat <axis = 0> (iterations, ones) w_spread = Expand (w, w_shape)
            a = Concat <axis = 1> (w_spread, x) y = Concat <axis = 1> (a, w_spread)
        }""",
        [{"x": numbers(n, 4), "w": numbers(2)} for n in (1, 6)],
    )


def test_an_inner_loop_goes_before_the_one_around_it():
    text = """g (float[N, M, 3] x) => (float[N, M, 3] z) {
        z = Scan <num_scan_inputs = 1, body = f (float[M, 3] e) => (float[M, 3] r) {
            r = Scan <num_scan_inputs = 1, body = h (float[3] u) => (float[3] v) {
                v = Exp (u) }> (e)
        }> (x)
    }"""
    result = vectorized(as_model(HEAD + text))
    assert op_types(result.model) == ["Exp"]
    assert_same(as_model(HEAD + text), result.model, {"x": numbers(2, 4, 3)})


KEPT = {
    "carries 'a', whose next value depends on the one before": """
        g (float[3] x, float[N, 3] s) => (float[3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] a, float[3] e) => (float[3] r) { b = Add (a, e) r = Tanh (b) }>
            (x, s) }""",
    "draws random numbers": """
        g (float[N, 3] s) => (float[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] e) => (float[3] r) { r = RandomNormalLike (e) }>
            (s) }""",
    "for which there is no batching rule": """
        g (float[N, 3] s) => (float[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] e) => (float[3] r) { r = com.microsoft.Strange (e) }> (s) }""",
    "whose condition differs from iteration to iteration": """
        g (bool[N] s, int64[3] e, int64[3] k) => (int64[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (bool c) => (int64[3] r) { r = If (c) <
                then_branch = t () => (int64[3] p) { p = Neg (e) },
                else_branch = h () => (int64[3] q) { q = Div (e, k) }> }> (s) }""",
    "which has no batching rule": """
        g (float[N, 3, 3] s) => (float[N, 3, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3, 3] e) => (float[3, 3] r) {
                r = MeanVarianceNormalization <axes = [0]> (e) }> (s) }""",
    "its body decides when it ends": """
        g (int64 n, int64 k) => (int64[?] z) <bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64 r) {
                c2 = Less (i, k) r = Mul (i, i) }> }""",
    "which must not run where there are no iterations": """
        g (int64 n, int64 k, int64[1] m) => (int64[?, ?] z) <bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64[?] r) {
                c2 = Identity (c) d = Expand (k, m) r = Mul (i, d) }> }""",
}


@pytest.mark.parametrize("reason", KEPT)
def test_kept_loops_and_their_reasons(reason):
    assert_keeps(VectorizeLoops(), HEAD + KEPT[reason], reason)


@pytest.mark.parametrize("rank", ["[1]", "[K]"])
def test_a_loop_that_is_left_is_not_rewritten_again(rank):
    text = f"""g (float[T, 3] x, int64 n) => (z)
        <bool yes = {{1}}, int64 one = {{1}}, int64[1] a0 = {{0}}> {{
        z = Loop (n, yes) <body = b (int64{rank} i, bool c) => (bool d, float[3] o) {{
            d = Identity (c) s = Unsqueeze (i, a0) j = Add (i, one) e = Unsqueeze (j, a0)
            r = Slice (x, s, e, a0) q = Relu (r) o = Squeeze (q, a0) }}> }}"""
    once = run_passes(untyped(text), VectorizeLoops())
    assert not run_passes(once.model, VectorizeLoops()).changed
