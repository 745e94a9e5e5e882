"""Attributes that became inputs: plain moves, converted both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import onnx

from ..ir import Array
from .node_draft import Site

Form = Literal["ints", "int", "scalar int", "floats", "float", "like data"]
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
    form: Form
    absent: int | float | None = None


MOVES: dict[tuple[str, int], tuple[Move, ...]] = {}
"""By operator and the opset in which the attributes became inputs."""


def moved(version: int, *op_types: str, moves: Sequence[Move]) -> None:
    """Register attributes of operators that became inputs in an opset, for both ways."""
    for op_type in op_types:
        MOVES[op_type, version] = (*MOVES.get((op_type, version), ()), *moves)


_MOST_NUMBERS = 1 << 16
"""Limit of numbers in an attribute, where each is an object of its own."""

_SELF_REFERENCE = 13
"""From here on a Constant can take its value from an attribute of the function around it."""


def carry_moves(site: Site) -> None:
    """Turn attributes into inputs going up, and inputs that are constant into attributes."""
    version, carry = (site.target, to_input) if site.is_upgrade else (site.source, to_attribute)
    for move in MOVES.get((site.node.op_type, version), ()):
        carry(site, move)


def to_input(site: Site, move: Move) -> None:
    """Turn an attribute into an input."""
    message = site.attributes.get(move.attribute)
    if message is not None and message.ref_attr_name:
        _reference_to_input(site, move, message)
        return
    value = site.attribute(move.attribute)
    site.drop(move.attribute)
    if value is None or (move.absent is not None and value == move.absent):
        return
    site.set_input(move.position, site.const(_array(site, move, value), move.attribute))


def _reference_to_input(site: Site, move: Move, message: onnx.AttributeProto) -> None:
    if move.form != "ints" or site.target < _SELF_REFERENCE:
        site.attribute(move.attribute)  # refuses
    reference = onnx.AttributeProto(
        name="value_ints", ref_attr_name=message.ref_attr_name, type=onnx.AttributeProto.INTS
    )
    site.drop(move.attribute)
    value = site.emit("Constant", [], move.attribute, attributes={"value_ints": reference})
    site.set_input(move.position, value)


def _array(site: Site, move: Move, value: Any) -> np.ndarray[Any, Any]:
    if move.form == "like data":
        dtype = site.required_dtype(0, f"the type of '{move.attribute}'")
        with np.errstate(over="ignore"):
            return np.array(value).astype(dtype)
    if move.form in ("floats", "float"):
        return np.array(value, np.float32)
    return np.array([value] if move.form == "int" else value, np.int64)


def to_attribute(site: Site, move: Move) -> None:
    """Turn an input into an attribute."""
    if site.input(move.position) is None:
        if move.absent is not None:
            site.set(move.attribute, move.absent)
        return
    array = site.required_constant(move.position, f"input '{move.attribute}'")
    if move.form not in ("ints", "floats"):
        site.one_number(array, f"'{move.attribute}'")
    elif array.size > _MOST_NUMBERS:
        site.refuse(f"'{move.attribute}' holds {array.size} numbers, which no attribute should")
    site.set_input(move.position, None)
    if move.form in ("ints", "floats"):
        kind = onnx.AttributeProto.INTS if move.form == "ints" else onnx.AttributeProto.FLOATS
        site.set(move.attribute, array.reshape(-1).tolist(), kind)
    elif move.form in ("int", "scalar int"):
        site.set(move.attribute, int(array.reshape(())))
    else:
        site.set(move.attribute, single(site, move.attribute, array))


def single(site: Site, name: str, array: Array) -> float:
    """The single number of a tensor as float attributes hold it.

    Raises:
        Refused: it is not exact there.
    """
    with np.errstate(over="ignore"):
        number = array.reshape(()).astype(np.float32)
    if not (number == array.reshape(()) or np.isnan(number)):
        site.refuse(f"'{name}' = {array} is not exact as a 32-bit float")
    return float(number)
