"""Reductions and their axes, read alike in all opsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..facts.attribute_or_input import listed_numbers
from ..facts.fact import Fact
from ..ir import Node
from .axes import positions


class ReduceView(NamedTuple):
    """The axes of a Reduce operator.

    Attributes:
        axes: the reduced axes, counted from the front.
        keeps: true if they stay, with a size of 1.
        does_nothing: true for no axes that do not mean all.
    """

    axes: tuple[int, ...]
    keeps: bool
    does_nothing: bool


def read_reduction(node: Node, facts: Sequence[Fact]) -> ReduceView | None:
    """The view of a Reduce operator; None for an unknown rank, or axes that are unknown or not
    there.

    Args:
        node: the node.
        facts: the facts of its inputs.
    """
    first, axes = facts[0], listed_numbers(node, facts, "axes", 1)
    if axes is None and node.input(1) is not None:
        return None
    rank = len(first.shape) if first.shape is not None else getattr(first.content, "ndim", None)
    if rank is None:
        return None
    does_nothing = not axes and bool(node.attribute("noop_with_empty_axes", 0))
    places = positions(axes or (() if does_nothing else range(rank)), rank)
    if places is None:
        return None
    return ReduceView(tuple(sorted(places)), bool(node.attribute("keepdims", 1)), does_nothing)
