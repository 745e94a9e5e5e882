"""Passes that raise what no caller expects."""

import dataclasses
from typing import ClassVar

from straightline.ir import Graph, Model, Node
from straightline.passes import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class Raising(Pass):
    """Removes the nodes of an operator, and raises at those of some names, its work half done."""

    name: ClassVar[str] = "raising"
    at: tuple[str, ...] = dataclasses.field(default=("y",), metadata={"code_only": True})
    error: BaseException = dataclasses.field(
        default_factory=lambda: IndexError("tuple index out of range"), metadata={"code_only": True}
    )
    op_type: str = dataclasses.field(default="Identity", metadata={"code_only": True})

    def run(self, model: Model, context: PassContext) -> bool:
        """Forward the operands of the nodes."""
        found = [(g, n) for g in model.graphs() for n in g.nodes() if n.is_op(self.op_type)]
        for graph, node in found:
            path = node.path
            self._remove(graph, node)
            context.rewritten(self, node, path, "removed")
        return bool(found)

    def _remove(self, graph: Graph, node: Node) -> None:
        source = node.inputs[0]
        assert source is not None
        graph.replace_uses(node.output(), source)
        if node.label in self.at:
            raise self.error
        graph.remove(node)
