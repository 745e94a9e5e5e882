"""Which nodes draw random numbers: those are never folded, merged, hoisted or repeated."""

from __future__ import annotations

from ..ir import Function, Graph, Node
from .rules import rules_of


def draws_random_numbers(node: Node) -> bool:
    """Whether the node is random itself."""
    return rules_of(node.op).draws_random_numbers(node)


def find_random(graph: Graph, functions: dict[tuple[str, str, str], Function]) -> Node | None:
    """A random node in a graph, in what its nodes hold, or in a model function that one calls;
    None if there is none."""
    return _find(graph, functions, set())


def _find(
    graph: Graph, functions: dict[tuple[str, str, str], Function], seen: set[Function]
) -> Node | None:
    for node in graph.unordered_nodes():
        if draws_random_numbers(node):
            return node
        inside = list(node.graphs())
        called = functions.get(node.op.function_key)
        if called is not None and called not in seen:
            seen.add(called)
            inside.append(called.graph)
        for body in inside:
            found = _find(body, functions, seen)
            if found is not None:
                return found
    return None
