"""Rank inference of operators by requests for ranks: cheap, as it needs no sizes."""

from __future__ import annotations

from collections.abc import Collection, Generator
from typing import NamedTuple

from ..ir import Node, Value


class RankOf(NamedTuple):
    """Request for the rank of a value, or for the length of a vector."""

    value: Value | None
    is_length: bool = False


RankAnswer = Generator[RankOf, int | None, int | None]
"""Asks one question after the other and returns the answer; None where it is open."""


def rank_of_first(node: Node, more: int = 0) -> RankAnswer:
    """The rank of the first input, and so many axes more."""
    rank = yield RankOf(node.input(0))
    return None if rank is None else rank + more


def rank_of_largest(node: Node) -> RankAnswer:
    """The highest rank of an input."""
    largest = 0
    for value in node.inputs:
        rank = yield RankOf(value)
        if rank is None:
            return None
        largest = max(largest, rank)
    return largest


def length_of(node: Node, index: int) -> RankAnswer:
    """The length of an input, such as a shape."""
    return (yield RankOf(node.input(index), is_length=True))


def written_axes(node: Node) -> Collection[int] | None:
    """The axes of a node, from its attribute or from input 1; None where they are not known."""
    attribute = node.op.attributes.get("axes")
    if attribute is not None:
        return list(attribute.ints)
    value = node.input(1)
    if value is None or value.constant is None:
        return None
    return [int(axis) for axis in value.constant.numpy().flat]


def rank_without(rank: int, axes: Collection[int]) -> int:
    """A rank without some axes."""
    return rank - len({axis % max(rank, 1) for axis in axes})
