import numpy as np
import pytest
from harness import as_model, assert_keeps, assert_rewrites, op_types, run_passes
from straightline.passes import VectorizeLoops
from tables import table
from vectorized import assert_same, numbers, untyped, vectorized


def test_a_scan_of_any_length():
    assert_rewrites(
        VectorizeLoops(),
        """g (float[N, 4] x, float[4, 3] w, float[3] b) => (float[N, 3] y) {
            y = Scan <num_scan_inputs = 1, body = f (float[4] e) => (float[3] r) {
                a = MatMul (e, w) c = Add (a, b) r = Relu (c) }> (x) }""",
        """g (float[N, 4] x, float[4, 3] w, float[3] b) => (float[N, 3] y) {
            a = MatMul (x, w) c = Add (a, b) y = Relu (c) }""",
        [{"x": numbers(n, 4), "w": numbers(4, 3), "b": numbers(3)} for n in (1, 6)],
    )


def test_an_invariant_is_repeated_once():
    assert_rewrites(
        VectorizeLoops(),
        """g (float[N, 4] x, float[2] w) => (float[N, 8] y) {
            y = Scan <num_scan_inputs = 1, body = f (float[4] e) => (float[8] r) {
                a = Concat <axis = 0> (w, e) r = Concat <axis = 0> (a, w) }> (x) }""",
        """g (float[N, 4] x, float[2] w) => (float[N, 8] y)
            <int64[1] k = {0}, int64[1] ones = {1}> {
            shape = Shape (x) iterations = Gather (shape, k)
            w_shape = Concat <axis = 0> (iterations, ones) w_spread = Expand (w, w_shape)
            a = Concat <axis = 1> (w_spread, x) y = Concat <axis = 1> (a, w_spread) }""",
        [{"x": numbers(n, 4), "w": numbers(2)} for n in (1, 6)],
    )


def test_an_inner_loop_goes_before_the_one_around_it():
    text = """g (float[N, M, 3] x) => (float[N, M, 3] z) {
        z = Scan <num_scan_inputs = 1, body = f (float[M, 3] e) => (float[M, 3] r) {
            r = Scan <num_scan_inputs = 1, body = h (float[3] u) => (float[3] v) {
                v = Exp (u) }> (e)
        }> (x) }"""
    result = vectorized(as_model(text))
    assert op_types(result.model) == ["Exp"]
    assert_same(as_model(text), result.model, {"x": numbers(2, 4, 3)})


@pytest.mark.parametrize("opset", [9, 10])
def test_rows_before_range_and_steps(opset):
    """Rows from the last to the first, by number, and no iteration for a negative count."""
    text = f"""<ir_version: 7, opset_import: ["" : {opset}]>
        g (float[N, 3] x, int64 n) => (float[?, 3] z, int64[?] k)
            <bool go = {{1}}, int64 zero = {{0}}, int64 one = {{1}}, int64 s0 = {{7}}> {{
            u, z, k = Loop (n, go, s0) <body = f (int64 i, bool c, int64 s)
                => (bool c2, int64 t, float[3] r, int64 q) {{
                c2 = Identity (c) d = Sub (n, one) j = Sub (d, i) e = Gather (x, j)
                r = Neg (e) q = Mul (i, j) t = Identity (s) }}> }}"""
    result = vectorized(as_model(text))
    assert "Loop" not in op_types(result.model) and "NonZero" in op_types(result.model)
    for count in (-2, 0, 1, 4):
        assert_same(as_model(text), result.model, {"x": numbers(4, 3), "n": np.array(count)})


def test_a_residual_loop_without_states_keeps_one_before_opset_11():
    text = """<ir_version: 7, opset_import: ["" : 10]>
        g (float[N, 3] x, float s0) => (float[?] z) <bool go = {1}, int64[1] first = {0}> {
            shape = Shape (x) n = Gather (shape, zero)
            u, z = Loop (n, go, s0) <body = f (int64 i, bool c, float s)
                => (bool c2, float t, float r) {
                c2 = Identity (c) e = Gather (x, i) p = Exp (e) b = Gather (shape, zero)
                j = Unsqueeze <axes = [0]> (i) v = Slice (p, j, three, first)
                r = ReduceSum <keepdims = 0> (v) t = Identity (s) }>
        }""".replace("first = {0}", "first = {0}, int64 zero = {0}, int64[1] three = {3}")
    result = vectorized(as_model(text))
    for count in (0, 1, 3):
        assert_same(as_model(text), result.model, {"x": numbers(count, 3), "s0": numbers()})


def test_a_node_that_must_not_run_without_iterations_is_in_an_if():
    """A Loop of none has outputs although `m` is no size."""
    assert_rewrites(
        VectorizeLoops(),
        """g (int64 n, int64 k, int64[1] m) => (int64[?, ?] z) <bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64[?] r) {
                c2 = Identity (c) d = Expand (k, m) r = Mul (i, d) }> }""",
        """g (int64 n, int64 k, int64[1] m) => (int64[?, ?] z)
            <bool yes = {1}, int64 none = {0}> {
            some = Greater (n, none)
            z = If (some) <
                then_branch = some () => (int64[?, ?] r)
                    <int64 k_1 = {0}, int64 k_2 = {1}, int64[1] axes = {1}> {
                    limit = Max (n, k_1) numbers = Range (k_1, limit, k_2) d = Expand (k, m)
                    numbers_lifted = Unsqueeze (numbers, axes) r = Mul (numbers_lifted, d) },
                else_branch = none () => (int64[?, ?] r_1) <int64[0, 0] r_2 = {}> {
                    r_1 = Identity (r_2) }> }""",
        [
            {"n": np.array(count), "k": np.array(3), "m": np.array([size])}
            for count, size in [(0, 2), (0, -1), (-2, -1), (1, 0), (4, 2)]
        ],
    )


