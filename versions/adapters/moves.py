"""Constants that were attributes and became inputs: one table, carried both ways."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import onnx

from ..site import Site
from .registry import Outcome, downgrade, upgrade

Form = Literal["ints", "int", "scalar int", "floats", "float", "like data"]
"""What the input is: 64-bit integers of rank 1, one such of rank 1 or 0, floats of rank 1, one
float of rank 0, or one number of rank 0 of the type of input 0."""


class Move(NamedTuple):
    """One attribute that became an input.

    Attributes:
        op_types: the operators.
        version: the opset in which it became an input.
        attribute: its name before.
        position: that of the input.
        form: what tensor the input is.
        absent: what an absent input means where the older version has another default; None where
            absence means the same in both.
    """

    op_types: tuple[str, ...]
    version: int
    attribute: str
    position: int
    form: Form
    absent: int | float | None = None


REDUCTIONS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
)

MOVES = (
    Move(("Upsample",), 9, "scales", 1, "floats"),
    Move(("Slice",), 10, "starts", 1, "ints"),
    Move(("Slice",), 10, "ends", 2, "ints"),
    Move(("Slice",), 10, "axes", 3, "ints"),
    Move(("TopK",), 10, "k", 1, "int"),
    # Infinities pass an absent bound, and not the older version's default, the largest float.
    Move(("Clip",), 11, "min", 1, "like data", absent=-np.inf),
    Move(("Clip",), 11, "max", 2, "like data", absent=np.inf),
    Move(("Pad",), 11, "pads", 1, "ints"),
    Move(("Pad",), 11, "value", 2, "like data", absent=0.0),
    Move(("Dropout",), 12, "ratio", 1, "float", absent=0.5),
    Move(("ReduceSum", "Squeeze", "Unsqueeze"), 13, "axes", 1, "ints"),
    Move(("Split",), 13, "split", 1, "ints"),
    Move(REDUCTIONS, 18, "axes", 1, "ints"),
    Move(("DFT",), 20, "axis", 2, "scalar int", absent=-2),
)

_SELF_REFERENCE = 13
"""From here on a Constant can take its value from an attribute of the function around it."""


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
    if move.form not in ("ints", "floats") and array.size != 1:
        site.refuse(f"'{move.attribute}' must be one number, not {array.size}")
    site.set_input(move.position, None)
    if move.form in ("ints", "floats"):
        kind = onnx.AttributeProto.INTS if move.form == "ints" else onnx.AttributeProto.FLOATS
        site.set(move.attribute, array.reshape(-1).tolist(), kind)
    elif move.form in ("int", "scalar int"):
        site.set(move.attribute, int(array.reshape(())))
    else:
        with np.errstate(over="ignore"):
            number = array.reshape(()).astype(np.float32)
        if not (number == array.reshape(()) or np.isnan(number)):
            site.refuse(f"'{move.attribute}' = {array} is not exact as a 32-bit float")
        site.set(move.attribute, float(number))


def register_moves() -> None:
    """Register an adapter each way for every operator and version of the table."""
    for key in dict.fromkeys(
        (op_type, move.version) for move in MOVES for op_type in move.op_types
    ):
        op_type, version = key
        moves = [m for m in MOVES if m.version == version and op_type in m.op_types]

        def up(site: Site, moves: list[Move] = moves) -> Outcome:
            """Attributes that become inputs."""
            for move in moves:
                to_input(site, move)
            return None

        def down(site: Site, moves: list[Move] = moves) -> Outcome:
            """Inputs that become attributes, where they are constant."""
            for move in moves:
                to_attribute(site, move)
            return None

        upgrade(version, op_type)(up)
        downgrade(version, op_type)(down)
