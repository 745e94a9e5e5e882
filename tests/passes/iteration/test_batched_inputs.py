import numpy as np
import pytest
from harness import as_model
from loops import op_types
from vectorized import assert_same, numbers, untyped, vectorized


@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize("maximum", [-2, 0, 3])
def test_how_many_iterations(start, maximum):
    text = """g (int64 n, bool go) => (z) {
        z = Loop (n, go) <body = b (int64 i, bool c) => (bool c2, int64 r) {
            c2 = Identity (c) r = Mul (i, i) }> }"""
    before = untyped(text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph))
    assert_same(before, result.model, {"n": np.array(maximum), "go": np.array(start)})


@pytest.mark.parametrize("maximum", ["int64 n", "int64[1] n", "int64[?] n"])
def test_the_number_of_iterations_changes_rank_in_the_form_that_exporters_write(maximum):
    """Compilers know Unsqueeze and Squeeze of a size; a Reshape is for what has any rank."""
    text = f"""g ({maximum}, float[3] x, bool go) => (float[?, 3] y) {{
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool c2, float[3] r) {{
            c2 = Identity (c) f = Cast <to = 1> (i) r = Add (x, f) }}> }}"""
    before = as_model(text)
    result = vectorized(before)
    assert ("Reshape" in op_types(result.model.graph)) == ("?" in maximum)
    for count, go in ((-1, True), (0, True), (3, True), (3, False)):
        n = np.full(() if maximum == "int64 n" else (1,), count)
        assert_same(before, result.model, {"n": n, "x": numbers(3), "go": np.array(go)})


@pytest.mark.parametrize("backward", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("out", [0, 1, -1])
def test_axes_and_directions_of_a_scan(axis, out, backward):
    text = f"""g (float[A, B] x) => (float[?, ?] z) {{
        z = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_output_axes = [{out}],
            scan_input_directions = [{backward}], scan_output_directions = [{1 - backward}],
            body = f (float[C] e) => (float[C] r) {{
                k = ReduceSum <keepdims = 0> (e) r = Add (e, k) }}> (x) }}"""
    before = as_model(text)
    result = vectorized(before)
    assert "Scan" not in set(op_types(result.model.graph)), result.remarks
    assert_same(before, result.model, {"x": numbers(3, 4)})


def test_constants_around_stay_where_they_are_and_those_inside_come_out():
    """Of the body's own, and of a body inside it."""
    text = """g (float[N, 3] x, bool p) => (float[N, 3] y) <float two = {2}> {
        y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] r) <float three = {3}> {
            f = Mul (e, two) r = If (p) <
                then_branch = t () => (float[3] t1) <float four = {4}> { t1 = Add (f, four) },
                else_branch = u () => (float[3] t2) { t2 = Sub (f, three) }> }> (x) }"""
    before = as_model(text)
    result = vectorized(before)
    assert "Scan" not in op_types(result.model.graph)
    assert [i.name for i in result.model.graph.initializer].count("two") == 1
    assert not any(i.name.startswith("two_") for i in result.model.graph.initializer)
    for p in (True, False):
        assert_same(before, result.model, {"x": numbers(4, 3), "p": np.array(p)})


@pytest.mark.parametrize("maximum", [-3, -1, 0, 2])
def test_a_negative_number_of_iterations_reads_no_rows(maximum):
    """onnxruntime reads a Gather by a Range as a Slice, where -1 is the last row."""
    text = """g (int64 n, float[4, 2] x) => (float[?, 2] y) <bool yes = {1}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2] r) {
            c2 = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
    before = as_model(text)
    made = vectorized(before).model
    assert "Loop" not in set(op_types(made.graph))
    assert_same(before, made, {"n": np.array(maximum), "x": numbers(4, 2)})
