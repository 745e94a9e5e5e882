import numpy as np
import onnx
import pytest
from depth import examples
from harness import (
    as_model,
    assert_equal_outputs,
    assert_keeps,
    assert_rewrites,
    op_types,
    run_passes,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops.builder import Builder
from straightline.passes import Pipeline
from straightline.passes.iteration.loop_view import read_scan
from straightline.passes.scans.shapes import ScanShapes
from straightline.passes.scans.unroll_scans import (
    Rows,
    UnrollScans,
    element_shape,
    slices,
    zeros_of,
)
from strategies import model_and_feeds, scan_8_model_and_feeds
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
HEAD_8 = '<ir_version: 4, opset_import: ["" : 8]>\n'
NEG = """Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }>"""


def test_one_split_and_one_concat():
    assert_rewrites(
        UnrollScans(),
        f"g (float[2] x) => (float[2] y) {{ y = {NEG} (x) }}",
        """g (float[2] x) => (float[2] y) <int64[2] sizes = {1, 1}, int64[1] axes = {0}> {
           x_0, x_1 = Split <axis = 0> (x, sizes)
           x_0_element = Squeeze (x_0, axes)
           x_1_element = Squeeze (x_1, axes)
           r_0 = Neg (x_0_element)
           r_1 = Neg (x_1_element)
           r_0_row = Unsqueeze (r_0, axes)
           r_1_row = Unsqueeze (r_1, axes)
           y = Concat <axis = 0> (r_0_row, r_1_row) }""",
        [{"x": np.array([1, 2], np.float32)}],
    )


@pytest.mark.parametrize("axis", [7, 2, -3])
def test_an_axis_outside_the_rank_is_named(axis):
    scan = NEG.replace("num_scan_inputs", f"scan_input_axes = [{axis}], num_scan_inputs")
    text = f"g (float[2, 3] x) => (float[2] y) {{ y = {scan} (x) }}"
    reason = f"its scan input 'x' has rank 2, which has no axis {axis}, so it fails at run time"
    # onnx's checker refuses such a model, yet there are some.
    result = Pipeline([UnrollScans()]).run(as_model(text))
    assert not result.changed
    assert [remark.reason for remark in result.kept] == [reason]


def test_axes_and_directions():
    assert_rewrites(
        UnrollScans(),
        HEAD.replace("17", "12")
        + """g (float s, float[1,2] x) => (float f, float[1,2] y) {
           f, y = Scan <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [1],
                        scan_input_directions = [1], scan_output_directions = [1],
                        body = b (float a, float[1] e) => (float r, float[1] q) {
              q = Add (a, e)
              r = ReduceSum <keepdims = 0> (q) }> (s, x) }""",
        HEAD.replace("17", "12")
        + """g (float s, float[1,2] x) => (float f, float[1,2] y) {
           x_0, x_1 = Split <axis = -1, split = [1, 1]> (x)
           x_0_element = Squeeze <axes = [-1]> (x_0)
           x_1_element = Squeeze <axes = [-1]> (x_1)
           q_0 = Add (s, x_1_element)
           r_0 = ReduceSum <keepdims = 0> (q_0)
           q_1 = Add (r_0, x_0_element)
           f = ReduceSum <keepdims = 0> (q_1)
           q_0_row = Unsqueeze <axes = [1]> (q_0)
           q_1_row = Unsqueeze <axes = [1]> (q_1)
           y = Concat <axis = 1> (q_1_row, q_0_row) }""",
        [{"s": np.array(5, np.float32), "x": np.array([[1, 2]], np.float32)}],
    )


def test_short_rows_of_a_batch_are_filled_up():
    assert_rewrites(
        UnrollScans(),
        HEAD_8
        + f"""g (float[2,3] x) => (float[2,3] y) <int64[2] n = {{1, 2}}> {{
           y = {NEG.replace("1,", "1, directions = [1],")} (n, x) }}""",
        HEAD_8
        + """g (float[2,3] x) => (float[2,3] y)
        <int64[2] n = {1, 2}, float[1,2] zeros = {0, 0}, float[1,1] zeros_1 = {0}> {
           x_0, x_1 = Split <axis = 0, split = [1, 1]> (x)
           x_0_0, x_0_rest = Split <axis = 1, split = [1, 2]> (x_0)
           x_0_0_element = Squeeze <axes = [0, 1]> (x_0_0)
           x_1_0, x_1_1, x_1_rest = Split <axis = 1, split = [1, 1, 1]> (x_1)
           x_1_0_element = Squeeze <axes = [0, 1]> (x_1_0)
           x_1_1_element = Squeeze <axes = [0, 1]> (x_1_1)
           r_0_0 = Neg (x_0_0_element)
           r_1_0 = Neg (x_1_1_element)
           r_1_1 = Neg (x_1_0_element)
           r_0_0_row = Unsqueeze <axes = [0, 1]> (r_0_0)
           r_1_0_row = Unsqueeze <axes = [0, 1]> (r_1_0)
           r_1_1_row = Unsqueeze <axes = [0, 1]> (r_1_1)
           y_0 = Concat <axis = 1> (r_0_0_row, zeros)
           y_1 = Concat <axis = 1> (r_1_0_row, r_1_1_row, zeros_1)
           y = Concat <axis = 0> (y_0, y_1) }""",
        [{"x": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}],
    )


@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["", ", directions = [0, 1]", ", directions = [1, 0]"]),
    st.sampled_from(["k", "2"]),
    st.data(),
)
@settings(max_examples=examples(15), deadline=None)
def test_any_batch_length_and_direction(batch, longest, directions, size, data):
    lengths = data.draw(st.lists(st.integers(0, longest), min_size=batch, max_size=batch))
    if not any(lengths):
        lengths[-1] = longest
    text = f"""{HEAD_8} g (float[{batch},{size}] s, float[{batch},{longest},{size}] x)
        => (float[{batch},{size}] f, float[{batch},{longest},{size}] y, float[{batch},{longest}] z)
        <int64[{batch}] n = {{{", ".join(map(str, lengths))}}}> {{
      f, y, z = Scan <num_scan_inputs = 2 {directions},
        body = b (float[{size}] a, float[{size}] e, float[{size}] h)
          => (float[{size}] r, float[{size}] v, float m)
        {{ p = Sub (e, h)  r = Add (a, p)  v = Neg (r)
           m = ReduceSum <axes = [0], keepdims = 0> (r) }}>
        ({data.draw(st.sampled_from(["n", '""']))}, s, x, x) }}"""
    feeds = {
        "s": np.arange(2 * batch, dtype=np.float32).reshape(batch, 2),
        "x": np.arange(2 * batch * longest, dtype=np.float32).reshape(batch, longest, 2) ** 2,
    }
    result = run_passes(text, UnrollScans(), feeds=[feeds])
    assert scans_in(result.model) == 0


