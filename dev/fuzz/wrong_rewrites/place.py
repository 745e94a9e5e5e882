"""Where a model is changed: a node of any of its graphs, and what that may read."""

import random
from collections.abc import Callable
from typing import Any

import onnx


def own_names(graph: Any) -> list[str]:
    """What a graph or function is given, and its constants."""
    if isinstance(graph, onnx.GraphProto):
        return [info.name for info in graph.input] + [t.name for t in graph.initializer]
    return list(graph.input)


class Place:
    """The graphs of a model, with what can be read in each."""

    def __init__(self, model: onnx.ModelProto, dice: random.Random) -> None:
        self.model = model
        self.dice = dice
        self.graphs: list[tuple[Any, list[str]]] = []
        self._walk(model.graph, [])
        for function in model.functions:
            self._walk(function, [])

    def _walk(self, graph: Any, outer: list[str]) -> None:
        names = outer + own_names(graph)
        self.graphs.append((graph, outer))
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self._walk(attribute.g, names)
            names = names + [name for name in node.output if name]

    def graph(self) -> tuple[Any, list[str]]:
        """A graph with nodes, larger ones more often, and what is known outside of it."""
        full = [entry for entry in self.graphs if entry[0].node]
        return self.dice.choices(full, [len(graph.node) for graph, _ in full])[0]

    def node(self) -> tuple[onnx.NodeProto, list[str]]:
        """A node, and what it may read."""
        graph, names = self.graph()
        at = self.dice.randrange(len(graph.node))
        names = names + own_names(graph)
        names += [name for node in graph.node[:at] for name in node.output if name]
        return graph.node[at], names


Mutation = Callable[[Place], "bool | None"]
"""Changes the model of a place; False where there was nothing to change."""
