"""Putting one value in the place of another, with all that is declared about it."""

from __future__ import annotations

from ...ir import Graph, Value


def replace_value(graph: Graph, old: Value, new: Value) -> None:
    """Make all readers of `old` read `new`, which is the same value computed in another way.

    What was declared about `old` (its type) is passed on where `new` has no declaration.
    """
    if new.info is None and old.info is not None and new.constant is None:
        new.info = old.info
        if new.graph is graph:
            graph.value_infos.append(new)
    graph.replace_uses(old, new)