@given(st.one_of(model_and_feeds(static_only=True), scan_8_model_and_feeds(static_only=True)))
@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
def test_random_models(drawn):
    before, feeds = drawn
    assert_equal_outputs(before, run_passes(before, UnrollScans()).model, feeds)


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 25])
def test_every_form_of_split(opset):
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> g (float[3] x) => (float[3] y)'
    text += f" {{ y = {NEG} (x) }}"
    result = run_passes(text, UnrollScans(), feeds=[{"x": np.array([1, 2, 3], np.float32)}])
    operators = op_types(result.model)
    assert operators.count("Split") == operators.count("Concat") == 1


def scans_in(model):
    return sum(node.op_type == "Scan" for node in model.graph.node)


def test_one_iteration_needs_neither_split_nor_concat():
    text = f"g (float[1] x) => (float[1] y) {{ y = {NEG} (x) }}"
    result = run_passes(text, UnrollScans(), feeds=[{"x": np.array([3], np.float32)}])
    assert op_types(result.model) == ["Squeeze", "Neg", "Unsqueeze"]


def test_an_element_that_nothing_reads_is_not_cut_out():
    text = """g (float s, float[3] x) => (float f) {
          f = Scan <num_scan_inputs = 1, body = b (float a, float e) => (float r) {
            r = Neg (a) }> (s, x) }"""
    assert op_types(run_passes(text, UnrollScans()).model) == ["Neg"] * 3


def test_no_iterations_give_the_states_and_nothing_collected():
    text = """g (float[2] s, float[2,0] x) => (float[2] f, float[2,0] y) {
          f, y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
             body = b (float[2] a, float[2] e) => (float[2] r, float[2] q) {
               r = Add (a, e) q = Neg (r) }> (s, x) }"""
    assert_rewrites(
        UnrollScans(),
        text,
        """g (float[2] s, float[2,0] x) => (float[2] f, float[2,0] y) <float[2,0] y = {}> {
          f = Identity (s) }""",
        [{"s": np.ones(2, np.float32), "x": np.empty((2, 0), np.float32)}],
    )


def test_no_iterations_in_opset_8():
    text = (
        HEAD_8
        + """g (float[2] s, float[2,3] x) => (float[2] f, float[2,3,2] y) <int64[2] n = {0, 0}> {
          f, y = Scan <num_scan_inputs = 1, body = b (float a, float e) => (float r, float[2] q) {
               r = Add (a, e)
               u = Unsqueeze <axes = [0]> (r)
               q = Concat <axis = 0> (u, u) }> (n, s, x) }"""
    )
    result = run_passes(text, UnrollScans())
    feeds = {"s": np.ones(2, np.float32), "x": np.ones((2, 3), np.float32)}
    assert scans_in(result.model) == 0
    assert_equal_outputs(text, result.model, feeds)


