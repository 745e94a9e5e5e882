"""How often a Loop runs at most, where only a part of what ends it is known before run time.

A loop `while go and i < n` whose `go` run time decides makes no more trips than `i < n` allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnx import TensorProto

from ...facts.reason import Message, Reason
from ...ir import Node, Value
from ..constants.folding import Folder
from ..constants.provenance import origins
from .condition_slice import ConditionSlice
from .trip_count import AbsentCond, whole_number

NO_MAXIMUM = 1 << 31
"""Loops that have no maximum are written with the largest integer there is; what would take so many
trips or more is none."""

MAXIMUM_UNKNOWN = Message("maximum-unknown", "its maximum depends on {cause}")
UNBOUNDED = Message("unbounded", "it has no maximum, so its copies cannot be counted")
PART_UNKNOWN = Message(
    "condition-part-unknown", f"{UNBOUNDED.template}; a part of its condition depends on {{cause}}"
)


class Part(NamedTuple):
    """A truth value of a body, and what it has to be for the Loop to go on."""

    value: Value
    holds: bool


class Maximum(NamedTuple):
    """The most trips that a Loop can make, or why nothing bounds them; `exceeded` where a part of
    its condition still holds after the limit."""

    trips: int | None
    reason: str = ""
    exceeded: bool = False


def maximum(loop: Node, folder: Folder, limit: int, absent_cond: AbsentCond = "keep") -> Maximum:
    """The most trips that a Loop can make.

    Args:
        loop: the node.
        folder: computes parts of the condition.
        limit: parts of the condition are followed for so many trips.
        absent_cond: how to read a Loop without an initial condition.
    """
    given = loop.input(0)
    known = _number(given)
    found = [] if known is None else [known]
    reasons: list[Reason] = []
    exceeded = False
    if loop.input(1) is not None or given is None or absent_cond == "honour":
        for part in parts(loop.body("body").outputs[0]):
            condition = ConditionSlice(loop, folder, part.value)
            if condition.obstacle is not None:
                reasons.append(Reason.of(condition.obstacle))
                continue
            trips = _most(condition, part.holds, min([*found, limit]))
            if trips is not None and trips <= limit:
                found.append(trips)
            exceeded |= trips is not None and trips > limit
    if found:
        return Maximum(min(found))
    if exceeded:
        return Maximum(None, f"it may make more than {limit} trips", exceeded)
    if given is not None and given.constant is None:
        return Maximum(None, MAXIMUM_UNKNOWN(origins(given)))
    ways = [why for why in reasons if not why.arguments.get("by_data")]
    return Maximum(None, PART_UNKNOWN(ways[0]) if ways else UNBOUNDED())


def parts(condition: Value) -> Iterator[Part]:
    """The truth values of the same graph that must all be as said for a condition to hold."""
    stack, seen = [Part(condition, True)], set()
    while stack:
        part = stack.pop()
        if part in seen:
            continue
        seen.add(part)
        node = part.value.producer
        inner = node is not None and node.graph is condition.graph
        if node is None or not inner or not _passes_on(node, part.holds):
            yield part
            continue
        holds = part.holds != node.is_op("Not")
        stack += [Part(v, holds) for v in reversed(node.inputs) if v is not None]


def _passes_on(node: Node, holds: bool) -> bool:
    """Whether a node's output is as said only if all its inputs are."""
    if node.is_op("Cast"):
        source = node.inputs[0]
        return source is not None and source.elem_type == TensorProto.BOOL
    return node.is_op("Identity", "Not", "And" if holds else "Or")


def _number(value: Value | None) -> int | None:
    number = whole_number(value)
    return number if number is not None and number < NO_MAXIMUM else None


def _most(condition: ConditionSlice, holds: bool, limit: int) -> int | None:
    """After how many trips a part of the condition ends the Loop: more than the limit where it
    still holds then, None where it never does or cannot be computed."""
    for trip in range(limit):
        found = condition.step(trip)
        if found is None:
            return None
        if found != holds:
            return trip + 1
        if condition.settled:
            return None
    return limit + 1
