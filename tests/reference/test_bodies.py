import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from straightline.reference.bodies import (
    Body,
    captured_names,
    empty,
    label,
    one_element,
    opset_of,
    stack,
    subgraphs,
)
from straightline.reference.errors import EvaluationError
from tables import table

OPSETS = {"": 21}


def graph(text):
    return onnx.parser.parse_graph(text)


def body(text, fed=None):
    proto = graph(text) if isinstance(text, str) else text
    count = len(proto.input) if fed is None else fed
    return Body(ReferenceEvaluator(proto, opsets=OPSETS), OPSETS, count)


def test_captures_at_every_depth_in_order():
    holding = """g (float[2] x) => (float[2] y, float[2] late) <float[2] w = {1, 2}> {
        a = Add (x, outer)
        c = Equal (a, a)
        y = If (c) <then_branch = t () => (float[2] p) { q = Mul (a, far) p = Add (q, w) },
                    else_branch = e () => (float[2] x) { x = Neg (outer) }> }"""
    assert captured_names(graph(holding)) == ("outer", "far", "late")


def test_an_inner_name_wins_and_absent_inputs_are_none():
    text = "g (float x) => (float y) { x2 = Clip (x, , hi) y = Add (x2, x) }"
    assert captured_names(graph(text)) == ("hi",)
    sparse = graph("g () => (float[3] y) { y = Identity (s) }")
    values, indices = (helper.make_tensor("s", t, [1], [1]) for t in (1, TensorProto.INT64))
    sparse.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))
    assert captured_names(sparse) == ()


def test_graphs_and_labels_of_nodes():
    one = graph("b () => () {}")
    node = helper.make_node("Any", [], ["", "y"], one=one, many=[one, one], number=3)
    assert len(subgraphs(node)) == 3
    assert label(node) == "Any 'y'"
    node.name = "n"
    assert label(node) == "Any 'n'"
    assert label(onnx.NodeProto(op_type="Any")) == "Any ''"


def test_a_bound_body_sees_what_it_captured_then():
    known = body("b (float[2] a) => (float[2] r) { r = Add (a, w) }")
    context = {"w": np.float32([10, 20]), "other": 1}
    bound = known.bind(context, None)
    context["w"] = None
    assert bound([np.float32([1, 2])])[0].tolist() == [11, 22]
    assert list(bound.captured) == ["w"]
    with pytest.raises(EvaluationError, match="the body uses 'w', which no outer graph defines"):
        known.bind({}, None)
    with pytest.raises(ValueError):
        bound([])


def test_inputs_that_are_constants_of_the_body_are_not_fed():
    proto = graph("b (float[1] a, float[1] w) => (float[1] r) { r = Add (a, w) }")
    proto.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [1], [5]))
    assert body(proto, fed=1).input_names == ["a"]
    assert body(proto, fed=1).bind(None, None)([np.float32([1])])[0].tolist() == [6]
    del proto.initializer[:]
    assert body(proto, fed=1).input_names == ["a", "w"]


@table(
    ("b (a, s) => (float[3, 2] r) { r = Expand (a, s) }", None, {}, (np.float32, (3, 2))),
    ("b (float[2] a) => (r) { r = Neg (a) }", None, {}, (np.float32, (2,))),
    ("b (float[N] a) => (float[N] r) { r = Neg (a) }", None, {}, (np.float32, (0,))),
    ("b (a) => (r) { r = Neg (a) }", [np.zeros((4, 1), np.int8)], {}, (np.int8, (4, 1))),
    ("b () => (r) { r = Neg (w) }", None, {"w": np.zeros((5,))}, (np.float64, (5,))),
    ("b () => (r) { r = Neg (w) }", None, {"w": np.zeros((5,)), "s": []}, (np.float64, (5,))),
    ("b (double a) => (double r) { r = Neg (a) }", None, {}, (np.float64, ())),
)
def test_elements_without_iterations(text, inputs, captured, expected):
    dtype, shape = body(text).element(0, inputs, captured)
    assert (dtype, shape) == (np.dtype(expected[0]), expected[1])


