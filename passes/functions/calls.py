"""The call graph of a model's own functions, and the functions that hold control flow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...ir import (
    Function,
    FunctionKey,
    Graph,
    Model,
    Node,
    count_nodes,
    downstream,
    normal_domain,
    upstream,
)
from ...ir.dataflow_graph import reach
from ...ir.lazy import lazy_property
from ...reference.signature import all_nodes

if TYPE_CHECKING:
    import networkx as nx

SEQUENCES = ("ConcatFromSequence", "SequenceAt", "SequenceLength", "SplitToSequence")
"""The operators that split or join a sequence of tensors."""

_MOST_REPEATED = 4
"""The ratio of expanded nodes to own nodes up to which a function does not count as repetitive."""

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")

_MAY_BE_CONTROL_FLOW = frozenset((*CONTROL_FLOW, *SEQUENCES))


class _Sizes(NamedTuple):
    """Numbers of nodes: a function's own, the expanded ones, and those of one call path from it."""

    own: int
    expanded: int
    once_at_least: int


class CallGraph:
    """The call graph of some functions (ONNX IR specification, "Functions")."""

    def __init__(self, functions: Mapping[FunctionKey, Function]) -> None:
        import networkx as nx

        self.functions = functions
        # An edge leads from a function to one that it calls.
        self._calls: nx.DiGraph[FunctionKey] = nx.DiGraph()
        self._calls.add_nodes_from(functions)
        self._calls.add_edges_from(
            (key, callee) for key, f in functions.items() for callee in self.callees(f.graph)
        )
        own = [key for key, f in functions.items() if count_control_flow(f.graph)]
        self._holding = upstream(self._calls, own)
        self._recursive = upstream(self._calls, _cyclic(self._calls))
        self._repeating: dict[FunctionKey, bool] = {}

    def callee(self, node: Node) -> Function | None:
        """The function that a node calls; None for an operator."""
        return self.functions.get(node.op.function_key)

    def callees(self, graph: Graph) -> Iterator[FunctionKey]:
        """The functions that a graph calls, in its nested graphs too."""
        return _callees(graph, self.functions)

    def leading_to_control_flow(self, graph: Graph) -> list[tuple[Node, Function]]:
        """The calls in a graph and its nested graphs of functions with control flow."""
        calls = []
        for inner in graph.walk():
            for node in inner.nodes():
                function = self.callee(node)
                if function is not None and self.holds_control_flow(function):
                    calls.append((node, function))
        return calls

    def holds_control_flow(self, function: Function) -> bool:
        """Test whether the function, or one that it calls, holds control flow."""
        return function.key in self._holding

    def is_recursive(self, function: Function) -> bool:
        """Test whether the function calls itself, directly or through others, which ONNX
        forbids."""
        return function.key in self._recursive

    def expanded_size(self, function: Function) -> int:
        """The number of nodes of a function after inlining all calls with control flow.

        Counted without a walk over the calls: of n functions there may be 2 to the power of n.
        """
        return self._sizes[function.key].expanded

    @lazy_property
    def _sizes(self) -> dict[FunctionKey, _Sizes]:
        sizes_of: dict[FunctionKey, _Sizes] = {}
        for function in self.callees_first():
            inside = [
                sizes_of[callee.key]
                for _, callee in self.leading_to_control_flow(function.graph)
                if callee.key in sizes_of
            ]
            own = function_size(function)
            sizes_of[function.key] = _Sizes(
                own,
                own + sum(sizes.expanded for sizes in inside),
                own + max((sizes.once_at_least for sizes in inside), default=0),
            )
        return sizes_of

    def repeats_itself(self, function: Function) -> bool:
        """Test whether repeated calls of the same functions make up most of the expanded nodes."""
        repeats = self._repeating.get(function.key)
        if repeats is None:
            repeats = self._repeating[function.key] = self._repeats_itself(function)
        return repeats

    def _repeats_itself(self, function: Function) -> bool:
        sizes = self._sizes[function.key]
        if sizes.expanded <= _MOST_REPEATED * sizes.once_at_least:
            return False
        if sizes.expanded > _MOST_REPEATED * self._size_of_all > 0:
            return True
        reached = self.reachable([function.key]) & self._holding
        once = sum(self._sizes[key].own for key in reached)
        return sizes.expanded > _MOST_REPEATED * once > 0

    @lazy_property
    def _size_of_all(self) -> int:
        return sum(self._sizes[key].own for key in self._holding)

    def reachable_from(self, graph: Graph) -> set[FunctionKey]:
        """The functions that a graph calls, directly or through others."""
        return self.reachable(self.callees(graph))

    def callees_first(self) -> list[Function]:
        """The functions, each after its callees, with recursive ones last."""
        import networkx as nx

        ending = self._calls.subgraph(self.functions.keys() - self._recursive)
        order = list(nx.topological_sort(ending.reverse(copy=False)))
        order += [key for key in self.functions if key in self._recursive]
        return [self.functions[key] for key in order]

    def reachable(self, keys: Iterable[FunctionKey]) -> set[FunctionKey]:
        """These functions and their callees, direct or not."""
        return downstream(self._calls, keys)


def _cyclic(calls: nx.DiGraph[FunctionKey]) -> set[FunctionKey]:
    """The functions on a cycle of calls."""
    import networkx as nx

    circles = [c for c in nx.strongly_connected_components(calls) if len(c) > 1]
    return set().union(*circles, nx.nodes_with_selfloops(calls))


def count_control_flow(graph: Graph) -> int:
    """The number of control-flow operators in a graph and its nested graphs."""
    return sum(
        is_control_flow(node)
        for inner in graph.walk()
        if not _MAY_BE_CONTROL_FLOW.isdisjoint(inner.kinds())
        for node in inner.unordered_nodes()
    )


def function_size(function: Function) -> int:
    """The number of nodes in a function and its nested graphs."""
    return sum(count_nodes(node) for node in function.graph.unordered_nodes())


def is_control_flow(node: Node) -> bool:
    """Test for control flow, or for a sequence operator with an attribute of the caller."""
    return node.is_op(*CONTROL_FLOW) or (node.is_op(*SEQUENCES) and node.op.references)


def live_functions(model: Model) -> set[FunctionKey]:
    """The functions that the main graph or the training information reaches."""
    waiting = list(_callees(model.graph, model.functions))
    for info in model.training_info:
        for graph in (info.initialization, info.algorithm):
            calls = [
                (normal_domain(node.domain), node.op_type, node.overload)
                for node in all_nodes(graph.node)
            ]
            waiting += [key for key in calls if key in model.functions]
    return reach(lambda key: _callees(model.functions[key].graph, model.functions), waiting)


def _callees(graph: Graph, functions: Collection[FunctionKey]) -> Iterator[FunctionKey]:
    for inner in graph.walk():
        for node in inner.unordered_nodes():
            key = node.op.function_key
            if key in functions:
                yield key
