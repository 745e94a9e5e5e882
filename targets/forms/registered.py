"""Registry of decompositions by operator."""

from collections.abc import Callable, Iterator

from ...ir import Node
from ...version_converter.engine import Decomposition
from ...version_converter.types import Types

DECOMPOSITIONS: dict[str, tuple[Decomposition, ...]] = {}
"""Decompositions by operator, in the order of trials."""
Condition = Callable[[Node, Types], bool]
"""Test for nodes that a decomposition is made for, on the types of their values."""
_CONDITIONS: dict[Decomposition, Condition] = {}


def decomposes(
    *op_types: str, where: Condition | None = None
) -> Callable[[Decomposition], Decomposition]:
    """Register a decomposition of operators into others of the same opset. It refuses before it
    adds any node.

    Args:
        op_types: the operators.
        where: a test for the nodes that it is made for; others are not tried.
    """

    def register(spelling: Decomposition) -> Decomposition:
        for name in op_types:
            DECOMPOSITIONS[name] = (*DECOMPOSITIONS.get(name, ()), spelling)
        if where is not None:
            _CONDITIONS[spelling] = where
        return spelling

    return register


def decompositions_of(name: str, node: Node, types: Types) -> Iterator[Decomposition]:
    """Yield the decompositions of an operator that are made for a node."""
    for spelling in DECOMPOSITIONS.get(name, ()):
        where = _CONDITIONS.get(spelling)
        if where is None or where(node, types):
            yield spelling
