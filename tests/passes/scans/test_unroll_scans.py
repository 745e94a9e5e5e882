import numpy as np
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
from straightline.passes import Pipeline
from straightline.passes.scans.unroll_scans import UnrollScans
from strategies import model_and_feeds
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
HEAD_8 = '<ir_version: 4, opset_import: ["" : 8]>\n'
NEG = """Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }>"""


def test_one_split_and_one_concat():
    assert_rewrites(
        UnrollScans(),
        f"g (float[2] x) => (float[2] y) {{ y = {NEG} (x) }}",
        """
        g (float[2] x) => (float[2] y) <int64[2] sizes = {1, 1}, int64[1] axes = {0}> {
           x_0, x_1 = Split <axis = 0> (x, sizes)
           x_0_element = Squeeze (x_0, axes)
           x_1_element = Squeeze (x_1, axes)
           r_0 = Neg (x_0_element)
           r_1 = Neg (x_1_element)
           r_0_row = Unsqueeze (r_0, axes)
           r_1_row = Unsqueeze (r_1, axes)
           y = Concat <axis = 0> (r_0_row, r_1_row)
        }""",
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
        + """
        g (float s, float[1,2] x) => (float f, float[1,2] y) {
           f, y = Scan <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [1],
                        scan_input_directions = [1], scan_output_directions = [1],
                        body = b (float a, float[1] e) => (float r, float[1] q) {
              q = Add (a, e)
              r = ReduceSum <keepdims = 0> (q) }> (s, x)
        }""",
        HEAD.replace("17", "12")
        + """
        g (float s, float[1,2] x) => (float f, float[1,2] y) {
           x_0, x_1 = Split <axis = -1, split = [1, 1]> (x)
           x_0_element = Squeeze <axes = [-1]> (x_0)
           x_1_element = Squeeze <axes = [-1]> (x_1)
           q_0 = Add (s, x_1_element)
           r_0 = ReduceSum <keepdims = 0> (q_0)
           q_1 = Add (r_0, x_0_element)
           f = ReduceSum <keepdims = 0> (q_1)
           q_0_row = Unsqueeze <axes = [1]> (q_0)
           q_1_row = Unsqueeze <axes = [1]> (q_1)
           y = Concat <axis = 1> (q_1_row, q_0_row)
        }""",
        [{"s": np.array(5, np.float32), "x": np.array([[1, 2]], np.float32)}],
    )


@given(model_and_feeds(static_only=True))
@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
def test_random_models(drawn):
    before, feeds = drawn
    assert_equal_outputs(before, run_passes(before, UnrollScans()).model, feeds)


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 25])
def test_every_form_of_split(opset):
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> g (float[3] x) => (float[3] y)'
    text += f" {{ y = {NEG} (x) }}"
    result = run_passes(text, UnrollScans())
    operators = op_types(result.model)
    assert operators.count("Split") == operators.count("Concat") == 1
    assert_equal_outputs(text, result.model, {"x": np.array([1, 2, 3], np.float32)})


def scans_in(model):
    return sum(node.op_type == "Scan" for node in model.graph.node)


def test_one_iteration_needs_neither_split_nor_concat():
    text = f"g (float[1] x) => (float[1] y) {{ y = {NEG} (x) }}"
    result = run_passes(text, UnrollScans())
    assert op_types(result.model) == ["Squeeze", "Neg", "Unsqueeze"]
    assert_equal_outputs(text, result.model, {"x": np.array([3], np.float32)})


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


def test_inner_scans_are_unrolled_too():
    text = """g (float[2,3] x) => (float[2,3] y) {
          y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] v) {
            v = Scan <num_scan_inputs = 1, scan_input_directions = [1],
               body = c (float a) => (float r) { r = Neg (a) }> (e) }> (x) }"""
    result = run_passes(text, UnrollScans())
    assert scans_in(result.model) == 0
    assert_equal_outputs(text, result.model, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})


def test_constants_are_folded_on_the_way():
    text = f"g (float x) => (float[2] y) <float[2] c = {{1, 2}}> {{ y = {NEG} (c) }}"
    result = run_passes(text, UnrollScans())
    assert not result.model.graph.node
    assert_equal_outputs(text, result.model, {"x": np.array(0, np.float32)})


@table(
    ({"max_trips": 2}, "its 3 iterations are more than max_trips=2 allows"),
    ({"max_nodes": 5}, "over max_nodes=5; raise it with --max-nodes"),
)
def test_budgets(options, reason):
    text = f"g (float[3] x) => (float[3] y) {{ y = {NEG} (x) }}"
    assert_keeps(UnrollScans(**options), text, reason)


KEPT = {
    "g (float[t] x) => (float[t] y) { y = NEG (x) }": (HEAD,
     "its length depends on the shape of input 'x'; decide it with --shape x=..."),
    "g (float[1,2] x) => (float[1,2] y) { y = NEG (, x) }": (HEAD_8,
     "it is a Scan of opset 8; convert to opset 9 first")}  # fmt: skip


@pytest.mark.parametrize("text", KEPT)
def test_kept_scans_and_their_reasons(text):
    head, reason = KEPT[text]
    assert_keeps(UnrollScans(), head + text.replace("NEG", NEG), reason)


def test_random_operators_are_kept():
    text = f"g (float[2] x) => (float[2] y) {{ y = {NEG} (x) }}"
    assert_keeps(UnrollScans(), text.replace("Neg", "RandomUniformLike"), "draws random numbers")


@pytest.mark.parametrize("length", [1, 2])
def test_copies_that_load_slower_are_not_made_where_costs_count(length):
    text = f"g (float[{length}] x) => (float[{length}] y) {{ y = {NEG} (x) }}"
    assert run_passes(text, UnrollScans(costs="onnxruntime")).changed == (length == 1)
    assert run_passes(text, UnrollScans()).changed
