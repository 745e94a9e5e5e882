"""The models of a pair as messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import onnx

from ...definitions import Definition, definitions_of
from ...ir import Model, ModelSource, Operator, load, normal_domain
from ...ir.checker import check_well_formed
from ...ir.checker.graphs import Row, rows_of
from ...ir.lazy import lazy_property
from ...ir.subgraph_arity import BODIES
from ...records import record
from ...reference.signature import all_nodes
from .execution.compile_graph import Program, subgraphs_of
from .execution.symbolic_execution import Execution
from .one_graph import is_one_graph
from .terms.term import Term
from .terms.term_manager import Terms


@record(eq=False)
class ModelSide:
    """Model of a pair.

    Attributes:
        source: the model as the caller has it.
        twin: a model with the same graph, if it is known.
    """

    source: ModelSource
    proto: onnx.ModelProto
    folder: Path | None
    twin: ModelSide | None = None

    @lazy_property
    def rows(self) -> list[Row]:
        """Nodes of its main graph."""
        return rows_of(self.proto.graph.node) if self.twin is None else self.twin.rows

    @lazy_property
    def holds_bodies(self) -> bool:
        """Test for nodes with bodies that must fit them; calls of functions may have some, too."""
        nodes = self.proto.graph.node
        if not BODIES.keys().isdisjoint([node.op_type for node in nodes]):
            return True
        return bool(self.proto.functions) and any(
            subgraphs_of(a) for node in nodes for a in node.attribute
        )

    @classmethod
    def pair(
        cls,
        sources: Sequence[ModelSource],
        protos: Sequence[onnx.ModelProto],
        folders: Sequence[Path | None],
    ) -> list[ModelSide]:
        """Sides of two models, which may have one graph."""
        first = cls(sources[0], protos[0], folders[0])
        twin = first if is_one_graph(*protos) else None
        return [first, cls(sources[1], protos[1], folders[1], twin)]

    def shares_graph(self, other: ModelSide) -> bool:
        """Test for a model with the same graph, whose data lies in the same folder."""
        return other.twin is self and self.folder == other.folder

    @property
    def is_standard(self) -> bool:
        """Test for one graph of ONNX's own operators alone."""
        if self.holds_bodies or self.proto.functions:
            return False
        # A name alone is not enough: ONNX has LayerNormalization from opset 17 on.
        return not any(normal_domain(op.domain) or forms for op, forms in self._kinds())

    def rounds_before(self, rewrite: ModelSide) -> bool:
        """Test for an operator whose kernel rounds unlike the definition that is in its place."""
        return rewrite.is_standard and any(
            forms and not any(form.exact for form in forms) for _, forms in self._kinds()
        )

    def _kinds(self) -> Iterator[tuple[Operator, list[Definition]]]:
        """Yield the operators of the main graph, each with its definitions."""
        kinds = {(op_type, "" if bare else node.domain) for node, op_type, bare, *_ in self.rows}
        imports = {each.domain: each.version for each in self.proto.opset_import}
        for op in (Operator(name, domain=domain) for name, domain in kinds):
            yield op, definitions_of(op, imports)

    def require_well_formed(self) -> None:
        """Check the model, unless it is straightline's own.

        Raises:
            ModelError: the model is not well formed.
        """
        if isinstance(self.source, Model):
            return
        if self.holds_bodies:
            load(self.proto)  # which checks whether bodies fit their nodes
        else:
            check_well_formed(self.proto, self.rows)

    @property
    def size(self) -> int:
        """Number of all nodes, also of those in bodies."""
        functions = [function.node for function in self.proto.functions]
        if not (self.holds_bodies or functions):
            return len(self.proto.graph.node)
        return sum(1 for nodes in (self.proto.graph.node, *functions) for _ in all_nodes(nodes))


def node_count(model: onnx.ModelProto) -> int:
    """Count the nodes of the main graph and of the functions, not of bodies."""
    return len(model.graph.node) + sum(len(function.node) for function in model.functions)


class Ran(NamedTuple):
    """Runs of both models on terms.

    Attributes:
        inputs: terms of the inputs, by name.
        runs: the executions, and the main graphs.
    """

    terms: Terms
    inputs: dict[str, Term]
    runs: Sequence[tuple[Execution, Program]]
    outputs: tuple[list[Term | None], list[Term | None]]
