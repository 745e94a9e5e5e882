import itertools

import numpy as np
import onnx
import pytest
from conversions import assert_converts, convert_version
from depth import examples
from harness import as_model, assert_equal_outputs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.version_converter.scans import Crossing
from strategies import scan_8_model_and_feeds

HEAD = '<ir_version: 4, opset_import: ["" : 8]>\n'
HEAD_9 = HEAD.replace("8", "9")
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def to_9(source):
    return convert_version(as_model(source), 9)


def test_a_batch_of_1_is_dropped_and_put_back():
    assert_converts(
        9,
        HEAD
        + """g (float[1] s, float[1,t] x) => (float[1] f, float[1,t] y) {
           f, y = Scan <num_scan_inputs = 1, directions = [1],
              body = b (float a, float e) => (float r, float q) { r = Add (a, e)  q = Neg (r) }>
              (, s, x) }""",
        HEAD_9
        + """g (float[1] s, float[1,t] x) => (float[1] f, float[1,t] y) {
           s_row = Squeeze <axes = [0]> (s)
           x_row = Squeeze <axes = [0]> (x)
           f_row, y_row = Scan <num_scan_inputs = 1, scan_input_directions = [1],
              body = b (float a, float e) => (float r, float q) { r = Add (a, e)  q = Neg (r) }>
              (s_row, x_row)
           f = Unsqueeze <axes = [0]> (f_row)
           y = Unsqueeze <axes = [0]> (y_row) }""",
        [{"s": np.array([7], np.float32), "x": X[:1]}],
    )


@pytest.mark.parametrize("lengths", ["", "n"])
def test_a_batch_becomes_a_scan_around_the_scan(lengths):
    # Constant lengths that are those of full rows mean the same as none.
    assert_converts(
        9,
        HEAD
        + f"""g (float[2,3] x) => (float[2,3] y) {"<int64[2] n = {3, 3}>" if lengths else ""} {{
           y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) {{ r = Neg (e) }}>
              ({lengths}, x) }}""",
        HEAD_9
        + """g (float[2,3] x) => (float[2,3] y) {
           y = Scan <num_scan_inputs = 1, body = b_row (float[3] x_row) => (float[3] y_row) {
              y_row = Scan <num_scan_inputs = 1,
                 body = b (float e) => (float r) { r = Neg (e) }> (x_row)
           }> (x) }""",
        [{"x": X}],
    )


def test_a_row_is_cut_to_its_length_and_filled_up_with_zeros():
    assert_converts(
        9,
        HEAD
        + """g (float[2,3] x) => (float[2,3] y) <int64[2] n = {1, 2}> {
           y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (n, x)
        }""",
        HEAD_9
        + """g (float[2,3] x) => (float[2,3] y)
        <int64[2] n = {1, 2}, int64[1] longest = {3}> {
           y = Scan <num_scan_inputs = 2,
                     body = b_row (int64 n_row, float[3] x_row) => (float[3] y_row_padded) {
              n_length = Unsqueeze <axes = [0]> (n_row)
              n_length_ones = ConstantOfShape <value = int64[1] {1}> (n_length)
              n_length_rows = NonZero (n_length_ones)
              n_length_indices = Squeeze <axes = [0]> (n_length_rows)
              x_row_valid = Gather <axis = 0> (x_row, n_length_indices)
              y_row = Scan <num_scan_inputs = 1,
                 body = b (float e) => (float r) { r = Neg (e) }> (x_row_valid)
              n_length_missing = Sub (longest, n_length)
              y_row_rest = ConstantOfShape <value = float[1] {0}> (n_length_missing)
              y_row_padded = Concat <axis = 0> (y_row, y_row_rest)
           }> (n, x) }""",
        [{"x": X}],
    )


def rnn(batch="b", length="t", size="2", lengths="", directions=""):
    """Two scan inputs, a state, captured `w`, and an initializer in the body."""
    return f"""{HEAD} g (int64[{batch}] n, float[{batch},{size}] s,
             float[{batch},{length},{size}] x, float[{size}] w)
        => (float[{batch},{size}] f, float[{batch},{length},{size}] y, float[{batch},{length}] z) {{
      u = Neg (x)
      f, y, z = Scan <num_scan_inputs = 2 {directions},
        body = b (float[{size}] a, float[{size}] e, float[{size}] h)
          => (float[{size}] r, float[{size}] v, float m) <float two = {{2}}>
        {{ q = Mul (h, two)  p = Sub (e, q)  r = Add (a, p)  v = Mul (r, w)
           m = ReduceSum <axes = [0], keepdims = 0> (r) }}> ({lengths}, s, x, u) }}"""


def rnn_feeds(lengths, longest):
    batch = len(lengths)
    return {
        "n": np.array(lengths, np.int64),
        "s": np.arange(2 * batch, dtype=np.float32).reshape(batch, 2),
        "x": 1 + np.arange(2 * batch * longest, dtype=np.float32).reshape(batch, longest, 2) ** 2,
        "w": np.array([3, -1], np.float32),
    }


