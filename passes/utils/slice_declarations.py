"""Declarations of what a Slice of opset 10 returns.

onnx's inference of Slice 10 keeps the name of a dynamic axis: of x [n], x[1:] is [n], too. So does
onnxruntime 1.32, which then lets values of the same sizes share memory, and fails. A declaration
with a name of its own keeps these apart; opsets 9 and 11 need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import onnx

from ...facts.fact import Fact, is_named
from ...ir import Graph, Model, Value

_OPSET = 10


def declare_slices(model: Model, facts: Callable[[], Callable[[Value], Fact]]) -> bool:
    """Declare the outputs of all Slices of opset 10 that have no declaration.

    Args:
        model: the model, changed in place.
        facts: returns an inference of facts; called if there is a Slice.
    """
    if model.opset() != _OPSET:
        return False
    graphs = [graph for graph in model.graphs() if isinstance(graph.root, Model)]
    nodes = [node for graph in graphs for node in graph.nodes_of("Slice")]
    values = [node.output() for node in nodes if node.output().info is None]
    if not values:
        return False
    names, fact_of = _Names(model), facts()
    outputs = {value for graph in graphs for value in graph.outputs}
    return any(_declare(v, fact_of(v), names) for v in values if v not in outputs)


def _declare(value: Value, fact: Fact, names: _Names) -> bool:
    graph = value.graph
    assert graph is not None
    if fact.shape is None or not fact.elem_type or all(dim.value is not None for dim in fact.shape):
        return False
    sizes = [
        dim.value if dim.value is not None else str(dim) if is_named(dim) else names.new()
        for dim in fact.shape
    ]
    value.type = onnx.helper.make_tensor_type_proto(fact.elem_type, sizes)
    graph.value_infos.append(value)
    return True


class _Names:
    """Names of sizes that no declaration of a model has."""

    def __init__(self, model: Model) -> None:
        self._taken = {
            dim.dim_param
            for graph in model.graphs()
            for info in _infos(graph)
            for dim in info.type.tensor_type.shape.dim
        }
        self._count = 0

    def new(self) -> str:
        """A new name."""
        while True:
            self._count += 1
            name = f"sliced_{self._count}"
            if name not in self._taken:
                self._taken.add(name)
                return name


def _infos(graph: Graph) -> Iterable[onnx.ValueInfoProto]:
    yield from graph.output_infos
    for entry in (*graph.inputs, *graph.value_infos):
        if isinstance(entry, onnx.ValueInfoProto):
            yield entry
        elif entry.info is not None:
            yield entry.info
