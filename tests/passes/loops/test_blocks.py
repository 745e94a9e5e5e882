import numpy as np
import pytest
from depth import examples
from harness import HEAD, as_model, run_in_onnxruntime, run_passes
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loops import op_types
from row_pairs import MANY, PAIRS, pairs
from straightline import reference
from straightline.passes import BlockLoops
from tables import table
from vectorized import numbers


def assert_same(before, after, feed, exact=True):
    expected = reference.run(as_model(before), dict(feed))
    for run in (reference.run, run_in_onnxruntime):
        for one, other in zip(run(as_model(after), dict(feed)), expected, strict=True):
            assert one.shape == other.shape and one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=0 if exact else 1e-5, atol=1e-6)


@pytest.mark.sample(8)
@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 9, 21])
def test_rows_of_open_size(length, opset):
    text = HEAD.replace('"" : 17', f'"" : {opset}') + PAIRS
    result = run_passes(text, MANY)
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    assert "Gather" in [node.op_type for node in loop.attribute[0].g.node]
    for feed in (pairs(length), pairs(length, 40), pairs(length, 3, 1)):
        assert_same(text, result.model, feed)


@table(
    ("r = Add (w, e)", "float[2, 3]"),
    ("r = Add (w, e)", "float[2, ?]"),
    ("f = Add (w, e) r = Identity (w)", "float[2, 3]"),
    ("j = Cast <to = 1> (i) r = Mul (w, j)", "float[2, 3]"),
    ("f = Add (w, e) t = Transpose (f) r = MatMul (f, t)", "float[2, 2]"),
)
def test_iterations_by_number(body, type_):
    rows = """g (float[N, 3] x, float[2, 3] w, int64 n, bool go) => (y) {
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool c2, TYPE r) {
            c2 = Identity (c) e = Gather (x, i) BODY }> }"""
    text = rows.replace("TYPE", type_).replace("BODY", body)
    shape = type_.replace("[", "[N, ")
    before = as_model(text.replace("=> (y)", f"=> ({shape.replace('?', 'K')} y)"))
    result = run_passes(before, MANY)
    assert result.changed, result.remarks
    for n, go in ((0, True), (-3, True), (5, False), (1, True), (4, True), (5, True), (10, True)):
        feed = {"x": numbers(10, 3), "w": numbers(2, 3), "n": np.array(n), "go": np.array(go)}
        assert_same(before, result.model, feed, exact="MatMul" not in text)


@pytest.mark.parametrize("back", [0, 1])
def test_a_scan_of_any_axis_and_direction(back):
    text = f"""g (float[3, N] x, float[N, 3] z, float[2, 3] w) => (float[2, N, 3] y, float[N] q) {{
        y, q = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0],
            scan_input_directions = [{back}, 0], scan_output_axes = [1, 0],
            scan_output_directions = [0, {back}], body = b (float[3] e, float[3] f)
            => (float[2, 3] r, float p) {{
            g = Sub (e, f) r = Add (w, g) p = ReduceMax <keepdims = 0> (g) }}> (x, z) }}"""
    result = run_passes(text, MANY)
    assert "Loop" in op_types(result.model.graph)
    for n in (1, 4, 5, 9):
        assert_same(
            text, result.model, {"x": numbers(3, n), "z": numbers(n, 3), "w": numbers(2, 3)}
        )


def test_an_inner_loop_runs_for_a_block():
    text = """g (float[N, 3] x, float[2, 3] w, int64 n) => (float[N, 3] y) <bool yes = {1}> {
        y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] r) {
            r = Loop (n, yes, e) <body = d (int64 j, bool c, float[3] a) => (bool c2, float[3] t) {
                c2 = Identity (c) s = Add (w, a) t = ReduceMax <axes = [0], keepdims = 0> (s) }>
        }> (x) }"""
    result = run_passes(text, MANY)
    assert result.changed
    feed = {"x": numbers(6, 3), "w": numbers(2, 3), "n": np.array(3)}
    assert_same(text, result.model, feed)


STEPS = (
    "{0} = Add ({1}, {2})",
    "{0} = Max ({1}, {2})",
    "{0} = Gather (x, i)",
    "{0}j = Sub (four, i) {0} = Gather (x, {0}j)",
    "{0}m = Mod (i, two) {0}p = Equal ({0}m, two) {0} = If ({0}p) <then_branch = {0}t ()"
    " => (float[3] {0}a) {{ {0}a = Neg ({1}) }}, else_branch = {0}e () => (float[3] {0}b)"
    " {{ {0}b = Abs ({2}) }}>",
    "{0} = Loop (two, yes, {1}) <body = {0}l (int64 {0}i, bool {0}c, float[3] {0}s)"
    " => (bool {0}d, float[3] {0}r) {{ {0}d = Identity ({0}c) {0}r = Add ({0}s, {2}) }}>",
)


@settings(max_examples=examples(8), phases=[Phase.generate], deadline=None)
@given(st.data())
def test_random_bodies(data):
    rows, lines = ["y", "e"], []
    for number, step in enumerate(data.draw(st.lists(st.sampled_from(STEPS), max_size=6))):
        chosen = [data.draw(st.sampled_from(rows)) for _ in range(2)]
        lines.append(step.format(f"v{number}", *chosen))
        rows.append(f"v{number}")
    text = f"""g (float[5, 3] x, float[3] y, int64 n) => (float[M, 3] z)
        <bool yes = {{1}}, int64 four = {{4}}, int64 two = {{2}}> {{
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {{
            c2 = Identity (c) e = Gather (x, i) {" ".join(lines)} r = Neg ({rows[-1]}) }}> }}"""
    model = as_model(text)
    result = run_passes(model, BlockLoops(block_bytes=48))
    assert result.changed, result.remarks
    for n in (0, 1, 2, 5):
        feed = {"x": numbers(5, 3), "y": numbers(3), "n": np.array(n)}
        assert_same(model, result.model, feed)