def test_inner_scans_are_unrolled_too():
    text = """g (float[2,3] x) => (float[2,3] y) {
          y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] v) {
            v = Scan <num_scan_inputs = 1, scan_input_directions = [1],
               body = c (float a) => (float r) { r = Neg (a) }> (e) }> (x) }"""
    result = run_passes(
        text, UnrollScans(), feeds=[{"x": np.arange(6, dtype=np.float32).reshape(2, 3)}]
    )
    assert scans_in(result.model) == 0


def test_constants_are_folded_on_the_way():
    text = f"g (float x) => (float[2] y) <float[2] c = {{1, 2}}> {{ y = {NEG} (c) }}"
    result = run_passes(text, UnrollScans(), feeds=[{"x": np.array(0, np.float32)}])
    assert not result.model.graph.node


@table(
    ({"max_trips": 2}, "its 3 iterations are more than max_trips=2 allows"),
    ({"max_nodes": 5}, "over max_nodes=5; raise it with --max-nodes"),
)
def test_budgets(options, reason):
    text = f"g (float[3] x) => (float[3] y) {{ y = {NEG} (x) }}"
    assert_keeps(UnrollScans(**options), text, reason)


@table(
    ("g (float[t] x) => (float[t] y) { y = NEG (x) }", HEAD,
     "its length depends on the shape of input 'x'; decide it with --shape x=..."),
    ("g (float[b,2] x) => (float[b,2] y) { y = NEG (, x) }", HEAD_8,
     "its batch depends on the shape of input 'x'; decide it with --shape x=..."),
    ("g (int64[2] n, float[2,2] x) => (float[2,2] y) { y = NEG (n, x) }", HEAD_8,
     "the lengths of its rows depend on input 'n'"),
    ("g (float[1,2] x) => (float[1,2] y) <int64[1] n = {3}> { y = NEG (n, x) }", HEAD_8,
     "its sequence_lens [3] do not fit 1 rows of length 2, so it fails at run time"))  # fmt: skip
def test_kept_scans_and_their_reasons(text, head, reason):
    assert_keeps(UnrollScans(), head + text.replace("NEG", NEG), reason)


def test_random_operators_are_kept():
    text = f"g (float[2] x) => (float[2] y) {{ y = {NEG} (x) }}"
    assert_keeps(UnrollScans(), text.replace("Neg", "RandomUniformLike"), "draws random numbers")


def test_a_size_that_varies_is_computed_for_the_zeros():
    text = (
        HEAD_8
        + """g (float[2,3,k] x) => (float[2,3,d] y) <int64[2] n = {0, 2}> {
          y = Scan <num_scan_inputs = 1, body = b (float[k] e) => (float[d] r) {
            r = Concat <axis = 0> (e, e) }> (n, x) }"""
    )
    result = run_passes(text, UnrollScans())
    assert "Expand" in op_types(result.model)
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert_equal_outputs(text, result.model, {"x": x})


def test_strings_are_filled_up_with_empty_ones():
    text = (
        HEAD_8
        + """g (string[1,3] x) => (string[1,3] y) <int64[1] n = {2}> {
          y = Scan <num_scan_inputs = 1, body = b (string e) => (string r) {
            r = Identity (e) }> (n, x) }"""
    )
    result = run_passes(text, UnrollScans())
    onnx.checker.check_model(result.model)
    x = np.array([["a", "b", "c"]], dtype=object)
    assert reference.run(result.model, {"x": x})[0].tolist() == [["a", "b", ""]]


@pytest.mark.parametrize("length", [1, 2])
def test_copies_that_load_slower_are_not_made_where_costs_count(length):
    text = f"g (float[{length}] x) => (float[{length}] y) {{ y = {NEG} (x) }}"
    assert run_passes(text, UnrollScans(costs="onnxruntime")).changed == (length == 1)
    assert run_passes(text, UnrollScans()).changed


def scan_of(attributes, signature, version=9, used="e", body="float[3] a, float[2] e", lens=""):
    model = ir.load(
        as_model(f"""<ir_version: 8, opset_import: ["" : {version}]> g ({signature}) => (y, z) {{
            y, z = Scan <num_scan_inputs = 1{attributes}, body = b ({body}) => (float[3] a2, r) {{
                a2 = Identity (a) r = Neg ({used})
            }}> ({lens} s, x) }}""")
    )
    (node,) = model.graph.nodes()
    return model, read_scan(node, version), ScanShapes(node, version, ShapeInference(model))


