"""Who calls whom among a model's own functions, and which of them hold control flow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import networkx as nx
import onnx

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
from ...ir.lazy import lazy_property

SEQUENCES = ("ConcatFromSequence", "SequenceAt", "SequenceLength", "SplitToSequence")
"""The operators that take a sequence apart, or make tensors of it."""

_MOST_REPEATED = 4
"""So many times the nodes of the functions themselves are taken for no repetition."""

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")

_MAY_BE_CONTROL_FLOW = frozenset((*CONTROL_FLOW, *SEQUENCES))


class _Sizes(NamedTuple):
    """Numbers of nodes: of a function's own, of all that it stands for, and of the functions on
    one of the ways from it, which are counted once."""

    own: int
    expanded: int
    once_at_least: int


class CallGraph:
    """Who calls whom among some functions (ONNX IR specification, "Functions")."""

    def __init__(self, functions: Mapping[FunctionKey, Function]) -> None:
        self.functions = functions
        # An edge leads from a function to one that it calls.
        self._calls: nx.DiGraph[FunctionKey] = nx.DiGraph()
        self._calls.add_nodes_from(functions)
        self._calls.add_edges_from(
            (key, callee) for key, f in functions.items() for callee in self.callees(f.graph)
        )
        own = [key for key, f in functions.items() if count_control_flow(f.graph)]
        self._holding = upstream(self._calls, own)
        self._recursive = upstream(self._calls, _in_circles(self._calls))
        self._repeating: dict[FunctionKey, bool] = {}

    def called(self, node: Node) -> Function | None:
        """The function that a node calls; None if it is an operator."""
        return self.functions.get(node.op.function_key)

    def callees(self, graph: Graph) -> Iterator[FunctionKey]:
        """The functions that a graph calls, in what its nodes hold too."""
        return _callees(graph, self.functions)

    def leading_to_control_flow(self, graph: Graph) -> list[tuple[Node, Function]]:
        """The calls in a graph, and in what its nodes hold, of functions with control flow."""
        found = []
        for inner in graph.walk():
            for node in inner.nodes():
                function = self.called(node)
                if function is not None and self.holds_control_flow(function):
                    found.append((node, function))
        return found

    def holds_control_flow(self, function: Function) -> bool:
        """Whether there is control flow in the function or in one that it calls."""
        return function.key in self._holding

    def is_recursive(self, function: Function) -> bool:
        """Whether the function calls itself, if only through others; ONNX forbids that."""
        return function.key in self._recursive

    def expanded_size(self, function: Function) -> int:
        """The number of nodes that a function stands for, in which every call that leads to control
        flow is inlined; counted without walking the calls, of which there may be 2 to the power of
        the functions."""
        return self._sizes[function.key].expanded

    @lazy_property
    def _sizes(self) -> dict[FunctionKey, _Sizes]:
        found: dict[FunctionKey, _Sizes] = {}
        for function in self.callees_first():
            inside = [
                found[called.key]
                for _, called in self.leading_to_control_flow(function.graph)
                if called.key in found
            ]
            own = function_size(function)
            found[function.key] = _Sizes(
                own,
                own + sum(sizes.expanded for sizes in inside),
                own + max((sizes.once_at_least for sizes in inside), default=0),
            )
        return found

    def repeats_itself(self, function: Function) -> bool:
        """Whether calls of the same functions are most of what a function stands for."""
        known = self._repeating.get(function.key)
        if known is None:
            known = self._repeating[function.key] = self._repeats_itself(function)
        return known

    def _repeats_itself(self, function: Function) -> bool:
        sizes = self._sizes[function.key]
        if sizes.expanded <= _MOST_REPEATED * sizes.once_at_least:
            return False
        if sizes.expanded > _MOST_REPEATED * self._size_of_all > 0:
            return True
        reached = self.reached([function.key]) & self._holding
        once = sum(self._sizes[key].own for key in reached)
        return sizes.expanded > _MOST_REPEATED * once > 0

    @lazy_property
    def _size_of_all(self) -> int:
        return sum(self._sizes[key].own for key in self._holding)

    def reached_from(self, graph: Graph) -> set[FunctionKey]:
        """The functions that a graph calls, directly or through others."""
        return self.reached(self.callees(graph))

    def callees_first(self) -> list[Function]:
        """The functions, each after those that it calls; last those that call themselves."""
        ending = self._calls.subgraph(self.functions.keys() - self._recursive)
        order = list(nx.topological_sort(ending.reverse(copy=False)))
        order += [key for key in self.functions if key in self._recursive]
        return [self.functions[key] for key in order]

    def reached(self, keys: Iterable[FunctionKey]) -> set[FunctionKey]:
        """These functions and those that they call, directly or through others."""
        return downstream(self._calls, keys)


def _in_circles(calls: nx.DiGraph[FunctionKey]) -> set[FunctionKey]:
    """The functions that call each other in a circle, or themselves."""
    circles = [c for c in nx.strongly_connected_components(calls) if len(c) > 1]
    return set().union(*circles, nx.nodes_with_selfloops(calls))


def count_control_flow(graph: Graph) -> int:
    """The number of control-flow operators in a graph and in what its nodes hold."""
    return sum(
        is_control_flow(node)
        for inner in graph.walk()
        if not _MAY_BE_CONTROL_FLOW.isdisjoint(inner.kinds())
        for node in inner.unordered_nodes()
    )


def function_size(function: Function) -> int:
    """The number of nodes in a function and in what they hold."""
    return sum(count_nodes(node) for node in function.graph.unordered_nodes())


def is_control_flow(node: Node) -> bool:
    """Whether a node is control flow, or makes tensors and sequences of each other in a way that
    its caller decides."""
    return node.is_op(*CONTROL_FLOW) or (node.is_op(*SEQUENCES) and node.op.references)


def live_functions(model: Model) -> set[FunctionKey]:
    """The functions that the main graph or the training information reaches."""
    waiting = list(_callees(model.graph, model.functions))
    for info in model.training_info:
        for graph in (info.initialization, info.algorithm):
            waiting += [key for key in _named(graph.node) if key in model.functions]
    found = set(waiting)
    while waiting:
        for key in _callees(model.functions[waiting.pop()].graph, model.functions):
            if key not in found:
                found.add(key)
                waiting.append(key)
    return found


def _callees(graph: Graph, functions: Collection[FunctionKey]) -> Iterator[FunctionKey]:
    for inner in graph.walk():
        for node in inner.unordered_nodes():
            key = node.op.function_key
            if key in functions:
                yield key


def _named(nodes: Iterable[onnx.NodeProto]) -> Iterator[FunctionKey]:
    for node in nodes:
        yield normal_domain(node.domain), node.op_type, node.overload
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _named(graph.node)
