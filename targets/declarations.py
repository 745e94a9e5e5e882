"""Declared sizes of values inside a model, for clients that hold them against their own."""

from __future__ import annotations

from ..ir import Model, Value


def drop_open_declarations(model: Model) -> int:
    """Remove the declarations of values in the main graph whose sizes are not all numbers.

    Those in bodies stay, since they decide sizes of loops without iterations.

    Returns:
        the number of declarations that were removed.
    """
    graph = model.graph
    declared = {*graph.inputs, *graph.outputs}
    others = [
        entry
        for entry in graph.value_infos
        if not isinstance(entry, Value) or entry in declared or _is_known(entry)
    ]
    count = len(graph.value_infos) - len(others)
    if count:
        graph.value_infos[:] = others
    return count


def _is_known(value: Value) -> bool:
    return all(isinstance(size, int) for size in value.shape or ())
