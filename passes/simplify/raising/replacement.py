"""Replacement of a region by one operator, and the conditions that all of them share."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import onnx

from ....analysis.shapes.inference import ShapeInference
from ....facts.fact import Shape
from ....facts.notions import Equality, weakest
from ....facts.reason import Message
from ....ir import Array, Graph, Model, Node, Operator, Value, normal_domain
from ....ops.builder import Builder
from ....ops.schema_queries import schema_at, takes
from ....records import record
from ...base import Pass, PassContext
from ...utils.replace_all_uses import replace_values
from .region import unused_after

_RAISED = Message("raised", "is now {operator}, which replaces {count} nodes")

Supports = Callable[[str, int], bool]
"""Test for an operator of an opset."""

FLOAT, HALF, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE


@record(frozen=True)
class Emitted:
    """Node to add.

    Attributes:
        inputs: its operands; an array is a constant to add.
        place: the output that counts.
    """

    op: Operator
    inputs: "Sequence[Operand]"
    place: int = dataclasses.field(default=0, kw_only=True)
    outputs: int = dataclasses.field(default=1, kw_only=True)

    @property
    def sources(self) -> tuple[Value, ...]:
        """The values that it reads, also through other nodes to add."""
        own = [each for each in self.inputs if isinstance(each, Value)]
        return (*own, *(v for each in self._before for v in each.sources))

    @property
    def size(self) -> int:
        """The number of nodes to add."""
        return 1 + sum(each.size for each in self._before)

    @property
    def _before(self) -> "list[Emitted]":
        return [each for each in self.inputs if isinstance(each, Emitted)]


Operand = Value | Array | Emitted | None


@record(frozen=True)
class Match(Emitted):
    """Operator that computes the output of a node.

    Attributes:
        root: the node.
        others: values that its further outputs are.
        unused: the nodes that it replaces, readers first.
        sizes: the shape into which a Reshape brings the output; None for no Reshape.
    """

    root: Node
    others: Sequence[Value] = ()
    unused: Sequence[Node] = ()
    sizes: tuple[int, ...] | None = None


@record(frozen=True)
class RaisingOptions:
    """Options of all passes that raise.

    Attributes:
        exactness: the notion of equality that outputs must keep; only "reals" lets them raise.
    """

    exactness: Equality = "reals"


class Raising(RaisingOptions, Pass):
    """Base of the passes that replace longer forms by operators."""

    keeps_facts: ClassVar[bool] = True
    seeds: ClassVar[tuple[str, ...]] = ()
    """Operators around which a form is looked for."""
    least: ClassVar[Equality] = "reals"
    """The strongest notion of equality that the operators keep."""

    def run(self, model: Model, context: PassContext) -> bool:
        """Raise in every graph."""
        if weakest([self.exactness, self.least]) != self.exactness:
            return False
        changed = False
        for graph in model.graphs():
            seeds = graph.nodes_of(*self.seeds)
            if not seeds:
                continue
            site = Site(graph, context.inference(model), context.supports)
            for seed in seeds:
                if seed.graph is not graph or seed.op.references:
                    continue
                match = self.match(site, seed)
                if match is not None:
                    path = match.root.path
                    what = _RAISED(operator=match.op.op_type, count=len(match.unused))
                    replace(graph, match)
                    context.rewritten(self, match.root, path, what)
                    changed = True
        return changed

    def match(self, site: "Site", seed: Node) -> Match | None:
        """Return the best form around a node."""
        raise NotImplementedError


class Site:
    """Graph in which forms are looked for.

    Args:
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

    def producer(self, value: Value | None, *op_types: str) -> Node | None:
        """The node of the graph, of some operators or any, that computes a value."""
        node = None if value is None else value.producer
        is_own = node is not None and node.graph is self.graph
        return node if is_own and node and (not op_types or node.is_op(*op_types)) else None

    def stands_for(self, source: Value, root: Node) -> bool:
        """Test that a root has type and shape of a source, and is not pinned."""
        value, shape = root.output(), self.shape(source)
        return (
            not value.pinned
            and shape is not None
            and self.shape(value) == shape
            and self.elem_type(value) == self.elem_type(source)
        )

    def completed(self, match: Match) -> Match | None:
        """The match with the nodes that it makes unused; None if it leaves as many as before."""
        producers = [v.producer for v in match.others if v.producer is not None]
        unused = unused_after(self.graph, [match.root, *producers], match.sources)
        if len(unused) <= match.size + (match.sizes is not None):
            return None
        # A value beside the result must not lead to an operand.
        for value in match.others:
            users = set(self.graph.users(value)) - {self.graph, *unused}
            if users or value.pinned:
                return None
        return dataclasses.replace(match, unused=unused)


def replace(graph: Graph, match: Match) -> Value:
    """Replace a form by its operator."""
    olds = [match.root.output(), *match.others]
    emit, labels = Builder(graph), [old.name for old in olds]
    news = _emit(emit, match, labels, match.root.name)
    if match.sizes is not None:
        news[0] = emit.reshape(news[0], match.sizes, labels[0])
    replace_values(graph, dict(zip(olds, news, strict=True)))
    for node in match.unused:
        graph.remove(node)
    return news[0]


def _emit(emit: Builder, node: Emitted, labels: Sequence[str], name: str = "") -> list[Value]:
    """Add a node and the nodes before it."""
    inputs: list[Value | None] = []
    for index, each in enumerate(node.inputs):
        if isinstance(each, np.ndarray):
            inputs.append(emit.constant(each, f"{labels[0]}_{index}"))
        elif isinstance(each, Emitted):
            names = [f"{labels[0]}_{index}", *[f"{labels[0]}_{n}" for n in range(1, each.outputs)]]
            inputs.append(_emit(emit, each, names)[each.place])
        else:
            inputs.append(each)
    # ONNX has no schema of the operators of a runtime.
    add = emit.add_unchecked if normal_domain(node.op.domain) else emit.several
    return add(node.op, inputs, labels, name)


def has_elements(shape: Shape) -> bool:
    """Test that a tensor has an element, without which some kernels fail."""
    return all((dim.at_least or 0) > 0 for dim in shape)


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
