"""Names for a whole model: every value and node gets one that is its own."""

from __future__ import annotations

from collections.abc import Sequence

from .graph import Graph
from .model import Model
from .node import Node
from .value import Value

Names = dict[Value | Node, str]


def assign_names(model: Model) -> Names:
    """Choose the names under which the values and nodes of a model are written.

    A model that is as it was loaded keeps all names as they are. In any other, no name stands
    twice, not even in graphs that do not see each other: ONNX would allow that, but onnxruntime
    refuses some such models, and two nodes of one name in any. Inputs of a model or function keep
    their names and outputs take those of their slots; everything else keeps its label where that
    is free, pinned values first, then first come first served in the order in which values and
    nodes were added, outer graphs before inner ones. Else it gets a number.
    """
    if model.is_as_loaded:
        return _labels(model)
    names: Names = {}
    for root in model.roots():
        _Namer(names).name_graph(root.graph)
    return names


def _labels(model: Model) -> Names:
    names: Names = {}
    for graph in model.graphs():
        for value in (*graph.inputs, *graph.initializers):
            names[value] = value.name
        for node in graph.unordered_nodes():
            if node.name:
                names[node] = node.name
            for output in node.outputs:
                if output is not None:
                    names[output] = output.name
    return names


class _Namer:
    """Names the graphs of one model or function."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.values = _Taken()
        self.nodes = _Taken()

    def name_graph(self, graph: Graph) -> None:
        """Name what the graph defines, then what is inside it."""
        for value in graph.inputs:
            self.names[value] = self.values.unique(value.name)
        for value, info in zip(graph.outputs, graph.output_infos, strict=True):
            if value.graph is graph:
                self.give(value, info.name if graph.is_interface else value.name)
        self.values.names |= graph.reserved
        nodes = list(graph.unordered_nodes())
        outputs = [v for node in nodes for v in node._outputs if v is not None]
        for value in (*graph.initializers, *outputs):
            if value.pinned:
                self.give(value, value.name)
        named = self.names
        self.give_all([v for v in (*graph.initializers, *outputs) if v not in named], self.values)
        self.give_all([node for node in nodes if node.name], self.nodes)
        for node in nodes:
            if node.bodies:
                for inner in node.graphs():
                    self.name_graph(inner)

    def give_all(self, labelled: Sequence[Value] | Sequence[Node], taken: _Taken) -> None:
        """Name values or nodes, none of which has a name, by their labels."""
        labels = [one.name for one in labelled]
        fresh = set(labels)
        if len(fresh) < len(labels) or not taken.names.isdisjoint(fresh):
            labels = [taken.unique(label) for label in labels]
        else:
            fresh |= taken.names
            taken.names = fresh
        self.names.update(zip(labelled, labels, strict=True))

    def give(self, value: Value, label: str) -> None:
        """Name a value unless it has a name."""
        if value not in self.names:
            self.names[value] = self.values.unique(label)


class _Taken:
    """Names that stand for something already."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._numbers: dict[str, int] = {}

    def unique(self, label: str) -> str:
        """The label, or if it is taken the label with a number; taken from now on."""
        name = label
        if name in self.names:
            number = self._numbers.get(label, 0)
            while name in self.names:
                number += 1
                name = f"{label}_{number}"
            self._numbers[label] = number
        self.names.add(name)
        return name
