"""Putting one value in the place of another, with all that is declared about it."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import Graph, Value


def replace_value(graph: Graph, old: Value, new: Value) -> None:
    """Make all readers of `old` read `new`, which is the same value computed in another way.

    What was declared about `old` (its type) is passed on where `new` has no declaration.
    """
    replace_values(graph, {old: new})


def replace_values(graph: Graph, values: Mapping[Value, Value]) -> None:
    """The same for many values: one after the other, they would take quadratic time where the
    graph gives out all of them."""
    for old, new in values.items():
        graph.pass_declaration(old, new)
    graph.replace_all_uses(values)
