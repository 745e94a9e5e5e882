import numpy as np
from harness import as_model, assert_rewrites
from loops import op_types
from straightline import rewrite
from straightline.ir import load
from straightline.ops.batching import Unbatchable
from straightline.passes import VectorizeLoops
from straightline.passes.iteration.dependence_graph import DependenceGraph
from straightline.passes.iteration.loop_view import read
from straightline.passes.vectorize.residual_loop import Distribution
from vectorized import assert_same, numbers, vectorized


def test_a_loop_reads_rows_by_the_number_of_the_iteration():
    """A read that the body makes itself stays as it is; the counter is the iteration number."""
    assert_rewrites(
        VectorizeLoops(),
        """g (float[N, 4] x, float[N, 3] z, float[4, 3] w, float[3] h0, int64 n)
                => (float[3] h) <bool yes = {1}, int64 zero = {0}> {
            h, k = Loop (n, yes, h0, zero) <body = b (int64 i, bool c, float[3] s, int64 j)
                    => (bool c2, float[3] t, int64 l) {
                c2 = Identity (c) one = Constant <value_int = 1> () l = Add (j, one)
                e = Gather (x, j) p = MatMul (e, w) m = Gather (z, j) q = Mul (p, s)
                t = Sub (q, m) }> }""",
        """g (float[N, 4] x, float[N, 3] z, float[4, 3] w, float[3] h0, int64 n)
                => (float[3] h) <bool yes = {1}, int64 zero = {0}, int64 k = {0}, int64 k_1 = {1}> {
            limit = Max (n, k)
            numbers = Range (k, limit, k_1)
            e = Gather <axis = 0> (x, numbers)
            p = MatMul (e, w)
            h = Loop (n, yes, h0) <body = b (int64 i, bool c, float[3] s)
                    => (bool c, float[3] t) {
                m = Gather (z, i)
                p_1 = Gather <axis = 0> (p, i)
                q = Mul (p_1, s)
                t = Sub (q, m) }> }""",
        [
            {
                "x": numbers(6, 4),
                "z": numbers(6, 3),
                "w": numbers(4, 3),
                "h0": numbers(3),
                "n": np.array(n),
            }
            for n in (0, 1, 6)
        ],
    )


def test_a_scan_keeps_axes_and_directions_of_what_it_still_reads():
    assert_rewrites(
        VectorizeLoops(),
        """g (float[4, N] x, float[N, 3] z, float[4, 3] w, float[3] h0)
                => (float[3] h, float[3, N] y) {
            h, y = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0],
                    scan_input_directions = [0, 1], scan_output_axes = [1],
                    scan_output_directions = [1],
                    body = b (float[3] s, float[4] e, float[3] m) => (float[3] t, float[3] r) {
                p = MatMul (e, w) q = Mul (p, s) t = Sub (q, m) r = Identity (t) }> (h0, x, z) }""",
        """g (float[4, N] x, float[N, 3] z, float[4, 3] w, float[3] h0)
                => (float[3] h, float[3, N] y) {
            e = Transpose <perm = [1, 0]> (x)
            p = MatMul (e, w)
            h, y = Scan <num_scan_inputs = 2, scan_input_directions = [1, 0],
                    scan_output_axes = [1], scan_output_directions = [1],
                    body = b (float[3] s, float[3] m, float[3] p_1) => (float[3] t, float[3] r) {
                q = Mul (p_1, s)
                t = Sub (q, m)
                r = Identity (t)
            }> (h0, z, p) }""",
        [
            {"x": numbers(4, n), "z": numbers(n, 3), "w": numbers(4, 3), "h0": numbers(3)}
            for n in (1, 6)
        ],
    )


def test_a_batch_size_of_run_time_and_no_iterations():
    """Without an iteration onnxruntime takes sizes that the body does not tell for 0."""
    text = """g (float[N, B, 4] x, float[B, 3] h0, float[4, 3] w, float[3, 5] v, float[B, 1] k,
            int64 n) => (float[B, 3] h, float[M, B, 5] y) <bool yes = {1}> {
        h, y = Loop (n, yes, h0) <body = b (int64 i, bool c, float[B, 3] s)
                => (bool c2, float[B, 3] t, float[B, 5] r) {
            c2 = Identity (c) e = Gather (x, i) p = MatMul (e, w) q = Add (s, p) t = Tanh (q)
            u = MatMul (t, v) r = Add (u, k) }> }"""
    before = as_model(text)
    result = vectorized(before)
    assert result.changed
    for n in (0, 1, 3):
        feed = {"x": numbers(3, 2, 4), "h0": numbers(2, 3), "w": numbers(4, 3)}
        feed |= {"v": numbers(3, 5), "k": numbers(2, 1), "n": np.array(n)}
        assert_same(before, result.model, feed)


