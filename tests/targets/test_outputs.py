import dataclasses

import numpy as np
import onnx
import pytest
from harness import as_model
from straightline import transform
from straightline.targets import Opsets

from targets import fitted, lacking, one_node, operators, taking

X = np.arange(8, dtype=np.float32).reshape(2, 4)
TOP = "k = Constant <value = int64[1] {2}> () v, i = TopK (x, k)"


def test_one_of_several_outputs_needs_an_identity():
    model = one_node(TOP + " y = Neg (i)", "float[2, 4] x", outputs="i, y")
    outcome = fitted(model, lacking(own_outputs=True), {"x": X}, passes=())
    giver = outcome.ir.graph.outputs[0].producer
    assert giver is not None and giver.op_type == "Identity"
    assert [info.name for info in outcome.model.graph.output] == ["i", "y"]
    said = [(r.op_type, r.action, r.reason) for r in outcome.remarks]
    assert said == [("TopK", "rewritten", "output of an Identity")]
    assert not fitted(model, lacking(), {"x": X}, passes=()).changed


@pytest.mark.parametrize("opset", [13, 14])
def test_sequences_have_an_identity_from_opset_14_on(opset):
    """The output stays one of several before, which the outcome tells."""
    model = as_model(
        """g (float[2] x) => (seq(float[2]) s, float[2] y) <int64 n = {2}, bool yes = {1}> {
        e = SequenceEmpty () s, y = Loop (n, yes, e, x) <body = b (int64 i, bool c,
            seq(float[2]) a, float[2] h) => (bool c2, seq(float[2]) r, float[2] t) {
            c2 = Identity (c) t = Tanh (h) r = SequenceInsert (a, t) }> }""",
        opset=opset,
    )
    target = lacking(own_outputs=True)
    outcome = transform(model, (), target=target, verify=False)
    onnx.checker.check_model(outcome.model, full_check=True)
    names = [node.op_type for node in outcome.model.graph.node]
    assert names.count("Identity") == (2 if opset == 14 else 1)


def test_separate_outputs_stay():
    for text in (
        one_node("y = Neg (x)", "float[2, 4] x"),
        one_node(TOP + " y = Neg (i)", "float[2, 4] x"),
    ):
        outcome = fitted(text, lacking(own_outputs=True), {"x": X}, passes=())
        assert not outcome.changed and "Identity" not in operators(outcome)


def test_an_identity_has_a_substitute():
    model = one_node(TOP, "float[2, 4] x", outputs="v, i")
    outcome = fitted(model, lacking("Identity", own_outputs=True), {"x": X}, passes=())
    assert "Reshape" in operators(outcome) and not outcome.untaken


def test_a_constant_that_is_given_out_goes_through_an_identity():
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] k, float[2] y)'
        " <float[2] k = {1, 2}> { y = Add (x, k) }"
    )
    given = {"x": X[0, :2]}
    outcome = fitted(text, lacking(own_outputs=True), given, passes=())
    assert [info.name for info in outcome.model.graph.output] == ["k", "y"]
    assert "Identity" in operators(outcome) and not outcome.untaken
    (done,) = outcome.remarks
    assert (done.op_type, done.path) == ("Constant", "k")
    assert not fitted(outcome.model, lacking(own_outputs=True), given, passes=()).changed


def test_an_input_that_is_given_out_cannot_be():
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] x, float[2] y)'
        " { y = Neg (x) }"
    )
    outcome = fitted(text, lacking(own_outputs=True), {"x": X[0, :2]}, passes=())
    (left,) = outcome.untaken
    assert (left.op_type, left.path) == ("Output", "x") and not outcome.changed
    told = "npu supports only node outputs; this output is also an input, and must keep its name"
    assert left.reason == told
    assert not fitted(text, lacking(), {"x": X[0, :2]}, passes=()).untaken


def test_a_constant_is_given_out_in_an_opset_in_which_there_is_an_identity():
    model = """<ir_version: 9, opset_import: ["" : 20]>
    g (float[2] x) => (float[2] y, int64 n) <int64 n = {3}> { y = Neg (x) }"""
    spans = {"Neg": (Opsets(1, 99),), "Identity": (Opsets(1, 18),)}
    target = taking(opsets=(13, 21), own_outputs=True, preferred_opset=17)
    outcome = fitted(model, dataclasses.replace(target, operators=spans), {"x": X[0, :2]})
    assert operators(outcome) == ["Identity", "Neg"] and outcome.opset.after == 17
    # Where there is none at all, it stays a constant.
    outcome = fitted(model, lacking("Identity", own_outputs=True), {"x": X[0, :2]})
    assert operators(outcome) == ["Neg"]


def test_a_constant_that_identity_does_not_take_ends_nevertheless():
    """In other words than Identity it would be a constant again, and so on."""
    model = """<ir_version: 9, opset_import: ["" : 18]>
    g (float[2] x) => (uint64[2] k) <uint64[2] k = {1, 2}> { y = Neg (x) }"""
    outcome = transform(onnx.parser.parse_model(model), target="onnx2torch", verify=False)
    assert [node.op_type for node in outcome.model.graph.node] == ["Identity"]
    assert outcome.remarks[-1].action == "kept"


