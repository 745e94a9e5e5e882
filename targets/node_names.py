"""Names of nodes, for clients that name unnamed nodes without a check for collisions."""

from __future__ import annotations

import re

from ..ir import Model, Node

_NUMBERED = re.compile(r"(.+)_\d+")


def name_nodes(model: Model) -> int:
    """Name unnamed nodes where a client's names may collide with others.

    Returns:
        the number of nodes that were named.
    """
    nodes = [node for graph in model.graphs() for node in graph.unordered_nodes()]
    names = {node.name for node in nodes if node.name}
    kinds = {node.op_type for node in nodes if not node.name}
    if not any(match[1] in kinds for match in map(_NUMBERED.fullmatch, names) if match):
        return 0
    unnamed = [node for node in nodes if not node.name]
    _number(unnamed, names)
    return len(unnamed)


def _number(nodes: list[Node], names: set[str]) -> None:
    """Name nodes after their operators, with unique numbers."""
    number = 0
    for node in nodes:
        while f"{node.op_type}_{number}" in names:
            number += 1
        node.name = f"{node.op_type}_{number}"
        names.add(node.name)
        number += 1
