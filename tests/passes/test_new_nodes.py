import dataclasses
from typing import ClassVar

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, check_model, op_types
from onnx import TensorProto, helper
from straightline import ir, transform
from straightline.ir import Operator
from straightline.passes import Pass, Pipeline
from straightline.passes.base import PassContext
from straightline.passes.new_nodes import EmissionError, NewNodes, fitting_opset, onnx_import
from tables import table

from targets import lacking

TEXT = """<ir_version: 8, opset_import: ["": 13]> g (float[3] x, bool c) => (float[3] y) {
        a = Neg (x)
        y = If (c) <then_branch = t () => (float[3] p) { p = Relu (a) },
                    else_branch = e () => (float[3] q) { q = Identity (a) }> }"""


@dataclasses.dataclass(frozen=True)
class Emits(Pass):
    """Put an operator beside Relu, wherever that stands."""

    name: ClassVar[str] = "emits"
    op: Operator = dataclasses.field(default=Operator("Neg"), metadata={"code_only": True})

    def run(self, model: ir.Model, context: PassContext) -> bool:
        for graph in model.graphs():
            for node in graph.nodes_of("Relu"):
                graph.add_node(self.op, node.inputs, ["new"])
        return True


@table(
    (Operator("Gelu"), "emits emitted Gelu 'y/new', which is not an operator of opset 13"),
    (Operator("Not"), "which does not support"),
    (Operator("Add"), "has 1 inputs"),
    (Operator.make("Neg", axis=1), "an attribute 'axis'"),
    (Operator("Neg"), None),
    (Operator("Anything", None, "my.own"), None),
)
def test_emitted_nodes_fit_the_opset(op, fault):
    model = ir.load(as_model(TEXT))
    if fault is None:
        Pipeline([Emits(op)]).apply(model)
    else:
        with pytest.raises(EmissionError, match=fault):
            Pipeline([Emits(op)]).apply(model)


def test_original_nodes_and_copies_are_not_checked():
    """Models that onnxruntime runs may say more than their opset knows."""
    model = ir.load(as_model(TEXT.replace("Relu (a)", "Relu <beyond = 1> (a)")))
    (branch,) = [graph for graph in model.graphs() if graph.nodes_of("Relu")]
    (relu,) = branch.nodes_of("Relu")
    Pipeline([Emits(relu.op)]).apply(model)


@dataclasses.dataclass(frozen=True)
class EmitsMany(Pass):
    """Emit many nodes of one operator, one of them on another type."""

    name: ClassVar[str] = "emits-many"
    wrong: bool = True

    def run(self, model: ir.Model, context: PassContext) -> bool:
        graph, op = model.graph, Operator("Abs")
        x, c = graph.inputs
        for number in range(200):
            read = c if self.wrong and number == 150 else x
            graph.add_node(op, [read], [f"new{number}"])
        return True


def test_one_ill_typed_node_among_many_of_its_operator_is_found():
    Pipeline([EmitsMany(wrong=False)]).apply(ir.load(as_model(TEXT)))
    why = "emits-many emitted Abs 'new150', which does not support"
    with pytest.raises(EmissionError, match=why):
        Pipeline([EmitsMany()]).apply(ir.load(as_model(TEXT)))


def test_copies_of_original_nodes_are_not_asked():
    model = ir.load(as_model(TEXT))
    new = NewNodes(model)
    (neg,) = model.graph.nodes_of("Neg")
    for number in range(3):
        model.graph.add_node(neg.op, neg.inputs, [f"copy{number}"])
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr("straightline.analysis.conformance.Conformance.fault")
        new.require_conformance()


def test_a_constant_of_another_rank_is_emitted_only_where_one_was_read():
    text = TEXT.replace("y = If", "%s s = Constant <value_int = 0> () y = If")
    model = ir.load(as_model(text % ""))
    new = NewNodes(model)
    read = model.graph.nodes_of("Constant")[0].outputs + model.graph.nodes_of("Neg")[0].outputs
    model.graph.add_node(Operator("Squeeze"), read[::-1], ["new"])
    with pytest.raises(EmissionError, match="constant of rank 0"):
        new.require_conformance()
    model = ir.load(as_model(text % "t = Constant <value_int = 1> () u = Squeeze (a, t)"))
    new = NewNodes(model)
    (read,) = [node.inputs for node in model.graph.nodes_of("Squeeze")]
    model.graph.add_node(Operator("Squeeze"), read, ["new"])
    new.require_conformance()


