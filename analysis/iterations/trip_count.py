"""Trip counts of Loops that constants decide.

The trip count follows from the maximum M, the initial condition, and the condition that the body
computes (operator specification, Loop). The last is evaluated on the backward slice of the body;
where values are unknown, on shapes.
"""

from typing import Literal

import onnx

from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ir.option_names import by
from ...records import record
from ..constants.folding import Folder
from ..constants.provenance import origins
from .condition_shapes import ConditionShapes
from .condition_slice import ConditionSlice

AbsentCond = Literal["keep", "ignore", "honour"]
"""The meaning of an absent initial condition where the body computes one that may be false. The
specification ignores it; onnxruntime stops there."""

TWO_READINGS = Message(
    "condition-has-two-readings",
    "it has no initial condition but its body computes one: the specification ignores it,"
    " onnxruntime stops when it is false; choose with {option} or"
    " 'straighten{{absent_cond=honour}}'",
)
COUNT_UNKNOWN = Message("trip-count-unknown", "trip count depends on {cause}")
START_UNKNOWN = Message("initial-condition-unknown", "its initial condition depends on {cause}")
CONDITION_UNKNOWN = Message("loop-condition-unknown", "its condition depends on {cause}")
NOT_COMPUTED = Message("condition-not-computed", "its condition cannot be computed: {cause}")
STILL_HOLDS = Message("condition-still-holds", "its condition still holds after {limit} iterations")
NEVER_FALSE = Message("condition-never-false", "its condition never becomes false")
ENDLESS = Message("endless", "it never ends: it has no maximum and its condition stays true")


@record(frozen=True)
class TripCount:
    """A trip count, or the reason why it is unknown.

    Attributes:
        count: the trip count; None where unknown.
        reason: the reason why it is unknown.
        exceeded: the condition still holds after the limit; a larger one may decide it.
    """

    count: int | None
    reason: str = ""
    exceeded: bool = False


_WHOLE = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.BOOL)


def trip_count(
    loop: Node, folder: Folder, limit: int, absent_cond: AbsentCond = "keep"
) -> TripCount:
    """The number of iterations of a Loop.

    Args:
        folder: computes nodes of the condition.
        limit: the limit of evaluated iterations.
        absent_cond: the meaning of an absent initial condition.
    """
    most, first = whole_number(loop.input(0)), whole_number(loop.input(1))
    decided = _by_inputs(loop, most, first)
    if decided is not None:
        return decided
    unconditional = loop.input(1) is None
    if always_holds(loop.body("body")) or (unconditional and absent_cond == "ignore"):
        return _by_maximum(loop, most)
    if unconditional and loop.input(0) is not None and absent_cond == "keep":
        return _in_either_reading(loop, folder, most, limit)
    return _count_by_condition(loop, folder, most, limit)


def _by_inputs(loop: Node, most: int | None, first: int | None) -> TripCount | None:
    """The trip count from the maximum and the initial condition alone; None if open."""
    mistyped, start = _type_fault(loop), loop.input(1)
    if mistyped is not None:
        return TripCount(None, mistyped)
    # Either one alone means zero iterations, whatever the other is.
    if (most is not None and most <= 0) or (first is not None and not first):
        return TripCount(0)
    if start is not None and first is None:
        return TripCount(None, START_UNKNOWN(origins(start)))
    # The condition of the body concerns further iterations.
    return TripCount(1) if most == 1 else None


def _by_maximum(loop: Node, most: int | None) -> TripCount:
    """The trip count of a Loop that only its maximum ends."""
    maximum = loop.input(0)
    if maximum is None:
        return TripCount(None, ENDLESS())
    if most is None:
        return TripCount(None, COUNT_UNKNOWN(origins(maximum)))
    return TripCount(int(most))


_IGNORE = "--passes 'straighten{absent_cond=ignore}'"


def _in_either_reading(loop: Node, folder: Folder, most: int | None, limit: int) -> TripCount:
    """The trip count of a Loop whose absent initial condition does not matter."""
    # The readings agree where the condition holds until the maximum ends the Loop.
    if most is not None and most <= limit:
        computed = _count_by_condition(loop, folder, most, limit)
        if computed.count == most:
            return computed
    return TripCount(None, TWO_READINGS(option=by(_IGNORE)))


def always_holds(body: Graph) -> bool:
    """Test whether the body's condition is a true constant or its own input."""
    condition = skip_identities(body.outputs[0])
    # It was true at the start, else there is no iteration.
    if condition is body.inputs[1]:
        return True
    return bool(whole_number(condition))


def is_ambiguous(loop: Node) -> bool:
    """Test whether runtimes may ignore the condition of a Loop's body."""
    if loop.input(1) is not None or "body" not in loop.bodies:
        return False
    return not always_holds(loop.body("body"))


def skip_identities(value: Value) -> Value:
    """The source of a chain of Identity nodes."""
    while value.producer is not None and value.producer.is_op("Identity"):
        source = value.producer.inputs[0]
        if source is None:
            break
        value = source
    return value


def whole_number(value: Value | None) -> int | None:
    """The integer or truth value of a constant with one element; None for others."""
    constant = None if value is None else value.constant
    if constant is None or constant.size != 1 or constant.elem_type not in _WHOLE:
        return None
    # M and cond may be shaped [1].
    return int(constant.numpy().reshape(()))


def _type_fault(loop: Node) -> str | None:
    """The fault of a constant maximum or initial condition of the wrong type or size."""
    for position, what, required in (
        (0, "maximum", onnx.TensorProto.INT64),
        (1, "initial condition", onnx.TensorProto.BOOL),
    ):
        value = loop.input(position)
        if value is None or value.constant is None:
            continue
        if value.constant.elem_type != required:
            name = onnx.TensorProto.DataType.Name(value.constant.elem_type).lower()
            return f"its {what} '{value.name}' is {name}, which the specification does not allow"
        if value.constant.size != 1:
            return f"its {what} '{value.name}' has {value.constant.size} elements instead of one"
    return None


_MOST_FOLLOWED = 1000
"""The limit of iterations on shapes: each costs an inference of the body."""


def _count_by_condition(loop: Node, folder: Folder, most: int | None, limit: int) -> TripCount:
    slice_ = ConditionSlice(loop, folder)
    if slice_.obstacle is None:
        computed = _count(slice_, loop, most, limit)
        if not slice_.failure:
            return computed
    else:
        computed = TripCount(None, CONDITION_UNKNOWN(slice_.obstacle))
    followed = min(limit, _MOST_FOLLOWED)
    by_shapes = _count(ConditionShapes(loop, folder), loop, most, followed)
    if by_shapes.count is not None or (by_shapes.exceeded and followed == limit):
        return by_shapes
    return computed


def _count(
    condition: ConditionSlice | ConditionShapes, loop: Node, most: int | None, limit: int
) -> TripCount:
    iterations = 0
    while most is None or iterations < most:
        if iterations >= limit:
            return TripCount(None, STILL_HOLDS(limit=limit), exceeded=True)
        holds = condition.step(iterations)
        if holds is None:
            return TripCount(None, NOT_COMPUTED(condition.failure))
        iterations += 1
        if not holds:
            break
        if condition.settled:
            if most is None:
                return TripCount(None, NEVER_FALSE())
            return TripCount(most)
    maximum = loop.input(0)
    if maximum is not None and most is None:
        # The condition's trip count is known, but the maximum may be lower.
        return TripCount(None, COUNT_UNKNOWN(origins(maximum)))
    return TripCount(iterations)
