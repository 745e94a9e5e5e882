"""Passes that change what a model computes, or that no proof covers."""

import dataclasses
from typing import ClassVar

import numpy as np
from straightline.ir import Model, Operator
from straightline.ops.builder import Builder
from straightline.passes import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class Negating(Pass):
    """Turns every Relu and Exp into a Neg, which is wrong."""

    name: ClassVar[str] = "negating"

    def run(self, model: Model, context: PassContext) -> bool:
        return _become(self, model, context, ("Relu", "Exp"), Operator("Neg"))


@dataclasses.dataclass(frozen=True)
class Breaking(Pass):
    """Turns every Add into a Mul, which is wrong."""

    name: ClassVar[str] = "breaking"

    def run(self, model: Model, context: PassContext) -> bool:
        return _become(self, model, context, ("Add",), Operator("Mul"))


@dataclasses.dataclass(frozen=True)
class Invalidating(Pass):
    """Turns every Relu into an operator that its opset does not have, or exchanges two axes."""

    name: ClassVar[str] = "invalidating"
    unknown: bool = True

    def run(self, model: Model, context: PassContext) -> bool:
        wrong = Operator("Upsample") if self.unknown else Operator.make("Transpose", perm=[1, 0])
        return _become(self, model, context, ("Relu",), wrong)


@dataclasses.dataclass(frozen=True)
class Selecting(Pass):
    """Replaces Relu by a choice of zero or `x`: equal for every float, and open to the prover.

    A formula such as `(x + |x|) / 2` would not do: it is NaN at minus infinity, which samples find.
    """

    name: ClassVar[str] = "selecting"

    def run(self, model: Model, context: PassContext) -> bool:
        found = [n for n in model.graph.nodes() if n.is_op("Relu")]
        for node in found:
            emit = Builder(model.graph, node)
            x, path = node.inputs[0], node.path
            zero = emit.constant(np.float32(0), "zero")
            below = emit.add("Less", [x, zero], "below")
            model.graph.supersede(node.output(), emit.add("Where", [below, zero, x], "selected"))
            model.graph.remove(node)
            context.rewritten(self, node, path, "is a choice")
        return bool(found)


def _become(
    pass_: Pass, model: Model, context: PassContext, names: tuple[str, ...], wrong: Operator
) -> bool:
    found = [n for graph in model.graphs() for n in graph.nodes() if n.is_op(*names)]
    for node in found:
        assert node.graph is not None
        context.rewritten(pass_, node, node.path, "spoiled")
        node.graph.set_operator(node, wrong)
    return bool(found)
