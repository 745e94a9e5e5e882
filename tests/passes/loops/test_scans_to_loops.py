import numpy as np
import pytest
from harness import (
    HEAD,
    as_model,
    assert_equal,
    assert_equal_outputs,
    assert_keeps,
    assert_rewrites,
    run_in_onnxruntime,
    run_passes,
)
from loops import op_types
from sessions import by_reference
from straightline.passes import LoopsToScans, ScansToLoops
from tables import table
from vectorized import numbers

BODY = (
    "body = b (float[3] a, float[3] e) => (float[3] r, float[3] q) { r = Add (a, e) q = Neg (r) }"
)


def test_a_scan_of_any_length():
    assert_rewrites(
        ScansToLoops(),
        f"""g (float[3] s, float[N, 3] x) => (float[3] y, float[N, 3] z) {{
            y, z = Scan <num_scan_inputs = 1, {BODY}> (s, x) }}""",
        """g (float[3] s, float[N, 3] x) => (float[3] y, float[N, 3] z)
            <int64 axis = {0}, bool holds = {1}> {
            x_shape = Shape (x)
            iterations = Gather (x_shape, axis)
            y, z = Loop (iterations, holds, s) <body = b (int64 i, bool holds_1, float[3] a)
                    => (bool holds_1, float[3] r, float[3] q) {
                e = Gather <axis = 0> (x, i) r = Add (a, e) q = Neg (r) }> }""",
        [{"s": numbers(3), "x": numbers(length, 3)} for length in (0, 1, 5)],
    )


def test_a_known_length():
    assert_rewrites(
        ScansToLoops(),
        """g (float[5] x) => (float[5] z) {
            z = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (x)
        }""",
        """g (float[5] x) => (float[5] z) <int64 iterations = {5},
            bool holds = {1}> {
            z = Loop (iterations, holds) <body = b (int64 i, bool holds_1)
                    => (bool holds_1, float r) {
                e = Gather <axis = 0> (x, i) r = Neg (e) }> }""",
        [{"x": numbers(5)}],
    )


def converted(text, feeds=()):
    """The model, which holds a Loop and no Scan."""
    result = run_passes(text, ScansToLoops(), feeds=feeds)
    found = list(op_types(result.model.graph))
    assert "Loop" in found and "Scan" not in found, result.remarks
    return result.model


@pytest.mark.parametrize("backward", [0, 1])
@pytest.mark.parametrize("filled", [0, 1])
@pytest.mark.parametrize(("taken", "put"), [(0, 0), (1, -1), (-1, 1), (-2, -2)])
def test_axes_and_directions(taken, put, backward, filled):
    text = f"""g (float[3] s, float[N, M] x, float[K, N] w)
            => (float[3] y, float[?, ?] z, float[?] v) {{
        y, z, v = Scan <num_scan_inputs = 2, scan_input_axes = [{taken}, 1],
            scan_input_directions = [{backward}, 1], scan_output_axes = [{put}, 0],
            scan_output_directions = [{filled}, 1], body = b (float[3] a, e, float[K] f)
                => (float[3] r, q, float p) {{
            h = ReduceMax <keepdims = 0> (e) j = ReduceSum <keepdims = 0> (f) k = Mul (a, h)
            r = Add (k, j) q = Exp (e) p = ReduceMax <keepdims = 0> (r) }}> (s, x, w) }}"""
    model = converted(text)
    for length in (1, 4):
        x = numbers(length, 2) if taken in (0, -2) else numbers(2, length)
        assert_equal_outputs(text, model, {"s": numbers(3), "x": x, "w": numbers(5, length)})


def test_sizes_without_iterations_are_those_of_the_inputs():
    """onnxruntime fails on the Scan, but not on the Loop."""
    text = """g (float[N, M] x, float[K] w) => (float[M, N] y, float[N, K] z, float[N, 2] v) {
        y, z, v = Scan <num_scan_inputs = 1, scan_output_axes = [1, 0, 0],
            scan_output_directions = [0, 1, 0], body = b (float[M] e)
                => (float[M] r, float[K] q, float[2] p) {
            r = Neg (e) q = Exp (w) p = Constant <value_floats = [1.0, 2.0]> () }> (x) }"""
    converted(text, [{"x": numbers(length, 4), "w": numbers(6)} for length in (0, 1, 3)])


@table(("a", "a"), ("a", "e"), ("e", "e"), ("s2", "r"), ("r", "r"))
def test_outputs_that_are_inputs_of_the_body(given, back):
    """onnxruntime mixes these up where a body does not make a value for each output."""
    text = f"""g (float[3] s, float[N, 3] x) => (float[3] y, float[N, 3] z) {{
        y, z = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] e)
                => (float[3] {back}, float[3] {given}) {{
            r = Add (a, e) s2 = Identity (s) }}> (s, x) }}"""
    model = converted(text)
    for length in (0, 1, 5):
        fed = {"s": numbers(3), "x": numbers(length, 3)}
        assert_equal(run_in_onnxruntime(model, fed), by_reference(as_model(text), fed))