def test_a_node_whose_operator_changes_is_asked():
    model = ir.load(as_model(TEXT))
    new = NewNodes(model)
    (neg,) = model.graph.nodes_of("Neg")
    model.graph.set_operator(neg, Operator("Not"))
    with pytest.raises(EmissionError, match="Not 'a'"):
        new.require_conformance()


def test_a_target_leaves_what_its_opset_does_not_know():
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[3] x) => (y) { y = Gelu (x) }"""
    outcome = transform(as_model(text), target="onnx2torch", verify=False, hints=False)
    assert op_types(outcome.model) == ["Gelu"] and outcome.untaken


X = np.arange(6, dtype=np.float32).reshape(3, 2)


def classifier(ir_version=3, ml_version=1):
    attributes = {
        "classlabels_ints": [0, 1, 2],
        "coefficients": [1.0, 2, 3, 4, 5, 6],
        "intercepts": [0.1, 0.2, 0.3],
        "post_transform": "SOFTMAX",
        "multi_class": 1,
    }
    node = helper.make_node(
        "LinearClassifier", ["x"], ["l", "s"], domain="ai.onnx.ml", **attributes
    )
    outputs = [
        helper.make_tensor_value_info("l", TensorProto.INT64, [3]),
        helper.make_tensor_value_info("s", TensorProto.FLOAT, [3, 3]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])]
    graph = helper.make_graph([node], "g", inputs, outputs)
    imports = [helper.make_opsetid("ai.onnx.ml", ml_version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version)


@table((3, 1, 8), (8, 3, 18), (10, 5, 22))
def test_the_import_fits_the_file_and_ml(ir_version, ml_version, opset):
    assert fitting_opset(ir_version, ml_version) == opset
    model = ir.load(classifier(ir_version, ml_version))
    with onnx_import(model):
        assert model.opset() == opset
    assert model.opset() == 0


def test_unknown_pairs_of_versions_fall_back_to_the_file():
    assert fitting_opset(3, 5) == 8
    assert fitting_opset(2) == 7


@pytest.mark.parametrize("target", ["openvino", "tvm", "onnx2torch"])
def test_a_lacking_domain_is_replaced_with_its_import(target):
    outcome = sl.transform(classifier(), target=target, verify=True)
    check_model(outcome.model)
    assert not outcome.untaken and outcome.verdict.equal
    assert {entry.domain: entry.version for entry in outcome.model.opset_import}[""] >= 7


def test_imports_stay_without_a_replacement():
    model = classifier()
    outcome = sl.transform(model, target=lacking("Loop"), verify=True)
    assert outcome.model.opset_import == model.opset_import
    assert sl.rewrite(model, "simplify").opset_import == model.opset_import


FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (int64[3] x) => (string[3] y, float[2] z) <float[2] w = {1, -1}> {
    y = own.words (x)
    z = Neg (w) }
<domain: "own", opset_import: ["ai.onnx.ml" : 3]>
words (a) => (b) {
    c = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_strings = ["a", "b"]> (a)
    b = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "b"], values_strings = ["c", "d"]> (c) }"""


def test_functions_get_the_import_of_their_model():
    model = ir.load(onnx.parser.parse_model(FUNCTION))
    (function,) = model.functions.values()
    with onnx_import(model):
        assert function.opset() == 17
    assert function.opset() == 0


def test_a_custom_domain_alone_is_left_alone():
    head = '<ir_version: 8, opset_import: ["own" : 1]> '
    text = head + "g (float[2] x) => (float[2] y) { y = own.F (x) }"
    model = onnx.parser.parse_model(text)
    assert sl.rewrite(model, verify=False) == model