def test_two_outputs_of_one_constant_that_identity_does_not_take_end_nevertheless():
    """Written as one constant, the second would read an Identity again, and so on."""
    model = """<ir_version: 8, opset_import: ["" : 13]>
    g (float x) => (int8 y, int8 z) <int8 c = {1}> { y = Identity (c) z = Identity (c) }"""
    outcome = transform(onnx.parser.parse_model(model), target="mnn", verify=False)
    assert [node.op_type for node in outcome.model.graph.node] == ["Identity", "Identity"]
    assert {remark.action for remark in outcome.remarks[-2:]} == {"kept"}


LOOPS = """<ir_version: 8, opset_import: ["" : 17]> g (float[3] x, int64 n) => (float[3] y)
    <bool yes = {1}> { y = Loop (n, yes, x) <body = b (int64 i, bool c, float[3] a)
        => (bool c, float[3] e) { k = Tanh (a)
            e = Loop (i, c, k) <body = b2 (int64 j, bool c2, float[3] p) => (bool c2, float[3] q) {
                q = Mul (p, a) }> }> }"""


@pytest.mark.parametrize("wanted", [True, False])
def test_a_body_gives_out_its_own_condition(wanted):
    """OpenVINO refuses one that gives out the condition that it is fed."""
    given = {"x": X[0, :3], "n": np.array(3)}
    outcome = fitted(LOOPS, lacking("Abs", own_conditions=wanted), given)
    bodies = [node.body("body") for g in outcome.ir.graphs() for node in g.nodes_of("Loop")]
    assert bodies and all((b.outputs[0] is not b.inputs[1]) == wanted for b in bodies)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_body_ends_in_nodes(wanted):
    """MNN computes other numbers of a branch that is an initializer alone."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, bool c) => (float[2] y) {
        z = If (c) <then_branch = t () => (float[2] u) <float[2] u = {3, 4}> {},
            else_branch = e () => (float[2] v) { v = Neg (x) }>
        y = Add (z, x) }"""
    outcome = fitted(text, lacking(own_outputs=wanted), {"x": X[0, :2], "c": np.array(True)})
    (node,) = outcome.ir.graph.nodes_of("If")
    assert len(node.body("then_branch")) == wanted and len(node.body("else_branch")) == 1
    assert ("bodies that end in nodes" in str(outcome.remarks)) == wanted


def test_inner_operators_compute_no_output():
    """MNN gives a result of Conv along one axis another shape as an output."""
    text = one_node("r = Relu (x) y = Neg (r)", "float[2, 4] x", outputs="r, y")
    outcome = fitted(text, lacking(own_outputs=True, inner=frozenset(["Relu"])), {"x": X})
    producers = [value.producer.op_type for value in outcome.ir.graph.outputs]
    assert producers == ["Identity", "Neg"] and not outcome.untaken


@pytest.mark.parametrize("wanted", [True, False])
def test_constants_without_elements_are_computed(wanted):
    """OpenVINO (2026.4.1) reads them as vectors, here also one that ConstantOfShape was before."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 2] x, bool c) => (float[?, 2] y)
        <float[0, 2] e = {}, int64[2] s = {0, 2}, int64[0] none = {}> {
        z = If (c) <then_branch = t () => (u) { u = Concat <axis = 0> (e, x) },
            else_branch = f () => (v) { v = ConstantOfShape (s) }>
        k = ReduceSum (x, none) y = Add (z, k) }"""
    target = lacking(computes_empty=wanted, own_outputs=True)
    feeds = [{"x": X[:1, :2], "c": np.array(flag)} for flag in (True, False)]
    outcome = fitted(text, target, *feeds)
    sizes = [t.dims for graph in outcome.ir.graphs() for t in graph.initializers.values()]
    assert ((0, 2) in sizes) != wanted and (0,) in sizes


def test_halves_are_stored_as_raw_data():
    """tinygrad (0.14.0) reads the bits of those in int32_data as numbers."""
    half, none = (onnx.helper.make_tensor("k", t, [n], [2.5] * n) for t, n in ((10, 1), (1, 0)))
    text = """g (float16[1] x, float[1] z)
        => (float16[1] y, float[0] w) { a = Add (x, k)  c = Constant () y = Add (a, c)
        w = Add (z, e) }"""
    model = as_model(text)
    model.graph.initializer.extend([half, none])
    model.graph.initializer[1].name = "e"
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("value", half))
    feed = {"x": np.ones(1, np.float16), "z": np.ones(1, np.float32)}
    outcome = fitted(model, lacking(raw_data=True), feed, passes=())
    stored = [*outcome.model.graph.initializer, outcome.model.graph.node[1].attribute[0].t]
    assert all(t.HasField("raw_data") for t in stored) and not outcome.untaken


def test_absent_inputs_at_the_end_are_not_written():
    text = """g (float[3] x) => (float[3] y) <float z = {0}> { y = Clip (x, z, ) }"""
    model = as_model(text.replace("z, )", "z)"))
    model.graph.node[0].input.append("")
    outcome = fitted(model, "onnx2torch", {"x": X[0, :3]})
    assert list(outcome.model.graph.node[0].input) == ["x", "z"]


def test_as_many_inputs_stay_as_the_operator_requires():
    text = """g (float[3] x, int64 n) => (float[k] y) {
        y = Loop (n) <body = b (int64 i, bool c) => (bool d, float r) {
            d = Identity (c)
            e = Gather (x, i)
            r = Sin (e) }> }"""
    model = as_model(text)
    model.graph.node[0].input.append("")
    feeds = {"x": X[0, :3], "n": np.array(2)}
    (loop,) = fitted(model, lacking("Einsum"), feeds, passes=()).ir.graph.nodes()
    assert len(loop.inputs) == 2 and loop.inputs[1] is None
