import numpy as np
import onnx
from conversions import assert_converts, convert_version
from depth import examples
from harness import as_model, assert_equal_outputs
from hypothesis import given, settings
from hypothesis import strategies as st
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.version_converter.scans import Crossing

HEAD = '<ir_version: 4, opset_import: ["" : 9]>\n'
HEAD_8 = HEAD.replace("9", "8").replace("4", "3")
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
FORWARD = """g (float[t] x) => (float[t] y) {
   y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (x) }"""


def to_8(source):
    return convert_version(as_model(source), 8)


def test_a_batch_of_1_is_put_on():
    assert_converts(
        8,
        HEAD + FORWARD,
        HEAD_8
        + """g (float[t] x) => (float[t] y) {
           x_batch = Unsqueeze <axes = [0]> (x)
           y_batch = Scan <num_scan_inputs = 1,
              body = b (float e) => (float r) { r = Neg (e) }> ("", x_batch)
           y = Squeeze <axes = [0]> (y_batch) }""",
        [{"x": X[0]}],
    )


def test_axes_are_transposed_and_a_backward_output_is_reversed():
    assert_converts(
        8,
        HEAD
        + """g (float[2,t] x) => (float[2,t] y) {
           y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
                     scan_input_directions = [1], scan_output_directions = [1],
                     body = b (float[2] e) => (float[2] r) { r = Neg (e) }> (x) }""",
        HEAD_8
        + """g (float[2,t] x) => (float[2,t] y) {
           x_first = Transpose <perm = [1, 0]> (x)
           x_batch = Unsqueeze <axes = [0]> (x_first)
           y_batch = Scan <num_scan_inputs = 1, directions = [1],
              body = b (float[2] e) => (float[2] r) { r = Neg (e) }> ("", x_batch)
           y_batch_reversed = Scan <num_scan_inputs = 1, directions = [1],
              body = reverse (element) => (float[2] same) { same = Identity (element) }>
              ("", y_batch)
           y_1 = Squeeze <axes = [0]> (y_batch_reversed)
           y = Transpose <perm = [1, 0]> (y_1) }""",
        [{"x": X}],
    )


def inserted(shape, axis, size):
    return [*shape[:axis], size, *shape[axis:]]


@st.composite
def scans(draw, opset):
    """A Scan over computed inputs, with any axes and directions."""
    length = draw(st.integers(1, 4))
    axes = [draw(st.integers(0, 2)), draw(st.integers(0, 2))]
    out_axes = [draw(st.integers(0, 2)), draw(st.integers(0, 1))]
    flags = [[draw(st.integers(0, 1)) for _ in range(2)] for _ in range(2)]
    symbolic = draw(st.booleans())
    t, k = ("t", "k") if symbolic else (length, 2)
    x, u = (str(inserted([k, 4], axis, t)).replace("'", "") for axis in axes)
    y, z = (
        str(inserted(element, axis, t)).replace("'", "")
        for element, axis in zip(([k, 4], [k]), out_axes, strict=True)
    )
    below = opset >= 11 and draw(st.booleans())
    written = [a - 3 if below else a for a in axes]
    out_written = [out_axes[0] - 3 if below else out_axes[0], out_axes[1]]
    text = f"""<ir_version: 4, opset_import: ["" : {opset}]>
      g (float[{k},4] s, float{x} x, float{u} u) => (float[{k},4] f, float{y} y, float{z} z) {{
        n = Neg (x)
        f, y, z = Scan <num_scan_inputs = 2, scan_input_axes = {written},
            scan_output_axes = {out_written}, scan_input_directions = {flags[0]},
            scan_output_directions = {flags[1]},
            body = b (float[{k},4] a, float[{k},4] e, float[{k},4] h)
                => (float[{k},4] r, float[{k},4] v, float[{k}] m) {{
          d = Sub (e, h)
          r = Add (a, d)
          v = Mul (r, s)
          m = ReduceSum <axes = [1], keepdims = 0> (r) }}> (s, n, u) }}"""
    random = np.random.default_rng(draw(st.integers(0, 99)))
    shapes = {"s": [2, 4], "x": inserted([2, 4], axes[0], length)}
    shapes["u"] = inserted([2, 4], axes[1], length)
    feeds = {
        name: random.integers(-3, 4, shape).astype(np.float32) for name, shape in shapes.items()
    }
    return text, feeds


