"""Names of nodes, for clients that name unnamed nodes without a check for collisions."""

from __future__ import annotations

import re

from ..ir import Model, name_nodes

_NUMBERED = re.compile(r"(.+)_\d+")


def name_colliding_nodes(model: Model) -> int:
    """Name unnamed nodes where a client's names may collide with others.

    Returns:
        the number of nodes that were named.
    """
    nodes = [node for graph in model.graphs() for node in graph.unordered_nodes()]
    names = {node.name for node in nodes if node.name}
    kinds = {node.op_type for node in nodes if not node.name}
    if not any(match[1] in kinds for match in map(_NUMBERED.fullmatch, names) if match):
        return 0
    return name_nodes(model)