def test_bodies_inside_whose_inputs_are_constants_are_inferred():
    proto = graph("""b (int64 m, bool c, float[3] a) => (r) {
        r = Loop (m, c, a) <body = l (int64 i, bool d, float[3] s, float[3] w)
                                       => (bool d, float[3] t) { t = Add (s, w) }> }""")
    inner = proto.node[0].attribute[0].g
    inner.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [3], [1, 1, 1]))
    before = proto.SerializeToString()
    assert body(proto).element(0) == (np.dtype(np.float32), ()), "what a Loop carries may change"
    assert proto.SerializeToString() == before


def test_a_type_that_nothing_tells_is_asked_for():
    with pytest.raises(EvaluationError, match="the element type of its output 'r'"):
        body("b () => (r) { r = Identity (w) }").element(0)


def test_ranks_and_labels():
    known = body("b (float[2, 3] a, float c, d) => (float[1] r) { r = Neg (a) }")
    assert [known.declared_rank(index) for index in range(3)] == [2, 0, 0]
    assert known.output_label(0) == "body output 'r'"
    assert known.output_count == 1 and known.opset == 21
    assert opset_of({"own": 3}) == onnx.defs.onnx_opset_version()


def test_one_element_in_any_rank():
    for rank in range(3):
        found = one_element(np.array([[7]]), rank, "M")
        assert found.shape == (1,) * rank and found.item() == 7
    with pytest.raises(EvaluationError, match=r"M must hold one element, its shape is \[2\]"):
        one_element(np.array([1, 2]), 0, "M")
    with pytest.raises(EvaluationError, match="M must hold one element, it is a sequence"):
        one_element([np.zeros(2), np.zeros(1)], 0, "M")


def test_elements_of_a_scan_output():
    elements = [np.full((2, 1), k) for k in range(3)]
    assert stack(elements, "y").shape == (3, 2, 1) and stack(elements, "y")[2, 0, 0] == 2
    assert stack([np.array(1), np.array(2)], "y").tolist() == [1, 2]
    with pytest.raises(EvaluationError, match=r"y has shape \[2\] in iteration 1 and \[1\] in"):
        stack([np.zeros(1), np.zeros(2)], "y")
    with pytest.raises(EvaluationError, match="y is not a tensor"):
        stack([[np.zeros(1)]], "y")


def test_empty_values():
    assert empty((0, 2), np.dtype(np.int8)).shape == (0, 2)
    assert empty((2,), np.dtype(object)).tolist() == ["", ""]
    assert empty((1,), np.dtype(bool)).tolist() == [False]


@table(
    ("EyeLike <dtype = 7> (x)", onnx.TensorProto.INT64),
    ('RegexFullMatch <pattern = "a"> (x)', onnx.TensorProto.BOOL),
    ("Cast <to = 6> (l)", onnx.TensorProto.INT32),
)
def test_inference_without_the_type_of_an_input(node, elem_type):
    """Its inference ends the process there; so it does for no parts at all."""
    text = "l = ai.onnx.ml.LabelEncoder (x) p, q = Split <num_outputs = 0> (a)"
    proto = graph(f"b (float[2] a) => (r) {{ {text} r = {node} }}")
    opsets = {**OPSETS, "ai.onnx.ml": 4}
    known = Body(ReferenceEvaluator(proto, opsets=opsets), opsets, 1)
    assert known.completed(0, known.inferred(0))[0] == elem_type


def test_negative_sizes_are_not_shown_to_onnx():
    """Exporters declare -1 for unknown sizes; a Slice of one ends the process."""
    nodes = "r = Slice (a, s, s, s)"
    proto = graph(f"b (float[2] a) => (r) <int64[1] s = {{0}}> {{ {nodes} }}")
    proto.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    body = Body(ReferenceEvaluator(proto, opsets=OPSETS), OPSETS, 1)
    assert body.completed(0, body.inferred(0))[0] == onnx.TensorProto.FLOAT