def test_a_size_that_changes_from_iteration_to_iteration():
    """The rows are of one shape only where each is; here the state grows, and its sum is given."""
    text = """g (float[N, 3] x, int64 n) => (float[K] h, float[M] y) <bool yes = {1},
            float[1] s0 = {1}> {
        h, y = Loop (n, yes, s0) <body = b (int64 i, bool c, float[?] s)
                => (bool c2, float[?] t, float r) {
            c2 = Identity (c) q = Exp (s) t = Concat <axis = 0> (s, q)
            u = Tanh (q) v = Neg (u) r = ReduceMax <keepdims = 0> (v) }> }"""
    before = as_model(text)
    result = vectorized(before)
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    assert "Tanh" in op_types(loop.attribute[0].g)
    for n in (0, 1, 3):
        assert_same(before, result.model, {"x": numbers(3, 3), "n": np.array(n)})


def test_a_read_at_another_place_is_batched():
    """Only a read by the number of the iteration stays as it is."""
    head = "g (float[N, 3] x, float[3] h0, int64 n) => (float[3] h) <bool yes = {1}> "
    loop = """h = Loop (n, yes, h0) <body = b (int64 i, bool c, float[3] s)
        => (bool c2, float[3] t) { c2 = Identity (c) two = Constant <value_int = 2> ()
            j = Div (i, two) m = Gather (x, j) q = Mul (m, s) t = Sub (q, s) }>"""
    before = as_model(head + "{ " + loop + " }")
    after = vectorized(before).model
    body = next(node for node in after.graph.node if node.op_type == "Loop").attribute[0].g
    assert "Div" not in op_types(body)
    assert_same(before, after, {"x": numbers(3, 3), "h0": numbers(3), "n": np.array(3)})


def _divide(refused, ragged=()):
    text = """g (float[3] h0, float[N, 3] x) => (float[3] h, float[N, 3] y) {
        h, y = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e)
                => (float[3] t, float[3] r) {
            before = Exp (e) odd = Sin (before) between = Neg (odd) other = Tanh (s)
            t = Add (other, between) behind = Mul (t, before) r = Cos (behind) }> (h0, x) }"""
    node = load(as_model(text)).graph.nodes()[0]
    computed = []

    def compute(vertex):
        if getattr(vertex, "op_type", "") in refused:
            raise Unbatchable(f"refuses {vertex.op_type}")
        computed.append(vertex)

    def is_ragged(vertex):
        return getattr(vertex, "op_type", "") in ragged

    distribution = Distribution(DependenceGraph(read(node), [], []), compute, is_ragged)
    inside = {v.op_type for v in distribution.inside if hasattr(v, "op_type")}
    behind = {v.op_type for v in distribution.after}
    return inside, behind, distribution.reasons


def test_a_recurrence_alone():
    inside, behind, reasons = _divide(())
    assert (inside, behind) == ({"Tanh", "Add"}, {"Mul", "Cos"})
    assert reasons == ["carries 's', whose next value depends on the one before"]


def test_nodes_between_two_kept_ones():
    inside, behind, reasons = _divide(("Sin",))
    assert (inside, behind) == ({"Sin", "Neg", "Tanh", "Add"}, {"Mul", "Cos"})
    assert "refuses Sin" in reasons


def test_nodes_before_a_kept_one():
    inside, behind, _ = _divide(("Cos",))
    assert (inside, behind) == ({"Tanh", "Add", "Mul", "Cos"}, set())


def test_ragged_values_stay_with_their_readers():
    assert _divide((), ["Exp"])[:2] == _divide(())[:2]
    assert _divide((), ["Sin"])[:2] == ({"Tanh", "Add"}, {"Mul", "Cos"})
    inside, behind, reasons = _divide((), ["Sin", "Neg"])
    assert (inside, behind) == ({"Sin", "Neg", "Tanh", "Add"}, {"Mul", "Cos"})
    assert "which reads a number of elements" in reasons[-1]
    assert _divide((), ["Cos"])[0] == {"Tanh", "Add", "Mul", "Cos"}


def test_rows_of_strings_that_a_state_reads_stay_in_the_loop():
    """No Gather of them is right in onnxruntime, and a row is read again by a Gather only."""
    text = """<ir_version: 8, opset_import: ["" : 19]>
        g (string[N,3] x, string[3] k, int64[M] p, int64 n) => (string[3] y)
        <bool c = {1}> { y = Loop (n, c, k) <body = b (int64 i, bool c1,
            string[3] a) => (bool c2, string[3] a2) { c2 = Identity (c1) j = Gather (p, i)
            r = Gather (x, j) q = Equal (r, a) a2 = Where (q, r, a) }> }"""
    found = list(op_types(rewrite(as_model(text)).graph))
    assert found.count("Gather") == 2 and "Loop" in found
