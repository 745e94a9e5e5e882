"""Nodes around a value: readers, producers, and what a replacement leaves unused."""

from collections.abc import Collection, Iterator, Sequence

from ....ir import Graph, Node, Value
from .reading import is_readable

_MOST_NODES = 24
"""Most nodes of a region."""

LONGEST_WALK = 10
"""Most nodes of a walk toward the inputs."""
MOST_ROOTS = 10
"""Most nodes after a function that may end a form around it."""


def nodes_after(graph: Graph, value: Value, most: int = _MOST_NODES) -> dict[Node, None]:
    """Readable nodes of a graph that depend on a value through readable nodes only.

    Args:
        most: limit of the nodes, of which the nearest are taken.
    """
    region: dict[Node, None] = {}
    waiting = [value]
    for current in waiting:
        for user in graph.users(current):
            if not isinstance(user, Node) or user in region or not is_readable(user):
                continue
            region[user] = None
            if len(region) >= most:
                return region
            waiting.append(user.output())
    return region


def nodes_before(graph: Graph, node: Node) -> Iterator[Node]:
    """Readable nodes that a node depends on, nearest first, with the node itself."""
    yield node
    waiting = [node]
    visited = {node}
    for position, current in enumerate(waiting):
        if position >= LONGEST_WALK:
            return
        for value in current.inputs:
            before = None if value is None else value.producer
            if before is None or before.graph is not graph or before in visited:
                continue
            if is_readable(before):
                visited.add(before)
                waiting.append(before)
                yield before


def nodes_around(graph: Graph, source: Value, seed: Node) -> dict[Node, None]:
    """Readable nodes that depend on a value: the nearest ones, and those around a node.

    Args:
        source: the value, which may have many readers.
        seed: the node; the region is empty where it does not depend on the value.
    """
    region = nodes_after(graph, source)
    if seed not in region:
        dependent, size = {source}, 0
        before = list(nodes_before(graph, seed))[::-1]
        # Nearest nodes first is not the order of the graph: a node may wait for a later one.
        while size < len(dependent):
            size = len(dependent)
            dependent.update(n.output() for n in before if not dependent.isdisjoint(n.inputs))
        if seed.output() not in dependent:
            return {}
        region.update((node, None) for node in before if node.output() in dependent)
    region.update(nodes_after(graph, seed.output(), MOST_ROOTS))
    return region


def through_casts(graph: Graph, value: Value) -> Iterator[Value]:
    """A value, and what it is a Cast of, innermost last."""
    yield value
    for _ in range(LONGEST_WALK):
        node = value.producer
        if node is None or node.graph is not graph or not node.is_op("Cast", "Identity"):
            return
        source = node.input(0)
        if source is None:
            return
        yield source
        value = source


def unused_after(graph: Graph, roots: Sequence[Node], sources: Collection[Value]) -> list[Node]:
    """Nodes that nothing needs without some nodes, readers first, these nodes included.

    Args:
        sources: values that stay in use.
    """
    unused: dict[Node | Graph, None] = dict.fromkeys(roots)
    needed = set(sources)
    waiting = list(roots)
    for node in waiting:
        for value in node.inputs:
            before = None if value is None else value.producer
            if before is None or before.graph is not graph or before in unused or value in needed:
                continue
            if before.bodies or any(v is not None and v.pinned for v in before.outputs):
                continue
            users = [u for v in before.outputs if v is not None for u in graph.users(v)]
            if all(user in unused for user in users):
                unused[before] = None
                waiting.append(before)
    return waiting
