"""Upper bounds of trip counts, from a part of a Loop's condition.

A loop `while go and i < n` with a dynamic `go` makes no more iterations than `i < n` allows.
"""

from collections.abc import Iterator
from typing import NamedTuple

from onnx import TensorProto

from ...facts.reason import Message, Reason
from ...ir import Node, Value
from ..constants.folding import Folder
from ..constants.provenance import origins
from .condition_slice import ConditionSlice
from .trip_count import AbsentCond, TripCount, whole_number

NO_MAXIMUM = 1 << 31
"""The least trip count that counts as none: exporters write the largest integer for no maximum."""

MAXIMUM_UNKNOWN = Message("maximum-unknown", "its maximum depends on {cause}")
UNBOUNDED = Message("unbounded", "it has no maximum, so its copies cannot be counted")
PART_UNKNOWN = Message(
    "condition-part-unknown", f"{UNBOUNDED.template}; a part of its condition depends on {{cause}}"
)


class Part(NamedTuple):
    """A truth value of a body, and its required value for the Loop to continue."""

    value: Value
    holds: bool


def maximum(loop: Node, folder: Folder, limit: int, absent_cond: AbsentCond = "keep") -> TripCount:
    """Bound the trip count of a Loop.

    Args:
        folder: computes parts of the condition.
        limit: the limit of evaluated iterations.
        absent_cond: the meaning of an absent initial condition.
    """
    operand = loop.input(0)
    number = _number(operand)
    bounds = [] if number is None else [number]
    reasons: list[Reason] = []
    exceeded = False
    # Without an initial condition the specification ignores that of the body.
    if loop.input(1) is not None or operand is None or absent_cond == "honour":
        for part in parts(loop.body("body").outputs[0]):
            condition = ConditionSlice(loop, folder, part.value)
            if condition.obstacle is not None:
                reasons.append(Reason.of(condition.obstacle))
                continue
            # A lower bound spares the iterations beyond it.
            iterations = _most(condition, part.holds, min([*bounds, limit]))
            if iterations is not None and iterations <= limit:
                bounds.append(iterations)
            exceeded |= iterations is not None and iterations > limit
    if bounds:
        return TripCount(min(bounds))
    if exceeded:
        return TripCount(None, f"it may make more than {limit} iterations", exceeded)
    if operand is not None and operand.constant is None:
        return TripCount(None, MAXIMUM_UNKNOWN(origins(operand)))
    ways = [why for why in reasons if not why.arguments.get("by_data")]
    return TripCount(None, PART_UNKNOWN(ways[0]) if ways else UNBOUNDED())


def parts(condition: Value) -> Iterator[Part]:
    """Split a condition into its conjuncts in the same graph."""
    stack, visited = [Part(condition, True)], set()
    while stack:
        part = stack.pop()
        if part in visited:
            continue
        visited.add(part)
        node = part.value.producer
        inner = node is not None and node.graph is condition.graph
        if node is None or not inner or not _passes_on(node, part.holds):
            yield part
            continue
        holds = part.holds != node.is_op("Not")
        stack += [Part(v, holds) for v in reversed(node.inputs) if v is not None]


def _passes_on(node: Node, holds: bool) -> bool:
    """Test whether a required value of an output implies that of all inputs."""
    if node.is_op("Cast"):
        source = node.inputs[0]
        return source is not None and source.elem_type == TensorProto.BOOL
    # And holds only if all its operands do, Or fails only if all fail.
    return node.is_op("Identity", "Not", "And" if holds else "Or")


def _number(value: Value | None) -> int | None:
    number = whole_number(value)
    return number if number is not None and number < NO_MAXIMUM else None


def _most(condition: ConditionSlice, holds: bool, limit: int) -> int | None:
    """Count the iterations until a part of the condition ends the Loop. The result exceeds the
    limit where the part still holds then, and is None where it never ends or fails."""
    for iteration in range(limit):
        value = condition.step(iteration)
        if value is None:
            return None
        if value != holds:
            return iteration + 1
        if condition.settled:
            return None
    return limit + 1
