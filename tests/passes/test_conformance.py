"""New nodes of a rewrite against the schemas of their opsets."""

import dataclasses
from typing import ClassVar

import pytest
from harness import as_model
from straightline import ir, transform
from straightline.ir import Operator
from straightline.passes import Pass, Pipeline
from straightline.passes.base import PassContext
from straightline.passes.conformance import EmissionError, NewNodes

TEXT = """<ir_version: 8, opset_import: ["": 13]>
    g (float[3] x, bool c) => (float[3] y) {
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


@pytest.mark.parametrize(
    ("op", "fault"),
    [
        (Operator("Gelu"), "emits emitted Gelu 'y/new', which is not an operator of opset 13"),
        (Operator("Not"), "which does not take"),
        (Operator("Add"), "has 1 inputs"),
        (Operator.make("Neg", axis=1), "an attribute 'axis'"),
        (Operator("Neg"), None),
        (Operator("Anything", None, "my.own"), None),
    ],
)
def test_what_a_pass_emits_fits_its_opset(op, fault):
    model = ir.load(as_model(TEXT))
    if fault is None:
        Pipeline([Emits(op)]).apply(model)
    else:
        with pytest.raises(EmissionError, match=fault):
            Pipeline([Emits(op)]).apply(model)


def test_what_was_there_before_and_its_copies_are_not_asked():
    """Models that onnxruntime runs may say more than their opset knows."""
    text = TEXT.replace("Relu (a)", "Relu <beyond = 1> (a)")
    model = ir.load(as_model(text))
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
    with pytest.raises(EmissionError, match="emits-many emitted Abs 'new150', which does not take"):
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
    assert [node.op_type for node in outcome.model.graph.node] == ["Gelu"] and outcome.untaken