def test_inner_scans_and_what_they_capture():
    text = """g (float[N, M] x, float[M] w) => (float[M] y, float[N] z) <float one = {1.0}> {
        y, z = Scan <num_scan_inputs = 1, body = b (float[M] a, float[M] e)
                => (float[M] r, float q) {
            q, r = Scan <num_scan_inputs = 2, body = h (float t, float u, float v)
                    => (float p, float o) {
                k = Mul (u, v) p = Add (t, k) l = ReduceMax <keepdims = 0> (e)
                o = Add (p, l) }> (one, a, w)
        }> (w, x) }"""
    converted(text, [{"x": numbers(*s), "w": numbers(s[1])} for s in ((1, 1), (4, 3))])


def test_outputs_that_are_omitted():
    text = f"""g (float[3] s, float[N, 3] x) => (float[N, 3] z) {{
        , z = Scan <num_scan_inputs = 1, {BODY}> (s, x) }}"""
    converted(text, [{"s": numbers(3), "x": numbers(length, 3)} for length in (0, 1, 5)])


def test_there_and_back():
    text = f"""g (float[3] s, float[4, 3] x) => (float[3] y, float[4, 3] z) {{
        y, z = Scan <num_scan_inputs = 1, scan_input_directions = [1], {BODY}> (s, x) }}"""
    back = run_passes(converted(text), LoopsToScans()).model
    (scan,) = [node for node in back.graph.node if node.op_type == "Scan"]
    assert [(a.name, list(a.ints)) for a in scan.attribute if a.ints] == [
        ("scan_input_directions", [1])
    ]
    assert [node.op_type for node in scan.attribute[-1].g.node] == ["Add", "Neg"]
    assert_equal_outputs(text, back, {"s": numbers(3), "x": numbers(4, 3)})


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (1, 1), (-1, 0)])
def test_rows_of_strings(axis, backward):
    """onnxruntime's Gather copies the first string of a row alone."""
    text = f"""g (string[4, 4] x) => (string[4, 4] z) {{ z = Scan <num_scan_inputs = 1,
        scan_input_axes = [{axis}], scan_input_directions = [{backward}],
        body = b (string[4] e) => (string[4] r) {{ r = Identity (e) }}> (x) }}"""
    x = np.array([f"{n}" for n in range(16)], object).reshape(4, 4)
    (found,) = run_in_onnxruntime(converted(text), {"x": x})
    rows = np.moveaxis(x, axis, 0)
    np.testing.assert_array_equal(found, rows[::-1] if backward else rows)


def scan(declared, result):
    return f"""g (float[N, 3] x, {declared}) => (float[?, ?] z) {{
        z = Scan <num_scan_inputs = 1, scan_output_directions = [1],
            body = b (float[3] e) => (q) {{ {result} }}> (x) }}"""


@table(
    (8, "z = Scan <num_scan_inputs = 1, body = b (e) => (r) { r = Neg (e) }> (, x)", "opset 8"),
    (9, None, "convert to opset 10"),
    (13, None, "convert to opset 14"),
    (17, "h = NonZero (e) q = Squeeze (h)", "are not known then"),
)
def test_kept_scans_and_their_reasons(opset, text, reason):
    head = HEAD.replace('"" : 17', f'"" : {opset}')
    if opset == 8:
        text = f"g (float[B, N, 3] x) => (float[B, N, 3] z) {{ {text} }}"
    else:
        text = scan("float[K] w", text or "q = Exp (w)")
        text = text.replace("(float[?, ?] z)", "(int64[?, ?] z)") if "NonZero" in text else text
    assert_keeps(ScansToLoops(), head + text, reason)


def test_an_initializer_that_callers_may_override_is_read_at_run_time():
    text = """g (float[N] x) => (float[N] z) <float[2] x = {1, 2}> {
        z = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (x) }"""
    converted(text, [{"x": numbers(length)} for length in (0, 1, 4)])


def test_iterations_without_a_state_and_with_an_unread_element():
    text = """g (float[N] x, float[N] u) => (float[N] z) {
        z = Scan <num_scan_inputs = 2, body = b (float e, float f) => (float r) { r = Neg (e) }>
            (x, u) }"""
    model = converted(text)
    assert list(op_types(model.graph)).count("Gather") == 2  # of the length, and of one element
    assert_equal_outputs(text, model, {"x": numbers(3), "u": np.zeros(3, np.float32)})
