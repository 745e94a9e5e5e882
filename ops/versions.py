"""In which opset version a node is written; on the way to another one not all are in the same."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Node

VersionOf = Callable[[Node], int]
"""The version of its own domain in which a node is written."""


def version_of_root(node: Node) -> int:
    """The version that a node's model or function imports."""
    assert node.graph is not None
    return node.graph.root.opset(node.domain)
