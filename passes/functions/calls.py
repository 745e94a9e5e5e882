"""Who calls whom among a model's own functions, and which of them hold control flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx

from ...ir import Function, FunctionKey, Graph, Model, Node, normal_domain

SEQUENCES = ("ConcatFromSequence", "SequenceAt", "SequenceLength", "SplitToSequence")
"""The operators that take a sequence apart, or make tensors of it."""

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")


class Calls:
    """The call graph of some functions (ONNX IR specification, "Functions")."""

    def __init__(self, functions: Mapping[FunctionKey, Function]) -> None:
        self.functions = functions
        self._callees = {
            key: list(dict.fromkeys(self.callees(function.graph)))
            for key, function in functions.items()
        }
        self._reached = {key: self.reached(callees) for key, callees in self._callees.items()}
        own = {key for key, f in functions.items() if count_control_flow(f.graph)}
        self._holding = {
            key
            for key, reached in self._reached.items()
            if key in own or not own.isdisjoint(reached)
        }

    def called(self, node: Node) -> Function | None:
        """The function that a node calls; None if it is an operator."""
        return self.functions.get(node.op.function_key)

    def callees(self, graph: Graph) -> Iterator[FunctionKey]:
        """The functions that a graph calls, in what its nodes hold too."""
        for inner in graph.walk():
            for node in inner.unordered_nodes():
                function = self.called(node)
                if function is not None:
                    yield function.key

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
        return any(
            key in self._reached[key] for key in (function.key, *self._reached[function.key])
        )

    def reached_from(self, graph: Graph) -> set[FunctionKey]:
        """The functions that a graph calls, directly or through others."""
        return self.reached(self.callees(graph))

    def callees_first(self) -> list[Function]:
        """The functions, each after those that it calls."""
        # A caller reaches all that its callees reach, and them.
        keys = sorted(self._reached, key=lambda key: len(self._reached[key]))
        return [self.functions[key] for key in keys]

    def reached(self, keys: Iterable[FunctionKey]) -> set[FunctionKey]:
        """These functions and those that they call, directly or through others."""
        reached: set[FunctionKey] = set()
        stack = list(keys)
        while stack:
            key = stack.pop()
            if key not in reached:
                reached.add(key)
                stack += self._callees[key]
        return reached


def count_control_flow(graph: Graph) -> int:
    """The number of control-flow operators in a graph and in what its nodes hold."""
    return sum(is_control_flow(node) for g in graph.walk() for node in g.unordered_nodes())


def is_control_flow(node: Node) -> bool:
    """Whether a node is control flow, or makes tensors and sequences of each other in a way that
    its caller decides."""
    return node.is_op(*CONTROL_FLOW) or (node.is_op(*SEQUENCES) and node.op.references)


def live_functions(model: Model) -> set[FunctionKey]:
    """The functions that the main graph or the training information reaches."""
    calls = Calls(model.functions)
    named: set[FunctionKey] = set()
    for info in model.training_info:
        for graph in (info.initialization, info.algorithm):
            named.update(_named(graph.node))
    return calls.reached_from(model.graph) | calls.reached(named & model.functions.keys())


def _named(nodes: Iterable[onnx.NodeProto]) -> Iterator[FunctionKey]:
    for node in nodes:
        yield normal_domain(node.domain), node.op_type, node.overload
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _named(graph.node)
