"""Names of nodes, for clients that name unnamed nodes and do not ask whether a name is taken."""

from __future__ import annotations

import re

from ..ir import Model, Node

_NUMBERED = re.compile(r"(.+)_\d+")


def name_nodes(model: Model) -> int:
    """Name unnamed nodes where a client might give them the name of another one.

    Returns:
        the number of nodes that were named.
    """
    nodes = [node for graph in model.graphs() for node in graph.unordered_nodes()]
    taken = {node.name for node in nodes if node.name}
    kinds = {node.op_type for node in nodes if not node.name}
    if not any(match[1] in kinds for match in map(_NUMBERED.fullmatch, taken) if match):
        return 0
    unnamed = [node for node in nodes if not node.name]
    _number(unnamed, taken)
    return len(unnamed)


def _number(nodes: list[Node], taken: set[str]) -> None:
    """Name nodes after their operators, each by a number of its own."""
    number = 0
    for node in nodes:
        while f"{node.op_type}_{number}" in taken:
            number += 1
        node.name = f"{node.op_type}_{number}"
        taken.add(node.name)
        number += 1
