"""Putting one value in the place of another, with all that is declared about it."""

from __future__ import annotations

from ...ir import Graph, Value


def replace_value(graph: Graph, old: Value, new: Value) -> None:
    """Make all readers of `old` read `new`, which is the same value computed in another way.

    What was declared about `old` (its type) is passed on where `new` has no declaration.
    """
    graph.pass_declaration(old, new)
    graph.replace_uses(old, new)
