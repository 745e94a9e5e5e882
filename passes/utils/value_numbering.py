"""Value numbering of constants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from ...analysis.constants.equal import content_key
from ...ir import Graph, Tensor, Value


def identity_key(tensor: Tensor) -> Hashable:
    """The key of a constant: its content, or the identity of a large one.

    A `Folder` returns one tensor for all equal ones that it computes.
    """
    return content_key(tensor) or id(tensor)


def merge_constants(
    graph: Graph,
    fixed: Collection[Value] = frozenset(),
    key_of: Callable[[Tensor], Hashable | None] = content_key,
) -> bool:
    """Merge equal constants of a graph, and remove unused ones.

    Args:
        graph: the graph.
        fixed: the constants that stay.
        key_of: the key that equal ones share; None for a constant that stays.

    Returns:
        true after a change.
    """
    representatives: dict[Hashable, Value] = {}
    changed = False
    interface = {*graph.inputs, *graph.outputs, *graph.listed}
    for value, tensor in list(graph.initializers.items()):
        if value in fixed or value in interface or value.pinned or value.constant is None:
            continue
        if not graph.is_used(value):
            graph.remove_initializer(value)
            changed = True
            continue
        key = key_of(tensor)
        if key is None or representatives.setdefault(key, value) is value:
            continue
        graph.replace_uses(value, representatives[key])
        graph.remove_initializer(value)
        changed = True
    return changed
