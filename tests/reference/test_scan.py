import itertools
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from reference_oracle import assert_as_onnxruntime, assert_same, parse
from straightline import Error, reference
from straightline.reference import EvaluationError
from straightline.reference.bodies import scan_row
from tables import table

STATE = np.array([10.0, 20.0], np.float32)
PAIRS_OF_AXES = list(itertools.product((0, 1, -1, -2), repeat=2))
PAIRS_OF_FLAGS = list(itertools.product((0, 1), repeat=2))


def running_sum(attributes: str = "", shape: str = "t, 2") -> str:
    return f"""agraph (float[2] s, float[{shape}] x) => (float[2] f, float[p, q] y, float[t] z) {{
      f, y, z = Scan <num_scan_inputs = 1 {attributes}, body = b (float[2] a, float[2] e)
        => (float[2] r, float[2] r2, float m)
        {{ r = Add (a, e)  r2 = Mul (r, r)  m = ReduceSum <keepdims = 0> (r) }}> (s, x) }}"""


@pytest.mark.parametrize("opset", [9, 10, 11, 16, 22])
def test_every_version_is_as_in_onnxruntime(opset):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert_as_onnxruntime(parse(running_sum(), opset), {"s": STATE, "x": x})


@pytest.mark.parametrize(("in_axis", "out_axis"), PAIRS_OF_AXES)
@pytest.mark.parametrize(("backward", "prepend"), PAIRS_OF_FLAGS)
def test_axes_and_directions_are_as_in_onnxruntime(in_axis, out_axis, backward, prepend):
    attributes = f""", scan_input_axes = [{in_axis}], scan_output_axes = [{out_axis}, 0],
        scan_input_directions = [{backward}], scan_output_directions = [{prepend}, 0]"""
    shape = ["2", "2"]
    shape[in_axis] = "t"
    x = np.arange(6, dtype=np.float32).reshape(*(3 if d == "t" else 2 for d in shape))
    assert_as_onnxruntime(parse(running_sum(attributes, ", ".join(shape))), {"s": STATE, "x": x})


SAME_AS_ONNXRUNTIME = {
    "no state": """(float[t] y) {
      y = Scan <num_scan_inputs = 2, scan_input_directions = [0, 1],
        body = b (float[2] p, float[2] q) => (float r)
        { d = Mul (p, q)  r = ReduceSum <keepdims = 0> (d) }> (x, x) }""",
    "no scan output": """(float[2] y) {
      y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r)
        { h = Mul (a, k)  r = Add (h, e) }> (s, x) }""",
    "inner names win over outer": """(float[2] y, float[2] a) {
      a = Neg (s)  e = Exp (s)
      y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r)
        { r = Sub (a, e) }> (s, x) }""",
    "inside a Loop, with an If in it": """(float[2] y, float[l, t, 2] u) {
      m = Constant <value_int = 3> ()
      y, u = Loop (m, , s) <body = o (int64 i, bool c, float[2] v)
        => (bool c, float[2] w, float[t, 2] g) {
          w, g = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e)
            => (float[2] r, float[2] q) {
              one = Constant <value_int = 1> ()
              odd = Equal (i, one)
              r = If (odd) <then_branch = tb () => (float[2] z) { z = Add (a, e) },
                            else_branch = eb () => (float[2] z) { z = Mul (a, k) }>
              q = Sub (r, v) }> (v, x)
        }> }""",
}


@pytest.mark.parametrize("text", SAME_AS_ONNXRUNTIME.values(), ids=SAME_AS_ONNXRUNTIME)
def test_feature_is_as_in_onnxruntime(text):
    model = parse(f"agraph (float[2] s, float[t, 2] x, float[2] k) => {text}")
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)
    assert_as_onnxruntime(model, {"s": STATE, "x": x, "k": STATE / 16})


# onnxruntime returns garbage for a body output that is a body input.
def test_outputs_may_be_inputs_captures_and_one_value_twice():
    model = parse("""agraph (float[2] s, float[t, 2] x, float[2] k)
        => (float[2] y, float[t, 2] u, float[t, 2] v, float[t, 2] w) {
      y, u, v, w = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e)
        => (float[2] a, float[2] e, float[2] e, float[2] k) { unused = Neg (e) }> (s, x) }""")
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    outputs = reference.run(model, {"s": STATE, "x": x, "k": -STATE})
    assert_same(outputs, [STATE, x, x, np.stack([-STATE] * 3)])


