"""Forms of operators for clients that lack some of their element types."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto

from ...facts.types import IEEE_FLOATS, INTEGER_BITS
from ...ir import Node, Value
from ...ops.schema_queries import formals
from ...version_converter.node_draft import NodeDraft
from ...version_converter.types import Types
from .registered import decomposes

_MOVES = (
    *("Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements"),
    *("GatherND", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose"),
    *("ReverseSequence", "ScatterElements", "ScatterND", "Trilu", "Unsqueeze", "Where"),
)
"""Operators that only move elements, but for reductions of ScatterElements and ScatterND."""


def _moved(draft: NodeDraft, elem_type: int) -> list[Value | None]:
    """The operator on truth values as numbers, whose results are truth values again."""
    if draft.attributes.get("reduction") and draft.text("reduction") != "none":
        draft.refuse("it combines elements")
    parameters = formals(draft.schema)[0]
    for index, value in enumerate(draft.inputs):
        formal = parameters[min(index, len(parameters) - 1)]
        is_flag = value is not None and draft.elem_type(index) == TensorProto.BOOL
        # A condition, which takes truth values alone, stays one.
        if value is not None and is_flag and "tensor(float)" in formal.allowed:
            draft.set_input(index, draft.cast(value, elem_type))
    labels = ["" if value is None else "numbers" for value in draft.node.outputs]
    numbers = draft.emit_all(draft.op_type, draft.inputs, labels, attributes=draft.attributes)
    return [None if n is None else draft.cast(n, TensorProto.BOOL) for n in numbers]


def _is_flag(node: Node, types: Types) -> bool:
    """Test for a node that returns truth values."""
    return types.elem_type(node.outputs[0]) == TensorProto.BOOL


def _reads_integers(node: Node, types: Types) -> bool:
    return types.elem_type(node.inputs[0]) in INTEGER_BITS


def _reads_short_unsigned_integers(node: Node, types: Types) -> bool:
    return types.elem_type(node.inputs[0]) in (TensorProto.UINT8, TensorProto.UINT16)


@decomposes(*_MOVES, where=_is_flag)
def move_as_bytes(draft: NodeDraft) -> Sequence[Value | None]:
    """Truth values moved as bytes."""
    return _moved(draft, TensorProto.UINT8)


@decomposes(*_MOVES, where=_is_flag)
def move_as_integers(draft: NodeDraft) -> Sequence[Value | None]:
    """Truth values moved as integers of 32 bits."""
    return _moved(draft, TensorProto.INT32)


@decomposes("Equal", where=lambda node, types: types.elem_type(node.inputs[0]) == TensorProto.BOOL)
def negate_xor(draft: NodeDraft) -> Sequence[Value | None]:
    """Not of Xor, for truth values."""
    return [draft.emit("Not", [draft.emit("Xor", draft.inputs, "differ")])]


@decomposes("Equal", where=lambda node, types: types.elem_type(node.inputs[0]) in IEEE_FLOATS)
def compare_both_ways(draft: NodeDraft) -> Sequence[Value | None]:
    """Neither a greater nor a lower number: MNN (3.6.1) tells zeros of two signs apart."""
    if draft.source < 12:
        draft.refuse("the opset has no GreaterOrEqual")
    either = [draft.emit(f"{name}OrEqual", draft.inputs, "side") for name in ("Greater", "Less")]
    return [draft.emit("And", either)]


@decomposes("Abs", where=_reads_integers)
def take_larger_sign(draft: NodeDraft) -> Sequence[Value | None]:
    """The maximum of an integer and its negative; an unsigned one itself."""
    if draft.required_dtype(0, "a sign").kind == "u":
        return [draft.emit("Identity", [draft.data])]
    return [draft.emit("Max", [draft.data, draft.emit("Neg", [draft.data], "negative")])]


@decomposes("Div", where=_reads_short_unsigned_integers)
def divide_long_integers(draft: NodeDraft) -> Sequence[Value | None]:
    """Unsigned integers divided as longer ones with a sign."""
    wide = [draft.cast(value, TensorProto.INT64) for value in (draft.data, draft.required(1))]
    return [draft.cast(draft.emit("Div", wide), draft.required_elem_type(0, "a quotient"))]


@decomposes("Neg", where=_reads_integers)
def subtract_from_zero(draft: NodeDraft) -> Sequence[Value | None]:
    """Zero less an integer."""
    return [draft.emit("Sub", [_zero(draft), draft.data])]


@decomposes("Relu", where=_reads_integers)
def take_maximum_with_zero(draft: NodeDraft) -> Sequence[Value | None]:
    """The maximum of an integer and zero."""
    return [draft.emit("Max", [draft.data, _zero(draft)])]


@decomposes("Sign", where=_reads_integers)
def compare_with_zero(draft: NodeDraft) -> Sequence[Value | None]:
    """The truth value of an integer above zero, less that of one below."""
    zero, elem_type = _zero(draft), draft.required_elem_type(0, "a sign")
    above = draft.cast(draft.emit("Greater", [draft.data, zero], "above"), elem_type)
    # No unsigned integer is below zero.
    if draft.required_dtype(0, "a sign").kind == "u":
        return [above]
    below = draft.cast(draft.emit("Less", [draft.data, zero], "below"), elem_type)
    return [draft.emit("Sub", [above, below])]


def _zero(draft: NodeDraft) -> Value:
    return draft.const(np.array(0, draft.required_dtype(0, "zero")), "zero")


@decomposes("Cast", where=_is_flag)
def compare_to_zero(draft: NodeDraft) -> Sequence[Value | None]:
    """A truth value of a number: it is not equal to zero."""
    if draft.required_dtype(0, "zero").kind not in "iuf":
        draft.refuse("its operand is not a number")
    return [draft.emit("Not", [draft.emit("Equal", [draft.data, _zero(draft)], "is_zero")])]


@decomposes("Cast")
def cast_like_constant(draft: NodeDraft) -> Sequence[Value | None]:
    """A CastLike with a constant of the type."""
    if draft.source < 15:
        draft.refuse("the opset has no CastLike")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(draft.attribute("to"))
    if dtype.kind not in "iufb":
        draft.refuse("there is no constant of the type")
    like = draft.const(np.zeros(1, dtype), "like")
    attributes = {name: a for name, a in draft.attributes.items() if name == "saturate"}
    return [draft.emit("CastLike", [draft.data, like], attributes=attributes)]
