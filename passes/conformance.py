"""New nodes of a rewrite against the schemas of their opsets."""

from __future__ import annotations

from ..analysis.conformance import Conformance, rank_fault
from ..ir import Error, Model, Node, Operator
from ..ir.lazy import lazy_property
from ..ops import rules_of


class EmissionError(Error):
    """A pass emitted a node that its opset does not support; the rewrite is discarded."""


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
        self._added: dict[Node, str] = {}
        has_ranks: dict[str, bool] = {}
        self._ranks: set[tuple[str, str | None]] = set()
        for node, op in self._before.items():
            if op.qualname not in has_ranks:
                has_ranks[op.qualname] = bool(rules_of(op).operand_ranks)
            if has_ranks[op.qualname]:
                self._ranks.add((node.op_type, rank_fault(node)))

    def note(self, pass_name: str) -> None:
        """Record the nodes that a pass has added."""
        for graph in self._model.graphs():
            for node in graph.latest_nodes():
                if node in self._before or node in self._added:
                    break
                self._added[node] = pass_name

    def require_conformance(self) -> None:
        """Check new and changed nodes, apart from copies of others.

        Raises:
            EmissionError: a pass emitted a node that its opset does not support.
        """
        conformance = Conformance(self._model)
        for graph in self._model.graphs():
            new = [op for op in graph.operators() if op.origin not in self._origins]
            if not new:
                continue
            emitted = frozenset(new)
            for node in graph.unordered_nodes():
                if node.op not in emitted:
                    continue
                fault = conformance.fault(node)
                if fault is not None and not self._is_copy(node, conformance):
                    raise EmissionError(
                        f"{self._added.get(node, 'a pass')} emitted {node.op_type} '{node.path}',"
                        f" which {fault}; nothing was written"
                    )

    def _is_copy(self, node: Node, conformance: Conformance) -> bool:
        """Test for a copy of an original node, which inherits its faults.

        A pass on a copy of the model parses all operators anew: its nodes match by form, unless
        only their element types are at fault.
        """
        fault = node.op_type, conformance.fault(node)
        if fault in self._ranks:
            return True
        return _form(node.op) in self._forms and conformance.form_fault(node) is not None

    @lazy_property
    def _origins(self) -> set[Operator]:
        """The operators of the original nodes, or the ones that they are copies of."""
        return {op.origin for op in self._before.values()}

    @lazy_property
    def _forms(self) -> set[tuple[str, ...]]:
        """The forms of the original operators."""
        return {_form(op) for op in self._before.values()}


def _form(op: Operator) -> tuple[str, ...]:
    return (op.qualname, *op.attributes)