# onnxruntime refuses a Scan of length 0.
def test_length_0_gives_the_initial_state_and_empty_outputs():
    attributes = ", scan_input_axes = [1], scan_output_axes = [1, 0]"
    x = np.zeros((2, 0), np.float32)
    f, y, z = reference.run(parse(running_sum(attributes, "2, t")), {"s": STATE, "x": x})
    assert_same(f, STATE)
    assert_same(y, np.zeros((2, 0), np.float32))
    assert_same(z, np.zeros(0, np.float32))


def test_lengths_must_agree():
    model = parse("""agraph (float[a] x, float[b] y) => (float[c] z) {
      z = Scan <num_scan_inputs = 2, body = g (float p, float q) => (float r)
        { r = Add (p, q) }> (x, y) }""")
    feeds = {"x": np.ones(2, np.float32), "y": np.ones(3, np.float32)}
    with pytest.raises(EvaluationError, match=r"Scan 'z': scan inputs differ in length: \[2, 3\]"):
        reference.run(model, feeds)


def test_a_state_must_keep_its_shape():
    model = parse("""agraph (float[a] s, float[t] x) => (float[b] f) {
      f = Scan <num_scan_inputs = 1, body = g (float[p] a, float e) => (float[q] r)
        { r = Concat <axis = 0> (a, a) }> (s, x) }""")
    feeds = {"s": np.ones(2, np.float32), "x": np.ones(3, np.float32)}
    with pytest.raises(EvaluationError, match=r"state 0 changes shape from \[2\] to \[4\]"):
        reference.run(model, feeds)


@table(
    (", scan_input_axes = [2]", "outside the axes of a value of rank 2"),
    (", scan_output_axes = [0]", "1 scan_output_axes for 2 scan outputs"),
    (", scan_input_directions = [2]", "which are 0 or 1"),
)
def test_attributes_are_checked(attributes, message):
    feeds = {"s": STATE, "x": np.ones((3, 2), np.float32)}
    with pytest.raises(Error, match=message):
        reference.run(parse(running_sum(attributes)), feeds)


class Run:
    """A bound body: a Python function of states and elements."""

    def __init__(self, call, outputs):
        self.call = call
        self.body = SimpleNamespace(output_count=outputs)

    def __call__(self, inputs):
        return self.call(*inputs)


def test_states_go_on_and_elements_are_collected_in_order():
    run = Run(lambda total, x, y: [total + x, x * y, np.float32(7)], 3)
    rows = [np.float32([1, 2, 3]), np.float32([10, 20, 30])]
    (total,), (products, sevens) = scan_row(run, [np.float32(0)], rows, 3)
    assert total == 6 and products == [10, 40, 90] and sevens == [7, 7, 7]


def test_only_so_many_elements_as_are_asked_for():
    run = Run(lambda total, x: [total + x, x], 2)
    (total,), (seen,) = scan_row(run, [np.float32(0)], [np.float32([1, 2, 3])], 2)
    assert total == 3 and seen == [1, 2]
    (total,), (seen,) = scan_row(run, [np.float32(5)], [np.float32([1])], 0)
    assert total == 5 and seen == []


def test_without_states_or_without_outputs():
    assert scan_row(Run(lambda x: [x + 1], 1), [], [np.array([1, 2])], 2) == ([], [[2, 3]])
    finals, collected = scan_row(Run(lambda s, x: [s + x], 1), [np.array(1)], [np.array([4])], 1)
    assert finals == [5] and collected == []


def test_elements_keep_their_other_axes():
    run = Run(lambda x: [x], 1)
    _, (seen,) = scan_row(run, [], [np.zeros((2, 3, 1))], 2)
    assert [element.shape for element in seen] == [(3, 1)] * 2


def test_a_state_that_changes_its_shape_is_refused():
    run = Run(lambda state, x: [np.append(state, x)], 1)
    with pytest.raises(EvaluationError, match=r"state 0 changes shape from \[1\] to \[2\] in iter"):
        scan_row(run, [np.zeros(1)], [np.zeros(3)], 3)


def test_without_rows_functions_tell_sizes():
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x, float[2] z) => (float[N,2] y) { y = Scan <num_scan_inputs = 1,
            body = b (float e) => (float[K] o) { t = Add (z, e) o = my.F (t) }> (x) }
        <domain: "my", opset_import: ["" : 17]> F (a) => (c) { b = Exp (a) c = Neg (b) }""")
    feeds = {"x": np.zeros(0, np.float32), "z": STATE}
    assert reference.run(model, feeds)[0].shape == (0, 2)
