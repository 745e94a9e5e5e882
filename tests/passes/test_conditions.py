"""Conditions of passes: what the watcher of the tests notices, and what passes declare."""

import dataclasses
from typing import ClassVar

import pytest
from conditions import Conditions
from straightline import ir
from straightline.passes import (
    PASSES,
    EliminateDeadNodes,
    FreezeInitializers,
    Pass,
    Pipeline,
    watching,
)
from straightline.passes.base import MAY_BE_CONTROL_FLOW, PARTS
from tables import table

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}, float[2] k = {1, 2}> {
    a = Add (x, w) unused = Exp (a) y = Relu (a) }"""


@dataclasses.dataclass(frozen=True)
class Wrong(Pass):
    """Do what its name says, and declare none of it."""

    name: ClassVar[str] = "wrong"
    fault: str = ""

    def run(self, model, context):
        graph = model.graph
        if self.fault == "inputs":
            graph.add_input("more")
        elif self.fault == "opsets":
            model.opset_imports["other"] = 1
        elif self.fault == "added":
            graph.nodes()[-1].graph.set_operator(graph.nodes()[0], ir.Operator("If"))
        elif self.fault == "denies":
            graph.remove(next(node for node in graph.nodes() if node.is_op("Exp")))
        return self.fault != "denies"


@table(
    ("inputs", "wrong changed the inputs"),
    ("opsets", "wrong changed the opsets"),
    ("added", r"wrong added \['If'\]"),
    ("denies", "wrong denies that it changed the model"),
)
def test_a_broken_condition(fault, message):
    with pytest.raises(AssertionError, match=message), watching(Conditions()):
        Pipeline([Wrong(fault)]).apply(ir.parse(TEXT))


@table((EliminateDeadNodes(), "Exp 'unused', value 'k'"), (FreezeInitializers(), "w"))
def test_a_postcondition(pass_, left):
    model = ir.parse(TEXT)
    assert sorted(pass_.violation(model).split(", ")) == sorted(left.split(", "))
    pass_.run(model, None)
    assert pass_.violation(model) is None


@pytest.mark.parametrize("kind", PASSES, ids=lambda kind: kind.name)
def test_a_pass_declares_what_there_is(kind):
    assert set(kind.changes) <= set(PARTS)
    assert set(kind.adds) <= set(MAY_BE_CONTROL_FLOW)
