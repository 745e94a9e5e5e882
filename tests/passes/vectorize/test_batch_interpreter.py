import numpy as np
import pytest
from harness import as_model, assert_rewrites, run_passes
from loops import op_types
from straightline.ir import Operator
from straightline.ops import rules_of
from straightline.passes import HoistInvariants, VectorizeLoops
from tables import table
from vectorized import assert_same, assert_vectorizes, loop, numbers, untyped, vectorized, why_kept


def test_rows_read_in_order_are_the_tensor():
    assert_rewrites(
        VectorizeLoops(),
        """g (float[N, 3] x) => (float[N, 3] y) <int64 zero = {0}, bool yes = {1}> {
            sizes = Shape (x)
            n = Gather (sizes, zero)
            y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {
                c2 = Identity (c) e = Gather (x, i) r = Exp (e) }> }""",
        """g (float[N, 3] x) => (float[N, 3] y) <int64 zero = {0}, bool yes = {1}> {
            sizes = Shape (x)
            n = Gather (sizes, zero)
            y = Exp (x) }""",
        [{"x": numbers(n, 3)} for n in (0, 1, 5)],
    )


def test_a_read_beyond_the_last_row_is_not_hidden():
    """Ten iterations of five rows fail, and so does what is made of them."""
    text = """g (float[5, 3] x, int64 n) => (float[M, 3] y) <bool yes = {1}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {
            c2 = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
    assert "Gather" in op_types(vectorized(as_model(text)).model.graph)


def test_outputs_along_other_axes_and_backward():
    text = """g (float[N, 3] x) => (float[3, N] y, float[N, 3] z) {
        y, z = Scan <num_scan_inputs = 1, scan_output_axes = [-1, 0],
                scan_output_directions = [1, 0], scan_input_directions = [1],
                body = b (float[3] e) => (float[3] r, float[3] s) { r = Exp (e) s = Neg (e) }> (x)
    }"""
    before = as_model(text)
    result = vectorized(before)
    assert "Scan" not in op_types(result.model.graph)
    for n in (1, 4):
        assert_same(before, result.model, {"x": numbers(n, 3)})


def test_a_state_that_never_changes_is_none():
    text = """g (float[N, 3] x, float[3] s) => (float[3] t, float[N, 3] y) {
        t, y = Scan <num_scan_inputs = 1, body = b (float[3] u, float[3] e)
                => (float[3] v, float[3] r) { w = Identity (u) r = Add (e, u) v = Identity (w) }>
            (s, x) }"""
    before = as_model(text)
    result = vectorized(before)
    assert "Scan" not in op_types(result.model.graph)
    for n in (1, 4):
        assert_same(before, result.model, {"x": numbers(n, 3), "s": np.ones(3, np.float32)})


@pytest.mark.parametrize(("most", "kept"), [(48, False), (47, True)])
def test_values_of_all_iterations_that_are_too_large(most, kept):
    text = """g (float[4, 3] x) => (float[4, 3] z) { z = Scan <num_scan_inputs = 1,
        body = b (float[3] e) => (float[3] r) { r = Exp (e) }> (x) }"""
    result = run_passes(text, VectorizeLoops(max_bytes=most))
    assert result.changed is not kept
    assert not kept or "all iterations take 48 bytes, over max_bytes=47" in result.kept[0].reason


@table(
    ("a divisor that may be zero", "d = Div (y, m) r = Mul (i, d)", "int64[3] r"),
    ("a remainder", "d = Mod (y, m) r = Add (d, i)", "int64[3] r"),
    ("an index that may be out of range", "k = Gather (y, m) d = Div (m, k) r = Mul (d, i)",
     "int64 r"),
    ("sizes", """s = Shape (y) a = Constant <value_int = 0> () k = Gather (s, a) t = Mul (k, k)
        r = Add (t, i)""", "int64 r"))  # fmt: skip
def test_invariants_do_not_run_without_iterations(name, body, out):
    text = f"""g (int64 n, int64[3] y, int64 m) => (z) <bool yes = {{1}}> {{
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, {out}) {{
            c2 = Identity (c) {body} }}> }}"""
    before = untyped(text)
    for passes in ((HoistInvariants(), VectorizeLoops()), (VectorizeLoops(),)):
        after = run_passes(before, *passes)
        assert "Loop" not in set(op_types(after.model.graph)), after.remarks
        for n, m in ((0, 0), (0, 9), (0, 2), (1, 1), (5, 2)):
            feed = {"n": np.array(n), "y": np.array([7, -9, 3]), "m": np.array(m)}
            assert_same(before, after.model, feed)


@table(
    ("multiplied by zero", "p = Mul (k, zero)"),
    ("at most zero", "p = Min (k, zero)"),
    ("less itself", "p = Sub (k, k)"),
    ("always the first", "q = Mul (k, zero) p = Add (q, one)"),
)
def test_slices_at_a_place_that_is_the_same_on_every_iteration_after_all(place, nodes):
    text = loop(
        f"""zero = Constant <value_ints = [0]> () one = Constant <value_ints = [1]> ()
        k = Unsqueeze (i, zero) {nodes} end = Add (p, one)
        s = Slice (m, p, end, one) r = Abs (s)""",
        "float[2, 1] r",
    )
    assert_vectorizes(text)


@pytest.mark.parametrize("axes", ["k2", "one"])
def test_bounds_that_differ_in_number_are_no_error_of_ours(axes):
    body = f"""one = Constant <value_ints = [1]> () k2 = Constant <value_ints = [0, 1]> ()
        k = Unsqueeze (i, one) end = Add (k, one) both = Concat <axis = 0> (k, k)
        s = Slice (m, {"k" if axes == "k2" else "both"}, end, {axes}) r = Abs (s)"""
    body = body.replace("Unsqueeze (i, one)", "Reshape (i, one)")
    assert "differ in number" in why_kept(loop(body, "float[Q, W] r"))


def test_a_rule_that_loses_the_axis_of_the_iterations_is_not_believed(monkeypatch):
    monkeypatch.setattr(
        type(rules_of(Operator("Softplus"))),
        "batch",
        lambda self, batch: [
            batch.emit.squeeze(
                batch.emit.add("Gather", [batch.require(0).value, batch.vector(0)], "lost", axis=0),
                0,
                "lost",
            )
        ],
    )
    assert "has rank 1, not 2" in why_kept(loop("r = Softplus (e)", "float[3] r"))


def test_a_rule_that_never_ends_makes_no_graph_without_bounds(monkeypatch):
    def batch(self, batch):
        value = batch.require(0).value
        while True:
            value = batch.emit.add("Neg", [value], "again")

    monkeypatch.setattr(type(rules_of(Operator("Softplus"))), "batch", batch)
    assert "scratch_nodes=100 allows" in why_kept(loop("r = Softplus (e)", "float[3] r"))
