"""What code behind a loop may know of the values that the loop computes trip by trip."""

import numpy as np
from harness import as_model
from loops import HEAD, op_types
from vectorized import assert_same, numbers, vectorized


def test_a_batch_size_of_run_time_and_no_trips():
    """Without a trip onnxruntime takes sizes that the body does not tell for 0."""
    text = """g (float[N, B, 4] x, float[B, 3] h0, float[4, 3] w, float[3, 5] v, float[B, 1] k,
            int64 n) => (float[B, 3] h, float[M, B, 5] y) <bool yes = {1}> {
        h, y = Loop (n, yes, h0) <body = b (int64 i, bool c, float[B, 3] s)
                => (bool c2, float[B, 3] t, float[B, 5] r) {
            c2 = Identity (c) e = Gather (x, i) p = MatMul (e, w) q = Add (s, p) t = Tanh (q)
            u = MatMul (t, v) r = Add (u, k) }> }"""
    before = as_model(HEAD + text)
    result = vectorized(before)
    assert result.changed
    for n in (0, 1, 3):
        feed = {"x": numbers(3, 2, 4), "h0": numbers(2, 3), "w": numbers(4, 3)}
        feed |= {"v": numbers(3, 5), "k": numbers(2, 1), "n": np.array(n)}
        assert_same(before, result.model, feed)


def test_a_size_that_changes_from_trip_to_trip():
    """The rows are of one shape only where each is; here the state grows, and its sum is given."""
    text = """g (float[N, 3] x, int64 n) => (float[K] h, float[M] y) <bool yes = {1},
            float[1] s0 = {1}> {
        h, y = Loop (n, yes, s0) <body = b (int64 i, bool c, float[?] s)
                => (bool c2, float[?] t, float r) {
            c2 = Identity (c) q = Exp (s) t = Concat <axis = 0> (s, q)
            u = Tanh (q) v = Neg (u) r = ReduceMax <keepdims = 0> (v) }> }"""
    before = as_model(HEAD + text)
    result = vectorized(before)
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    assert "Tanh" in op_types(loop.attribute[0].g)
    for n in (0, 1, 3):
        assert_same(before, result.model, {"x": numbers(3, 3), "n": np.array(n)})
