"""New nodes of a rewrite against the schemas of their opsets."""

from __future__ import annotations

from ..analysis.conformance import Conformance, rank_fault
from ..ir import Error, Model, Node, Operator
from ..ir.lazy import lazy_property


class EmissionError(Error):
    """A pass emitted a node that its opset does not take; the rewrite is withheld."""


class NewNodes:
    """The nodes of a model that passes add, each with the pass that added it.

    Args:
        model: the model before the first pass.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._before: dict[Node, Operator] = {
            node: node.op for graph in model.graphs() for node in graph.unordered_nodes()
        }
        self._made: dict[Node, str] = {}
        self._ranks = {(node.op_type, rank_fault(node)) for node in self._before}

    def note(self, pass_name: str) -> None:
        """Take note of what a pass has added."""
        for graph in self._model.graphs():
            for node in graph.latest_nodes():
                if node in self._before or node in self._made:
                    break
                self._made[node] = pass_name

    def require_conformance(self) -> None:
        """Check nodes that are new, or of another operator, and are no copies of others.

        Raises:
            EmissionError: a pass emitted a node that its opset does not take.
        """
        asked = Conformance(self._model)
        for graph in self._model.graphs():
            for node in graph.unordered_nodes():
                if self._before.get(node) is node.op:
                    continue
                fault = asked.fault(node)
                if fault is not None and not self._is_copy(node, asked):
                    raise EmissionError(
                        f"{self._made.get(node, 'a pass')} emitted {node.op_type} '{node.path}',"
                        f" which {fault}; nothing was written"
                    )

    def _is_copy(self, node: Node, asked: Conformance) -> bool:
        """Whether a node was copied from one that was there before, whose faults are its own.

        A pass that works on a copy of the model has read all operators anew: such a node is known
        by its form, unless its element types alone are at fault.
        """
        if node.op.origin in self._origins or (node.op_type, asked.fault(node)) in self._ranks:
            return True
        return _form(node.op) in self._forms and asked.form_fault(node) is not None

    @lazy_property
    def _origins(self) -> set[Operator]:
        """The operators that were there before, or that those are copies of."""
        return {op.origin for op in self._before.values()}

    @lazy_property
    def _forms(self) -> set[tuple[str, ...]]:
        """The forms of the operators that were there before."""
        return {_form(op) for op in self._before.values()}


def _form(op: Operator) -> tuple[str, ...]:
    return (op.qualname, *op.attributes)
