"""Pairs of nodes of two versions of a graph: by name first, then by structure."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence

from .model_data import GraphData, ModelData, NodeData

Key = Callable[[NodeData], Hashable | None]


class Matching:
    """The pairs of nodes of two graphs, as numbers of nodes.

    Args:
        before: the model of the first graph.
        after: the model of the second one.

    Attributes:
        before_of: the node of the first graph for each matched node of the second one.
    """

    def __init__(self, before: ModelData, after: ModelData, graphs: tuple[int, int]) -> None:
        self._models = before, after
        self._graphs = before.graphs[graphs[0]], after.graphs[graphs[1]]
        self.before_of: dict[int, int] = {}
        self._matched: set[int] = set()
        # Each step builds on the pairs before it: the best evidence comes first, names of
        # operators last.
        self._by_names()
        self._by_operands(self._form)
        self._by_readers()
        self._by_operands(self._operator_name)

    def source(self, side: int, name: str) -> Hashable:
        """The identity of a value: equal for values of both graphs that correspond."""
        number, index = self._producers[side].get(name, (-1, 0))
        if number < 0:
            return ("outside", self._constants[side].get(name) or name)
        if side == 1:
            # A negative number is that of an unmatched node, and equals none of the first graph.
            number = self.before_of.get(number, -1 - number)
        return ("node", number, index)

    def _by_names(self) -> None:
        """Match nodes by name and first output; those of one operator first."""
        both: Key = lambda node: (node.name, node.outputs[:1]) if node.name else None  # noqa: E731
        for same_operator in (True, False):
            for key in (both, _first_output, _name):
                self._by_key(key, same_operator)
        self._producers = tuple(_producers(graph) for graph in self._graphs)
        self._constants = tuple(
            {value.name: value.elements for value in graph.constants} for graph in self._graphs
        )

    def _by_key(self, key: Key, same_operator: bool) -> None:
        """Match nodes by a key that one node of each graph has."""

        def keyed(side: int, matched: Iterable[int]) -> dict[Hashable, int]:
            hidden, nodes = set(matched), self._graphs[side].nodes
            keys = [None if n in hidden else key(node) for n, node in enumerate(nodes)]
            counts = Counter(keys)
            return {k: n for n, k in enumerate(keys) if k is not None and counts[k] == 1}

        one = keyed(0, self._matched)
        for k, number in keyed(1, self.before_of).items():
            twin = one.get(k)
            if twin is None:
                continue
            names = self._operator_name(0, twin), self._operator_name(1, number)
            if not same_operator or names[0] == names[1]:
                self._match(twin, number)

    def _by_operands(self, form: Callable[[int, int], Hashable]) -> None:
        """Match nodes of a form on matched operands, in the order of the nodes."""

        def key(side: int, number: int) -> Hashable:
            inputs = self._graphs[side].nodes[number].inputs
            return form(side, number), tuple([self.source(side, name) for name in inputs])

        candidates: dict[Hashable, deque[int]] = defaultdict(deque)
        for number in self._unmatched(0):
            candidates[key(0, number)].append(number)
        for number in self._unmatched(1):
            twins = candidates.get(key(1, number))
            if twins:
                self._match(twins.popleft(), number)

    def _by_readers(self) -> None:
        """Match nodes of one operator that matched nodes read at one place."""
        outputs = [[value.name for value in graph.outputs] for graph in self._graphs]
        waiting: deque[tuple[Sequence[str], Sequence[str]]] = deque([(outputs[0], outputs[1])])
        nodes = self._graphs[0].nodes, self._graphs[1].nodes
        for after in sorted(self.before_of, reverse=True):
            waiting.append((nodes[0][self.before_of[after]].inputs, nodes[1][after].inputs))
        while waiting:
            for one, other in zip(*waiting.popleft(), strict=False):
                before, slot = self._producers[0].get(one, (-1, 0))
                after, twin = self._producers[1].get(other, (-1, 0))
                if min(before, after) < 0 or slot != twin:
                    continue
                if before in self._matched or after in self.before_of:
                    continue
                if self._operator_name(0, before) == self._operator_name(1, after):
                    self._match(before, after)
                    waiting.append((nodes[0][before].inputs, nodes[1][after].inputs))

    def _match(self, before: int, after: int) -> None:
        self.before_of[after] = before
        self._matched.add(before)

    def _unmatched(self, side: int) -> Sequence[int]:
        matched = self._matched if side == 0 else self.before_of
        return [n for n in range(len(self._graphs[side].nodes)) if n not in matched]

    def _operator_name(self, side: int, number: int) -> str:
        node = self._graphs[side].nodes[number]
        return self._models[side].operators[node.operator].name

    def _form(self, side: int, number: int) -> Hashable:
        node = self._graphs[side].nodes[number]
        operator = self._models[side].operators[node.operator]
        return operator.name, operator.attributes, len(node.outputs)


def _first_output(node: NodeData) -> Hashable | None:
    return next(filter(None, node.outputs), None)


def _name(node: NodeData) -> Hashable | None:
    return node.name or None


def _producers(graph: GraphData) -> dict[str, tuple[int, int]]:
    """The node and the output that compute each name."""
    return {
        name: (number, index)
        for number, node in enumerate(graph.nodes)
        for index, name in enumerate(node.outputs)
        if name
    }
