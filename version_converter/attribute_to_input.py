"""Attributes that became inputs: plain moves, converted both ways."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import onnx

from ..ir import Array
from .node_draft import NodeDraft

ValueForm = Literal["ints", "int", "scalar int", "floats", "float", "like data"]
"""Form of the input: 64-bit integers of rank 1, one such of rank 1 or 0, floats of rank 1, one
float of rank 0, or one number of rank 0 of the type of input 0."""


class Move(NamedTuple):
    """One attribute that became an input.

    Attributes:
        attribute: its name before.
        position: that of the input.
        form: the type and rank of the input.
        absent: the meaning of an absent input where the older version has another default; None
            where absence means the same in both.
    """

    attribute: str
    position: int
    form: ValueForm
    absent: int | float | None = None


MOVES: dict[tuple[str, int], tuple[Move, ...]] = {}
"""By operator and the opset in which the attributes became inputs."""


def move_attributes(version: int, *op_types: str, moves: Sequence[Move]) -> None:
    """Register attributes of operators that became inputs in an opset, for both ways."""
    for op_type in op_types:
        MOVES[op_type, version] = (*MOVES.get((op_type, version), ()), *moves)


_MOST_NUMBERS = 1 << 16
"""Limit of numbers in an attribute, where each is an object of its own."""

_SELF_REFERENCE = 13
"""From here on a Constant can take its value from an attribute of the function around it."""


def apply_moves(draft: NodeDraft) -> None:
    """Turn attributes into inputs going up, and inputs that are constant into attributes."""
    version, carry = (draft.target, to_input) if draft.is_upgrade else (draft.source, to_attribute)
    for move in MOVES.get((draft.node.op_type, version), ()):
        carry(draft, move)


def to_input(draft: NodeDraft, move: Move) -> None:
    """Turn an attribute into an input."""
    name = move.attribute
    if name in draft.attributes and move.form == "ints" and draft.target >= _SELF_REFERENCE:
        reference = onnx.AttributeProto()
        reference.CopyFrom(draft.attributes[name])
        reference.name = "value_ints"
        if reference.ref_attr_name:
            draft.drop(name)
            input_ = draft.emit("Constant", [], name, attributes={"value_ints": reference})
            draft.set_input(move.position, input_)
            return
    value = draft.attribute(name)  # refuses another reference
    draft.drop(name)
    if value is not None and (move.absent is None or value != move.absent):
        draft.set_input(move.position, draft.const(_array(draft, move, value), name))


def _array(draft: NodeDraft, move: Move, value: Any) -> np.ndarray[Any, Any]:
    if move.form == "like data":
        dtype = draft.required_dtype(0, f"the type of '{move.attribute}'")
        # A number beyond the type becomes infinite, without a warning of numpy.
        with np.errstate(over="ignore"):
            return np.array(value).astype(dtype)
    if move.form in ("floats", "float"):
        return np.array(value, np.float32)
    return np.array([value] if move.form == "int" else value, np.int64)


def to_attribute(draft: NodeDraft, move: Move) -> None:
    """Turn an input into an attribute."""
    if draft.input(move.position) is None:
        if move.absent is not None:
            draft.set(move.attribute, move.absent)
        return
    array = draft.required_constant(move.position, f"input '{move.attribute}'")
    draft.set_input(move.position, None)
    if array.size > _MOST_NUMBERS:
        draft.refuse(f"'{move.attribute}' holds {array.size} numbers, too many for an attribute")
    if move.form in ("ints", "floats"):
        kind = onnx.AttributeProto.INTS if move.form == "ints" else onnx.AttributeProto.FLOATS
        draft.set(move.attribute, array.reshape(-1).tolist(), kind)
        return
    number = draft.one_number(array, f"'{move.attribute}'")
    is_int = move.form in ("int", "scalar int")
    draft.set(move.attribute, int(number) if is_int else single(draft, move.attribute, array))


def single(draft: NodeDraft, name: str, array: Array) -> float:
    """The single number of a tensor as float attributes hold it.

    Raises:
        Refused: it is not exact there.
    """
    with np.errstate(over="ignore"):
        number = array.reshape(()).astype(np.float32)
    if not (number == array.reshape(()) or np.isnan(number)):
        draft.refuse(f"'{name}' = {array} is not exact as a 32-bit float")
    return float(number)