def rows_of(model, scan, shapes, lengths):
    return Rows(scan, shapes, lengths, 4, ir.Template(scan.body, model.graph))


def run(model, values, **feeds):
    infos = [onnx.helper.make_tensor_value_info(v.name, 1, None) for v in values]
    model.graph.set_outputs(values, infos)
    return reference.run(ir.to_proto(model), feeds)


S, X = np.arange(3, dtype=np.float32), np.arange(8, dtype=np.float32).reshape(4, 2)
S8 = np.arange(6, dtype=np.float32).reshape(2, 3)
X8 = np.arange(16, dtype=np.float32).reshape(2, 4, 2)


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_elements_in_the_order_of_the_iterations(axis, backward):
    attributes = f", scan_input_axes = [{axis}], scan_input_directions = [{backward}]"
    dims = "float[4,2]" if axis == 0 else "float[2,4]"
    model, scan, shapes = scan_of(attributes, f"float[3] s, {dims} x")
    parts, emitter = rows_of(model, scan, shapes, [4]), Builder(model.graph)
    assert parts.states(emitter) == [list(scan.states)]
    (iterations,) = parts.elements(emitter)
    x = X if axis == 0 else X.T
    results = run(model, [value for (value,) in iterations], s=S, x=x)
    np.testing.assert_array_equal(results, X[::-1] if backward else X)


def test_rows_of_a_batch_end_where_their_lengths_say():
    signature = "float[2,3] s, float[2,4,2] x"
    model, scan, shapes = scan_of(", directions = [1]", signature, version=8, lens=",")
    parts, emitter = rows_of(model, scan, shapes, [4, 1]), Builder(model.graph)
    states, rows = parts.states(emitter), parts.elements(emitter)
    assert [len(row) for row in rows] == [4, 1]
    values = [value for (value,) in (*rows[0], *rows[1])]
    results = run(model, [*(s for (s,) in states), *values], s=S8, x=X8)
    np.testing.assert_array_equal(results[:2], S8)
    np.testing.assert_array_equal(results[2:6], X8[0][::-1])
    np.testing.assert_array_equal(results[6], X8[1, 0])


def test_unread_elements_are_not_emitted():
    model, scan, shapes = scan_of("", "float[3] s, float[4,2] x", used="a")
    parts, emitter = rows_of(model, scan, shapes, [4]), Builder(model.graph)
    assert parts.elements(emitter) == [[[None]] * 4]
    assert len(model.graph) == 1


def test_one_slice_is_the_value_itself():
    model, scan, _ = scan_of("", "float[3] s, float[4,2] x")
    emitter, x = Builder(model.graph), scan.scan_inputs[0]
    assert slices(emitter, x, 1, 0) == [x]
    assert len(slices(emitter, x, 1, 0, rest=3)) == 1
    assert len(slices(emitter, x, 2, 0, rest=2)) == 2


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (0, 1), (1, 0), (-1, 1)])
def test_outputs_are_put_together_along_their_axis(axis, backward):
    attributes = f", scan_output_axes = [{axis}], scan_output_directions = [{backward}]"
    model, scan, shapes = scan_of(attributes, "float[3] s, float[4,2] x", version=11)
    parts, emitter = rows_of(model, scan, shapes, [4]), Builder(model.graph)
    (iterations,) = parts.elements(emitter)
    (results,) = run(model, [parts.stack(emitter, 0, [[v for (v,) in iterations]], "r")], s=S, x=X)
    np.testing.assert_array_equal(results, np.stack(X[::-1] if backward else X, axis))


@pytest.mark.parametrize("inner", ["float[2] e", "e"])
def test_short_rows_end_in_zeros(inner):
    """Of a known shape, or of that which another element has at run time."""
    signature = "float[2,3] s, float[2,4,2] x" if inner != "e" else "float[2,3] s, float[2,4,K] x"
    model, scan, shapes = scan_of("", signature, version=8, lens=",", body=f"float[3] a, {inner}")
    assert (element_shape(shapes, 0) == (2,)) == (inner != "e")
    parts, emitter = rows_of(model, scan, shapes, [2, 4]), Builder(model.graph)
    rows = parts.elements(emitter)
    joined = parts.stack(emitter, 0, [[v for (v,) in row] for row in rows], "r")
    (results,) = run(model, [joined], s=S8, x=X8)
    expected = X8.copy()
    expected[0, 2:] = 0
    np.testing.assert_array_equal(results, expected)


def test_zeros_are_of_the_type_of_the_output():
    _, _, shapes = scan_of("", "float[3] s, float[4,2] x")
    zeros = zeros_of(shapes, 0, (1, 2))
    assert (zeros.dtype, zeros.shape, zeros.any()) == (np.float32, (1, 2), False)
