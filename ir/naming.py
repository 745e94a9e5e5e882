"""Names for a whole model: every value gets one that is its own wherever it is visible."""

from __future__ import annotations

from .graph import Graph
from .model import Model
from .value import Value

Names = dict[Value, str]


def assign_names(model: Model) -> Names:
    """Choose the names under which the values of a model are written.

    Inputs of a model or function keep their names and outputs take those of their slots. Every
    other value keeps its label where that is free, pinned ones first, then first come first served
    in the order in which values were added; else it gets a number. No inner name hides an outer
    one, because ONNX forbids that; graphs that do not see each other may share names.
    """
    names: Names = {}
    for root in model.roots():
        _Namer(names).name_graph(root.graph)
    return names


class _Namer:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.taken: set[str] = set()
        self.numbers: dict[str, int] = {}

    def name_graph(self, graph: Graph) -> None:
        """Name what the graph defines, then, with those names taken, what is inside it."""
        mine: list[str] = []
        for value in graph.inputs:
            self.give(value, value.name, mine)
        for value, info in zip(graph.outputs, graph.output_infos, strict=True):
            if value not in self.names and value.graph is graph:
                self.give(value, info.name if graph.is_interface else value.name, mine)
        reserved = graph.reserved - self.taken
        self.taken |= reserved
        mine += reserved
        own: list[Value | None] = list(graph.initializers)
        holders = []
        for node in graph.unordered_nodes():
            own += node.outputs
            if node.bodies:
                holders.append(node)
        present = [value for value in own if value is not None]
        for value in [value for value in present if value.pinned] + present:
            self.give(value, value.name, mine)
        for node in holders:
            for inner in node.graphs():
                self.name_graph(inner)
        self.taken.difference_update(mine)

    def give(self, value: Value, label: str, mine: list[str]) -> None:
        if value in self.names:
            return
        name = label
        if name in self.taken:
            number = self.numbers.get(label, 0)
            while name in self.taken:
                number += 1
                name = f"{label}_{number}"
            self.numbers[label] = number
        self.taken.add(name)
        self.names[value] = name
        mine.append(name)