@given(st.data())
@settings(max_examples=examples(8), deadline=None)
def test_any_batch_length_and_direction(data):
    longest = data.draw(st.integers(1, 4))
    lengths = data.draw(st.lists(st.integers(0, longest), min_size=1, max_size=3))
    if not any(lengths):
        lengths[0] = longest
    given_lengths = data.draw(st.booleans())
    text = rnn(
        data.draw(st.sampled_from(["b", str(len(lengths))])),
        data.draw(st.sampled_from(["t", str(longest)])),
        data.draw(st.sampled_from(["k", "2"])),
        "n" if given_lengths else "",
        data.draw(st.sampled_from(["", ", directions = [0, 1]", ", directions = [1, 0]"])),
    )
    feeds = rnn_feeds(lengths, longest)
    result = to_9(text)
    assert_equal_outputs(text, result, feeds)
    if not given_lengths:  # ConstantOfShape does not exist in opset 8
        assert_equal_outputs(text, convert_version(result, 8), feeds)


@given(scan_8_model_and_feeds())
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
def test_random_models(drawn):
    before, feeds = drawn
    assert_equal_outputs(before, to_9(before), feeds)


def test_a_backward_row_starts_at_its_last_valid_element():
    text = (
        HEAD
        + """g (int64[2] n, float[2,3] x) => (float[2,3] y) {
          y = Scan <num_scan_inputs = 1, directions = [1],
             body = b (float e) => (float r) { r = Neg (e) }> (n, x) }"""
    )
    result = to_9(text)
    for lengths in itertools.product(range(4), range(1, 4)):
        assert_equal_outputs(text, result, {"n": np.array(lengths), "x": X})


def test_lengths_of_a_batch_of_1_need_no_scan_around_the_scan():
    text = rnn("1", lengths="n")
    result = to_9(text)
    assert result.graph.node[-4].op_type == "If"
    for length in (0, 1, 3):
        if length:
            assert_equal_outputs(text, result, rnn_feeds([length], 3))


def test_no_states_no_scan_outputs_and_omitted_outputs():
    text = (
        HEAD
        + """g (int64[b] n, float[b] s, float[b,3] x) => (float[b] f, float[b,3] y) {
          f = Scan <num_scan_inputs = 1,
             body = b (float a, float e) => (float r) { r = Add (a, e) }> (n, s, x)
          unused, y = Scan <num_scan_inputs = 1,
             body = c (float e) => (float r, float v) { r = Exp (e) v = Neg (e) }> (n, x) }"""
    )
    result = to_9(text)
    feeds = {"n": np.array([0, 2]), "s": np.ones(2, np.float32), "x": X}
    assert_equal_outputs(text, result, feeds)


def inner(lengths, state="z"):
    return f"""v, w = Scan <num_scan_inputs = 1, directions = [1],
             body = c (float[3] a, float[3] h) => (float[3] r, float[3] q) {{
               r = Add (a, h) q = Mul (r, k) }}> ({lengths}, {state}, i)"""


@pytest.mark.parametrize("lengths", ["", "m"])
def test_a_scan_inside_a_scan(lengths):
    text = (
        HEAD
        + f"""g (int64[2] m, float[2,4,2,3] x, float[2,3] z, float[3] k)
            => (float[2,4,2,3] y, float[2,4,2,2,3] u) {{
          y, u = Scan <num_scan_inputs = 1,
              body = b (float[2,3] e) => (float[2,3] v, float[2,2,3] w) {{
            e3 = Unsqueeze <axes = [1]> (e)
            e4 = Neg (e3)
            i = Concat <axis = 1> (e3, e4)
            {inner(lengths)} }}> (, x) }}"""
    )
    check_nested(text, {"x": ints(2, 4, 2, 3), "z": ints(2, 3), "k": ints(3), "m": [2, 1]})


@pytest.mark.parametrize("lengths", ["", "m"])
def test_a_scan_inside_loop_and_if(lengths):
    text = (
        HEAD
        + f"""g (int64[2] m, float[2,4,3] i, float[2,3] z, float[3] k, int64 n, bool yes)
            => (float[2,3] y, float[d,2,4,3] u) {{
          y, u = Loop (n, , z) <body = l (int64 t, bool go, float[2,3] o)
              => (bool go, float[2,3] v1, float[2,4,3] w1) {{
            v1, w1 = If (yes) <
              then_branch = a () => (float[2,3] v, float[2,4,3] w) {{
                {inner(lengths, "o")} }},
              else_branch = e () => (float[2,3] v2, float[2,4,3] w2) {{
                v2 = Neg (o) w2 = Neg (i) }}> }}> }}"""
    )
    for yes in (True, False):
        feeds = {"i": ints(2, 4, 3), "z": ints(2, 3), "k": ints(3), "m": [2, 4], "n": 2, "yes": yes}
        check_nested(text, feeds)


