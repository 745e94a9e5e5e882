"""Replacement of a region by one operator, and the conditions that all of them share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import onnx

from ....analysis.shapes.inference import ShapeInference
from ....facts.fact import Shape
from ....facts.notions import Equality
from ....facts.reason import Message
from ....ir import Array, Graph, Model, Node, Operator, Value
from ....ops.builder import Builder
from ....ops.schema_queries import takes
from ....ops.schemas import schema_at
from ...base import Pass
from ...context import PassContext
from ...utils.replace_all_uses import replace_value
from .region import unused_after

_RAISED = Message("raised", "is now {operator}, which replaces {count} nodes")

Supports = Callable[[str, int], bool]
"""Test for an operator of an opset."""

FLOAT, HALF, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE


@dataclasses.dataclass(frozen=True)
class Match:
    """Form of an operator in a graph.

    Attributes:
        root: the node whose output the operator computes.
        op: the operator.
        inputs: its inputs; an array is a constant to add.
        sources: the values that it reads.
    """

    root: Node
    op: Operator
    inputs: Sequence[Value | Array | None]
    unused: Sequence[Node] = ()

    @property
    def sources(self) -> tuple[Value, ...]:
        """The values that the operator reads."""
        return tuple([each for each in self.inputs if isinstance(each, Value)])


@dataclasses.dataclass(frozen=True)
class RaisingOptions:
    """Options of all passes that raise.

    Attributes:
        exactness: the notion of equality that outputs must keep; only "reals" lets them raise.
    """

    exactness: Equality = "reals"


class Raising(RaisingOptions, Pass):
    """Base of the passes that replace longer forms by operators."""

    seeds: ClassVar[tuple[str, ...]] = ()
    """Operators around which a form is looked for."""

    def run(self, model: Model, context: PassContext) -> bool:
        """Raise in every graph."""
        if self.exactness != "reals":
            return False
        changed = False
        for graph in model.graphs():
            for seed in graph.nodes_of(*self.seeds):
                if seed.graph is not graph or seed.op.references:
                    continue
                site = Site(graph, context.inference(model), context.supports)
                match = self.match(site, seed)
                if match is not None:
                    path = match.root.path
                    what = _RAISED(operator=match.op.op_type, count=len(match.unused))
                    replace(graph, match)
                    context.rewritten(self, match.root, path, what)
                    changed = True
        return changed

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the best form around a node."""
        raise NotImplementedError


class Site:
    """Graph in which forms are looked for.

    Args:
        graph: the graph.
        inference: the facts.
        supports: tests whether the client has an operator in an opset; None for any client.
    """

    def __init__(
        self, graph: Graph, inference: ShapeInference, supports: Supports | None = None
    ) -> None:
        self.graph = graph
        self.inference = inference
        self.opset = graph.root.opset()
        self._supports = supports

    def has(self, op_type: str) -> bool:
        """Test for an operator in the opset, of the client too."""
        if schema_at(op_type, self.opset) is None:
            return False
        return self._supports is None or self._supports(op_type, self.opset)

    def takes(self, op_type: str, elem_type: int, doubles: bool = False) -> bool:
        """Test that the opset has an operator for a type, and onnxruntime a kernel.

        Args:
            op_type: the operator.
            elem_type: the type.
            doubles: true if kernels compute doubles as doubles.
        """
        types = (FLOAT, HALF, DOUBLE) if doubles else (FLOAT, HALF)
        is_taken = elem_type in types and takes(op_type, 0, elem_type, self.opset)
        return is_taken and self.has(op_type)

    def elem_type(self, value: Value) -> int:
        """Element type of a value; 0 if unknown."""
        return self.inference.fact(value).elem_type

    def shape(self, value: Value) -> Shape | None:
        """Shape of a value; None if unknown."""
        return self.inference.fact(value).shape

    def stands_for(self, source: Value, root: Node) -> bool:
        """Test that a root has type and shape of a source, and is not pinned."""
        value, shape = root.output(), self.shape(source)
        return (
            not value.pinned
            and shape is not None
            and self.shape(value) == shape
            and self.elem_type(value) == self.elem_type(source)
        )

    def completed(self, match: Match, extra: int = 0) -> Match | None:
        """The match with the nodes that it makes unused; None if it leaves as many as before."""
        unused = unused_after(self.graph, match.root, match.sources)
        if len(unused) <= 1 + extra:
            return None
        return dataclasses.replace(match, unused=unused)


def replace(graph: Graph, match: Match) -> Value:
    """Replace a form by its operator."""
    emit, old = Builder(graph), match.root.output()
    inputs = [
        emit.constant(each, f"{old.name}_{index}") if isinstance(each, np.ndarray) else each
        for index, each in enumerate(match.inputs)
    ]
    new = emit.apply(match.op, inputs, old.name, match.root.name)
    replace_value(graph, old, new)
    for node in match.unused:
        graph.remove(node)
    return new


def nodes_between(
    graph: Graph, source: Value, root: Node, region: Mapping[Node, None]
) -> list[Node]:
    """Nodes of a region that a root depends on."""
    inside = {root: None}
    waiting = [root]
    for node in waiting:
        for value in node.inputs:
            before = None if value is None or value is source else value.producer
            if before is not None and before in region and before not in inside:
                inside[before] = None
                waiting.append(before)
    return waiting
