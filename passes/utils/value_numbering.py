"""Letting equal constants of a graph be one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from ...analysis.constants.equal import content_key
from ...ir import Graph, Tensor, Value


def same_key(tensor: Tensor) -> Hashable:
    """What tells a constant from others: its content, or of a large one that it is another tensor;
    a `Folder` gives one tensor for all equal ones that it computes."""
    return content_key(tensor) or id(tensor)


def merge_equal(
    graph: Graph,
    kept: Collection[Value] = frozenset(),
    key_of: Callable[[Tensor], Hashable | None] = content_key,
) -> bool:
    """Let equal constants of a graph be one, and remove those that nothing reads; says whether any
    went.

    Args:
        graph: the graph.
        kept: constants that are not looked at.
        key_of: what equal ones have in common; None for one that is not compared.
    """
    found: dict[Hashable, Value] = {}
    changed = False
    given = {*graph.inputs, *graph.outputs, *graph.listed}
    for value, tensor in list(graph.initializers.items()):
        if value in kept or value in given or value.pinned or value.constant is None:
            continue
        if not graph.is_used(value):
            graph.remove_initializer(value)
            changed = True
            continue
        key = key_of(tensor)
        if key is None or found.setdefault(key, value) is value:
            continue
        graph.replace_uses(value, found[key])
        graph.remove_initializer(value)
        changed = True
    return changed