@given(scans(9))
@settings(max_examples=examples(15), deadline=None)
def test_any_axes_and_directions_there_and_back(drawn):
    text, feeds = drawn
    result = to_8(text)
    assert_equal_outputs(text, result, feeds)
    back = convert_version(result, 9)
    assert_equal_outputs(text, back, feeds)
    scans = [node for node in back.graph.node if node.op_type == "Scan"]
    inner = [n.op_type for s in scans for a in s.attribute for n in a.g.node]
    assert "Scan" not in inner, "the batch is known to be 1"


@given(scans(11))
@settings(max_examples=examples(12), deadline=None)
def test_axes_counted_from_the_end(drawn):
    text, feeds = drawn
    model = ir.parse(text)
    assert all(reason is None for *_, reason, _ in Crossing(model, 9, ShapeInference(model)).run())
    model.opset_imports[""] = 8
    ir.verify(model)
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    assert_equal_outputs(text, proto, feeds)


def test_no_states_and_omitted_outputs():
    text = (
        HEAD
        + """g (float s, float[2,t] x) => (float f, float[t,2] y) {
          f = Scan <num_scan_inputs = 1, scan_input_axes = [1], body = b (float a, float[2] e)
             => (float r) { m = ReduceSum <keepdims = 0> (e) r = Add (a, m) }> (s, x)
          unused, y = Scan <num_scan_inputs = 1, scan_input_axes = [1],
             scan_output_directions = [1, 0],
             body = c (float[2] e) => (float[2] r, float[2] v) { r = Exp (e) v = Neg (e) }> (x) }"""
    )
    result = to_8(text)
    assert_equal_outputs(text, result, {"s": np.array(1, np.float32), "x": X})


def test_a_scan_inside_a_scan_and_captures():
    text = (
        HEAD
        + """g (float[t,2,3] x, float[3] k) => (float[2,t,3] y) {
          y = Scan <num_scan_inputs = 1, scan_output_axes = [1],
              body = b (float[2,3] e) => (float[2,3] v) {
            v = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
                      scan_output_directions = [1], body = c (float[2] a) => (float[2] r) {
              m = ReduceSum <keepdims = 0> (k)
              q = Mul (a, m)
              r = Neg (q) }> (e) }> (x) }"""
    )
    result = to_8(text)
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    assert_equal_outputs(text, result, {"x": x, "k": np.ones(3, np.float32)})


def test_no_iterations():
    result = to_8(HEAD + FORWARD)
    (y,) = reference.run(result, {"x": np.empty(0, np.float32)})
    assert y.shape == (0,)


def test_an_unknown_rank_is_refused():
    text = """<ir_version: 8, opset_import: ["" : 9, "other" : 1]>
      g (float[2,t] x) => (float[t,2] y) {
        u = other.op (x)
        y = Scan <num_scan_inputs = 1, scan_input_axes = [1],
           body = b (e) => (float[2] r) { r = Neg (e) }> (u) }"""
    model = ir.parse(text)
    (_, node) = model.graph.nodes()
    obstacle = Crossing(model, 9, ShapeInference(model)).obstacle(node)
    assert "moving axis 1 of 'u' there needs its rank" in (obstacle or "")
    assert [node.op_type for node in to_8(text).graph.node][-1] == "Loop"


def test_a_type_that_opset_8_lacks_is_refused():
    model = ir.parse(
        """<ir_version: 8, opset_import: ["" : 16]> g (bfloat16[t] x) => (bfloat16[t] y) {
        y = Scan <num_scan_inputs = 1,
           body = b (bfloat16 e) => (bfloat16 r) { r = Identity (e) }> (x) }"""
    )
    (node,) = model.graph.nodes()
    obstacle = Crossing(model, 9, ShapeInference(model)).obstacle(node)
    assert "'x' is of type bfloat16" in (obstacle or "")
