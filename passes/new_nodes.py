"""New nodes of a rewrite: the import of their operators, and their conformance to its schemas."""

import contextlib
import itertools
from collections.abc import Iterator

import onnx

from ..analysis.conformance import Conformance, rank_fault
from ..ir import Error, Function, Graph, Model, Node, Operator
from ..ir.lazy import lazy_property
from ..ir.places import FunctionKey, normal_domain
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
        # Most models change little: what only a change asks for is computed then.
        self._nodes = [list(graph.unordered_nodes()) for graph in model.graphs()]
        self._operators = {op for graph in model.graphs() for op in graph.operators()}
        self._added: list[tuple[str, list[Node]]] = []
        self._latest: dict[Graph, Node] = {}
        # Passes may replace the constants, so that faults are found before them.
        self._ranks: set[tuple[str, str]] = set()
        ranked = {op for op in self._operators if rules_of(op).operand_ranks}
        for node in itertools.chain.from_iterable(self._nodes) if ranked else ():
            fault = rank_fault(node) if node.op in ranked else None
            if fault is not None:
                self._ranks.add((node.op_type, fault))

    def note(self, pass_name: str) -> None:
        """Record the nodes that a pass has added."""
        for graph in self._model.graphs():
            latest, added = self._latest.get(graph), []
            for node in graph.latest_nodes():
                if node is latest or node in self._before:
                    break
                added.append(node)
            if added:
                self._latest[graph] = added[0]
                self._added.append((pass_name, added))

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
                    adders = [name for name, added in self._added if node in added]
                    raise EmissionError(
                        f"{(*adders, 'a pass')[0]} emitted {node.op_type} '{node.path}',"
                        f" which {fault}; nothing was written"
                    )

    def _is_copy(self, node: Node, conformance: Conformance) -> bool:
        """Test for a copy of an original node, which inherits its faults.

        A pass on a copy of the model parses all operators anew: its nodes match by form, unless
        only their element types are at fault.
        """
        if (node.op_type, conformance.fault(node)) in self._ranks:
            return True
        return _form(node.op) in self._forms and conformance.form_fault(node) is not None

    @lazy_property
    def _before(self) -> set[Node]:
        """The original nodes."""
        return set().union(*self._nodes)

    @lazy_property
    def _origins(self) -> set[Operator]:
        """The operators of the original nodes, or the ones that they are copies of."""
        return {op.origin for op in self._operators}

    @lazy_property
    def _forms(self) -> set[tuple[str, ...]]:
        """The forms of the original operators."""
        return {_form(op) for op in self._operators}


def _form(op: Operator) -> tuple[str, ...]:
    return (op.qualname, *op.attributes)


_OLDEST = 7
"""The first opset in which operators broadcast as passes write them."""
_ML = "ai.onnx.ml"


def fitting_opset(ir_version: int, ml_version: int = 0) -> int:
    """Return the newest opset that ONNX released with versions of the file format and ai.onnx.ml.

    Args:
        ir_version: the version of the file format.
        ml_version: the version of ai.onnx.ml; 0 for a model without it.
    """
    rows = [row for row in onnx.helper.VERSION_TABLE if row[1] <= ir_version]
    same = [row[2] for row in rows if row[3] == ml_version]
    return max([_OLDEST, *(same or [row[2] for row in rows])])


@contextlib.contextmanager
def onnx_import(model: Model) -> Iterator[None]:
    """Import ONNX's operators during a rewrite.

    A pass may then write a node into any graph. The imports of roots without such nodes are removed
    at the end.
    """
    added: set[FunctionKey | None] = set()
    for root in model.roots():
        if not root.opset() and not has_onnx_nodes(root):
            version = model.opset() or fitting_opset(model.ir_version, root.opset(_ML))
            root.opset_imports[""] = version
            added.add(_key(root))
    yield
    for root in model.roots():
        if _key(root) in added and not has_onnx_nodes(root):
            root.opset_imports.pop("", None)


def has_onnx_nodes(root: Model | Function) -> bool:
    """Test whether a model's or function's graphs hold a node of ONNX's own domain."""
    operators = (op for graph in root.graph.walk() for op in graph.operators())
    return any(not normal_domain(op.domain) for op in operators)


def _key(root: Model | Function) -> FunctionKey | None:
    return root.key if isinstance(root, Function) else None
