"""Replacement of a value by an equal one, with its declaration."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import Graph, Value


def replace_value(graph: Graph, old: Value, new: Value) -> None:
    """Replace all uses of `old` by `new`, an equal value.

    The declared type of `old` is copied where `new` has no declaration.
    """
    replace_values(graph, {old: new})


def replace_values(graph: Graph, values: Mapping[Value, Value]) -> None:
    """Replace all uses of many values at once.

    One by one, this would take quadratic time for outputs of the graph.
    """
    for old, new in values.items():
        graph.pass_declaration(old, new)
    graph.replace_all_uses(values)
