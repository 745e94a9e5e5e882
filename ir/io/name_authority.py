"""Name authority: unique names for all values and nodes of a model."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import filterfalse

from ..graph import Graph
from ..kinds import takes
from ..model import Function, Model
from ..node import Node, Value, write_name

_OTHERS = re.compile(r"\W+")
_PUNCTUATION = "".join(filterfalse(str.isalnum, map(chr, range(128))))
"""The ASCII characters with which no operator begins."""


class Names:
    """The names of values and nodes in the message: their labels, or replacements.

    Attributes:
        chosen: the names that may differ from labels.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.chosen: dict[Value | Node, str] = {}
        self._node_names: dict[Model | Function, _UsedNames | None] = {}

    def __getitem__(self, one: Value | Node) -> str:
        """The name of a value or of a node; that of a node may be empty."""
        return self.chosen.get(one, one.name)

    def of_new_node(self, graph: Graph, op_type: str) -> str:
        """A name for a node that the graph lacks; none where other nodes have none."""
        root = graph.root
        if root not in self._node_names:
            nodes = [node for each in root.graph.walk() for node in each.unordered_nodes()]
            has_all = all(node.name for node in nodes)
            self._node_names[root] = _UsedNames(self.of(nodes)) if has_all else None
        names = self._node_names[root]
        return "" if names is None else names.unique(op_type)

    def of(self, many: Iterable[Value | Node]) -> list[str]:
        """The names of many."""
        find = self.chosen.get
        return [find(one, one.name) for one in many]

    def all(self) -> list[str]:
        """The names of all values, and of all nodes that have one."""
        return [name for graph in self._model.graphs() for name in self.of(_named_in(graph))]


def _named_in(graph: Graph) -> list[Value | Node]:
    nodes = list(graph.unordered_nodes())
    sources = dict.fromkeys((*graph.inputs, *graph.initializers))
    return [*sources, *_outputs_of(nodes), *(node for node in nodes if node.name)]


def _outputs_of(nodes: Sequence[Node]) -> list[Value]:
    return [value for node in nodes for value in node.outputs if value is not None]


def assign_names(model: Model) -> Names:
    """Choose the names of values and nodes in the message of a model.

    An unchanged model keeps all names. In any other, names are unique, even in graphs that do not
    see each other: ONNX allows duplicates there, but onnxruntime refuses some such models, and two
    nodes of one name in any. Inputs of a model or function keep their names, and outputs take those
    of their slots. Everything else keeps its label where that is free: pinned values first, then in
    the order of insertion, outer graphs before inner ones. Otherwise it gets a number.
    """
    names = Names(model)
    if not model.is_as_loaded:
        # Final functions too, which may have changed before.
        functions = [function.graph for function in model.functions.values()]
        for graph in (model.graph, *functions):
            _Namer(names.chosen).name_graph(graph)
    return names


@takes(model=Model)
def name_nodes(model: Model) -> int:
    """Name the unnamed nodes of a model by operator and number.

    No two nodes share a name. Clients that name nodes do so without a check for collisions.

    Returns:
        the number of nodes that were named.
    """
    count = 0
    for root in model.roots():
        nodes = [node for graph in root.graph.walk() for node in graph.unordered_nodes()]
        unnamed: dict[str, list[Node]] = defaultdict(list)
        for node in nodes:
            if not node.name:
                unnamed[node.op.op_type].append(node)
        names = _UsedNames(_names_like(nodes, unnamed.keys())) if unnamed else _UsedNames()
        for op_type, alike in unnamed.items():
            count += len(list(map(write_name, alike, names.numbered(op_type, len(alike)))))
    return count


def _names_like(nodes: Sequence[Node], op_types: Set[str]) -> Iterator[str]:
    """The spellings of names that may begin with an operator; most names do not."""
    begin = tuple(op_types) if all(op_type.isalnum() for op_type in op_types) else ("",)
    for name in [node.name for node in nodes if node.name]:
        if not name.isascii() or name.lstrip(_PUNCTUATION).startswith(begin):
            # Some clients keep letters, digits and underscores alone.
            yield from (name, _OTHERS.sub("_", name).strip("_"))


class _Namer:
    """Namer of the graphs of one model or function."""

    def __init__(self, chosen: dict[Value | Node, str]) -> None:
        self.chosen = chosen
        self.values = _UsedNames()
        self.nodes = _UsedNames()

    def name_graph(self, graph: Graph) -> None:
        """Name the values and nodes of a graph, then those in its bodies."""
        # Inputs come first, because callers rely on their names.
        for value in graph.inputs:
            self.chosen[value] = self.values.unique(value.name)
        for value, info in zip(graph.outputs, graph.output_infos, strict=True):
            if value.graph is graph:
                self.give(value, info.name if graph.is_interface else value.name)
        self.values.names |= graph.reserved
        nodes = list(graph.unordered_nodes())
        values = [*graph.initializers, *_outputs_of(nodes)]
        for value in [value for value in values if value.pinned]:
            self.give(value, value.name)
        chosen = self.chosen
        self.give_all([value for value in values if value not in chosen], self.values)
        self.give_all([node for node in nodes if node.name], self.nodes)
        for node in nodes:
            if node.bodies:
                for inner in node.graphs():
                    self.name_graph(inner)

    def give_all(self, labelled: Sequence[Value] | Sequence[Node], pool: "_UsedNames") -> None:
        """Name unnamed values or nodes by their labels."""
        labels = [one.name for one in labelled]
        fresh = set(labels)
        # Mostly all labels are free, which sets tell at once.
        if len(fresh) < len(labels) or not pool.names.isdisjoint(fresh):
            names = [pool.unique(label) for label in labels]
            self.chosen.update(zip(labelled, names, strict=True))
        elif len(fresh) < len(pool.names):  # all keep their labels
            pool.names |= fresh
        else:
            fresh |= pool.names
            pool.names = fresh

    def give(self, value: Value, label: str) -> None:
        """Name a value unless it has a name."""
        if value not in self.chosen:
            self.chosen[value] = self.values.unique(label)


class _UsedNames:
    """The names in use."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = set(names)
        self._numbers: dict[str, int] = {}

    def unique(self, label: str) -> str:
        """Reserve the label, with a number if it is in use."""
        name = label
        if name in self.names:
            # Numbers go on from the last one, or many equal labels would take quadratic time.
            number = self._numbers.get(label, 0)
            while name in self.names:
                number += 1
                name = f"{label}_{number}"
            self._numbers[label] = number
        self.names.add(name)
        return name

    def numbered(self, label: str, count: int) -> list[str]:
        """Reserve a number of names: the label itself, then the label with numbers."""
        names = [label, *[f"{label}_{number}" for number in range(1, count)]]
        if not self.names.isdisjoint(names):
            return [self.unique(label) for _ in names]
        self.names.update(names)
        self._numbers[label] = count - 1
        return names
