"""Reads of all rows, and what becomes of the outputs."""

import numpy as np
from harness import as_model, assert_rewrites
from loops import HEAD, op_types
from straightline.passes import VectorizeLoops
from vectorized import assert_same, numbers, vectorized


def test_what_is_read_row_by_row_is_the_tensor_where_there_are_as_many_rows_as_trips():
    assert_rewrites(
        VectorizeLoops(),
        HEAD
        + """g (float[N, 3] x) => (float[N, 3] y) <int64 zero = {0}, bool yes = {1}> {
            sizes = Shape (x)
            n = Gather (sizes, zero)
            y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {
                c2 = Identity (c) e = Gather (x, i) r = Exp (e) }>
        }""",
        HEAD
        + """g (float[N, 3] x) => (float[N, 3] y) <int64 zero = {0}, bool yes = {1}> {
            sizes = Shape (x)
            n = Gather (sizes, zero)
            y = Exp (x)
        }""",
        [{"x": numbers(n, 3)} for n in (0, 1, 5)],
    )


def test_a_read_beyond_the_last_row_is_not_hidden():
    """Ten trips of five rows fail, and so does what is made of them."""
    text = """g (float[5, 3] x, int64 n) => (float[M, 3] y) <bool yes = {1}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {
            c2 = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
    result = vectorized(as_model(HEAD + text))
    assert "Gather" in op_types(result.model.graph)


def test_outputs_along_other_axes_and_backward():
    text = """g (float[N, 3] x) => (float[3, N] y, float[N, 3] z) {
        y, z = Scan <num_scan_inputs = 1, scan_output_axes = [-1, 0],
                scan_output_directions = [1, 0], scan_input_directions = [1],
                body = b (float[3] e) => (float[3] r, float[3] s) { r = Exp (e) s = Neg (e) }> (x)
    }"""
    before = as_model(HEAD + text)
    result = vectorized(before)
    assert "Scan" not in op_types(result.model.graph)
    for n in (1, 4):
        assert_same(before, result.model, {"x": numbers(n, 3)})


def test_a_state_that_never_changes_is_none():
    text = """g (float[N, 3] x, float[3] s) => (float[3] t, float[N, 3] y) {
        t, y = Scan <num_scan_inputs = 1, body = b (float[3] u, float[3] e)
                => (float[3] v, float[3] r) { w = Identity (u) r = Add (e, u) v = Identity (w) }>
            (s, x) }"""
    before = as_model(HEAD + text)
    result = vectorized(before)
    assert "Scan" not in op_types(result.model.graph)
    for n in (1, 4):
        assert_same(before, result.model, {"x": numbers(n, 3), "s": np.ones(3, np.float32)})