SIZES = {
    "Add": ("float[M] w", "r = Add (e, w)", numbers(4), numbers(3)),
    "MatMul": ("float[M, 2] w", "r = MatMul (e, w)", numbers(5, 2), numbers(3, 2)),
    "Expand": ("int64[2] w", "r = Expand (e, w)", np.array([-4, 7]), np.array([2, 3])),
    "LayerNormalization": ("float[M] w", "r = LayerNormalization (e, w)", numbers(4), numbers(3)),
}


@pytest.mark.parametrize("op_type", SIZES)
def test_sizes_that_may_not_fit_where_nothing_runs_are_in_an_if(op_type):
    operand, node, misfit, fit = SIZES[op_type]
    rank = "A, B" if op_type == "Expand" else "C"
    text = f"""g (float[N, K] x, {operand}) => (y) <bool go = {{1}}, int64 zero = {{0}}> {{
        shape = Shape (x) n = Gather (shape, zero)
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float[{rank}] r) {{
            d = Identity (c) e = Gather (x, i) {node} }}> }}"""
    before = untyped(text)
    after = run_passes(before, VectorizeLoops()).model
    assert op_types(after)[-1] == "If"
    for count, size, other in ((0, 3, misfit), (0, 3, fit), (2, 3, fit)):
        assert_same(before, after, {"x": numbers(count, size), "w": other})


@pytest.mark.parametrize("start", ["yes", "go"])
def test_loops_within_loops_of_any_trip_counts(start):
    text = f"""g (int64 a, int64 b, int64 n, bool go) => (int64[A, B, N] y) <bool yes = {{1}}> {{
        y = Loop (a, {start}) <body = o (int64 i, bool c) => (bool c1, int64[B, N] plane) {{
            c1 = Identity (c)
            plane = Loop (b, yes) <body = p (int64 j, bool d) => (bool d1, int64[N] row) {{
                d1 = Identity (d)
                row = Loop (n, yes) <body = q (int64 k, bool f) => (bool f1, int64 v) {{
                    f1 = Identity (f) s = Add (i, j) v = Mul (s, k) }}> }}> }}> }}"""
    result = vectorized(text)
    assert "Loop" not in op_types(result.model)
    for a, b, n in ((0, 2, 3), (2, 0, 3), (2, 3, 0), (-1, 4, -5), (2, 3, 4), (1, 1, 1)):
        sizes = {"a": np.array(a), "b": np.array(b), "n": np.array(n)}
        for go in (True, False) if start == "go" else (True,):
            assert_same(as_model(text), result.model, {**sizes, "go": np.array(go)})


@table(
    ("carries 'a', whose next value depends on the one before", """
        g (float[3] x, float[N, 3] s) => (float[3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] a, float[3] e) => (float[3] r) { b = Add (a, e) r = Tanh (b) }>
            (x, s) }"""),
    ("draws random numbers",
     """g (float[N, 3] s) => (float[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] e) => (float[3] r) { r = RandomNormalLike (e) }>
            (s) }"""),
    ("for which there is no batching rule", """
        g (float[N, 3] s) => (float[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] e) => (float[3] r) { r = com.microsoft.Strange (e) }> (s) }"""),
    ("whose condition differs from iteration to iteration", """
        g (bool[N] s, int64[3] e, int64[3] k) => (int64[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (bool c) => (int64[3] r) { r = If (c) <
                then_branch = t () => (int64[3] p) { p = Neg (e) },
                else_branch = h () => (int64[3] q) { q = Div (e, k) }> }> (s) }"""),
    ("which has no batching rule", """
        g (float[N, 3, 3] s) => (float[N, 3, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3, 3] e) => (float[3, 3] r) {
                r = MeanVarianceNormalization <axes = [0]> (e) }> (s) }"""),
    ("its body decides when it ends", """g (int64 n, int64 k) => (int64[?] z) <bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64 r) {
                c2 = Less (i, k) r = Mul (i, i) }> }"""),
    ("which must not run where there are no iterations", """
        g (int64 n, int64 k, int64[1] m, float s) => (float t, int64[?, ?] z) <bool yes = {1}> {
            t, z = Loop (n, yes, s) <body = b (int64 i, bool c, float a)
                => (bool c2, float f, int64[?] r) {
                c2 = Identity (c) d = Expand (k, m) r = Mul (i, d)
                q = ReduceSum <keepdims = 0> (d) v = Cast <to = 1> (q) w = Add (a, v)
                f = Sin (w) }> }"""),
    ("returns more elements than construct_elements=", """g (int64 n) => (int64[?] z)
            <int64 h = {4611686018427387904}, int64 one = {1}, bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64 r) {
                c2 = Identity (c) e = Add (i, h) d = Range (i, e, one)
                r = Size (d) }> }"""))  # fmt: skip
def test_kept_loops_and_their_reasons(reason, text):
    assert_keeps(VectorizeLoops(), text, reason)


@pytest.mark.parametrize("rank", ["[1]", "[K]"])
def test_a_loop_that_is_left_is_not_rewritten_again(rank):
    text = f"""g (float[T, 3] x, int64 n) => (z)
        <bool yes = {{1}}, int64 one = {{1}}, int64[1] a0 = {{0}}> {{
        z = Loop (n, yes) <body = b (int64{rank} i, bool c) => (bool d, float[3] o) {{
            d = Identity (c) s = Unsqueeze (i, a0) j = Add (i, one) e = Unsqueeze (j, a0)
            r = Slice (x, s, e, a0) q = Relu (r) o = Squeeze (q, a0) }}> }}"""
    once = run_passes(untyped(text), VectorizeLoops())
    assert not run_passes(once.model, VectorizeLoops()).changed