@pytest.mark.parametrize("lengths", ["", "m"])
def test_a_scan_inside_a_function(lengths):
    text = (
        HEAD.replace("4,", "8,").replace("8]", '8, "local" : 1]')
        + f"""g (int64[2] m, float[2,4,3] i, float[2,3] z, float[3] k)
            => (float[2,3] y, float[2,4,3] u) {{ y, u = local.run (m, i, z, k) }}
        <domain: "local", opset_import: ["" : 8]> run (m, i, z, k) => (v, w) {{
          {inner(lengths)} }}"""
    )
    check_nested(text, {"i": ints(2, 4, 3), "z": ints(2, 3), "k": ints(3), "m": [2, 0]})


def ints(*shape):
    return np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)


def check_nested(text, feeds):
    model = onnx.parser.parse_model(text)
    result = to_9(model)
    assert result.opset_import[0].version == 9
    dtypes = {i.name: i.type.tensor_type.elem_type for i in model.graph.input}
    arrays = {
        name: np.asarray(value, onnx.helper.tensor_dtype_to_np_dtype(dtypes[name]))
        for name, value in feeds.items()
    }
    assert_equal_outputs(model, result, arrays)


def test_stacked_scans_keep_a_batch_of_1_in_sight():
    text = (
        HEAD
        + """g (float[1,t] x) => (float[1,t] z) {
          y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, x)
          z = Scan <num_scan_inputs = 1, body = c (float e) => (float r) { r = Exp (e) }> (, y) }"""
    )
    result = to_9(text)
    names = [node.op_type for node in result.graph.node]
    assert names == ["Squeeze", "Scan", "Unsqueeze", "Squeeze", "Scan", "Unsqueeze"]
    assert_equal_outputs(text, result, {"x": X[:1]})


def test_names_of_outputs_stay():
    model = onnx.parser.parse_model(
        HEAD
        + """g (float[1,t] x) => (float[1,t] z) <float scale = {0.5}> {
          y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, x)
          z = Neg (y) }"""
    )
    model.graph.quantization_annotation.add(tensor_name="y").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="scale"
    )
    result = to_9(model)
    assert result.graph.quantization_annotation == model.graph.quantization_annotation
    assert result.graph.node[-2].output[0] == "y"


def test_zeros_of_an_unknown_type_are_refused():
    model = ir.parse(
        HEAD.replace("4,", "8,").replace("8]", '8, "local" : 1]')
        + """g (int64[b] n, float[b,t] x) => (float[b,t] y) {
          y = Scan <num_scan_inputs = 1, body = b (float e) => (r) { r = local.any (e) }> (n, x)
        }"""
    )
    (node,) = model.graph.nodes()
    obstacle = Crossing(model, 8, ShapeInference(model)).obstacle(node)
    assert "element type of its scan output 'y' is not known" in (obstacle or "")


@pytest.mark.parametrize("longest", ["2", "t", ""])
@pytest.mark.parametrize("lengths", ["", "n"])
def test_lengths_without_rows(lengths, longest):
    """A name of the length in a body declares nothing."""
    text = f"""g (float[b, {longest or "u"}, 1] x, int64[b] n) => (float[b, l, 1] y) {{
           y = Scan <num_scan_inputs = 1, body = d (float[1] e) => (float[1] r) {{ r = Neg (e) }}>
              ({lengths}, x) }}"""
    result = to_9(HEAD + text)
    feeds = {"x": np.zeros((0, 2, 1), np.float32), "n": np.zeros(0, np.int64)}
    for model in (onnx.parser.parse_model(HEAD + text), result):
        (y,) = reference.run(model, feeds)
        assert y.shape == (0, 2, 1)


def test_inner_ones_come_first():
    scan = (
        "{} = Scan <num_scan_inputs = 1, body = b_{} (float[2] e) => (float[2] r) {{ {} }}> (, {})"
    )
    loop = f"""q = Loop (three, , e) <body = c (int64 i, bool g, float[2] a) =>
        (bool h, float[2] o) {{ h = Identity (g) {scan.format("o", "o", "r = Neg (e)", "x")} }}>
        r = Neg (q)"""
    model = ir.parse(
        f"""<ir_version: 8, opset_import: ["" : 8]> g (float[1,3,2] x, int64 three) =>
        (float[K,L,M] y) {{ {scan.format("y", "y", loop, "x")} }}"""
    )
    crossing = Crossing(model, 8, ShapeInference(model))
    assert all(shapes.length() == 3 for shapes in crossing.surveyed.values())
    assert [node.output().name for node in crossing.surveyed] == ["y", "o"]
    assert [path.rpartition("/")[2] for _, path, *_ in crossing.run()] == ["o", "y"]
