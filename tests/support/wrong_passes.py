"""Passes that change what a model computes: a comparison must name them."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from straightline.ir import Model, Operator
from straightline.passes import Pass, Run


@dataclasses.dataclass(frozen=True)
class Negating(Pass):
    """Turns every Relu and Exp into a Neg, which is wrong."""

    name: ClassVar[str] = "negating"

    def run(self, model: Model, run: Run) -> bool:
        return _become(self, model, run, ("Relu", "Exp"), "Neg")


@dataclasses.dataclass(frozen=True)
class Breaking(Pass):
    """Turns every Add into a Mul, which is wrong."""

    name: ClassVar[str] = "breaking"

    def run(self, model: Model, run: Run) -> bool:
        return _become(self, model, run, ("Add",), "Mul")


@dataclasses.dataclass(frozen=True)
class Invalidating(Pass):
    """Turns every Relu into an operator that no opset from 10 on has."""

    name: ClassVar[str] = "invalidating"

    def run(self, model: Model, run: Run) -> bool:
        return _become(self, model, run, ("Relu",), "Upsample")


def _become(pass_: Pass, model: Model, run: Run, names: tuple[str, ...], wrong: str) -> bool:
    found = [n for graph in model.graphs() for n in graph.nodes() if n.is_op(*names)]
    for node in found:
        assert node.graph is not None
        run.rewritten(pass_, node, node.path, "spoiled")
        node.graph.set_operator(node, Operator(wrong))
    return bool(found)
