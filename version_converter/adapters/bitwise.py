"""BitwiseAnd, BitwiseNot, BitwiseOr and BitwiseXor: integers, bit by bit.

- 18: the operators appear.

    y = BitwiseXor (x, z)
->  (opset 18 to 17)
    both = the sum of 2^k over all k whose bit is set in x and in z
    y = x + z - 2 * both
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Value
from ..registry import AdapterResult, NodeDraft, longer_form

_INT64, _UINT64 = onnx.TensorProto.INT64, onnx.TensorProto.UINT64
_HALF = 2**32
_SHORT_NUMBERS = 14
"""The opset from which on integers of 8 and 16 bits are subtracted."""


@longer_form(18, "BitwiseNot")
def subtract_from_all_ones(draft: NodeDraft) -> Sequence[Value | None]:
    """Below opset 18: all ones minus the number, which never borrows."""
    own, dtype = draft.required_elem_type(0, "all ones"), draft.required_dtype(0, "all ones")
    ones = draft.const(np.array(-1).astype(dtype), "all_ones")
    if dtype.itemsize < 4 and draft.final < _SHORT_NUMBERS:
        operands = [draft.cast(value, _INT64) for value in (ones, draft.data)]
        return [draft.emit("Cast", [draft.emit("Sub", operands, "turned")], to=own)]
    return [draft.emit("Sub", [ones, draft.data])]


@longer_form(18, "BitwiseAnd", "BitwiseOr", "BitwiseXor")
def combine_bits(draft: NodeDraft) -> AdapterResult:
    """Below opset 18: sums of the powers of two that both numbers hold, as 64-bit integers; numbers
    of 64 bits by halves."""
    own = draft.required_elem_type(0, "counting bits")
    dtype = draft.required_dtype(0, "counting bits")
    operands, signed = [draft.required(index) for index in range(2)], dtype.kind == "i"
    if dtype.itemsize < 8:
        wide = [draft.cast(value, _INT64) for value in operands]
        combined = _combined(draft, wide, dtype.itemsize * 8, signed)
        return [draft.emit("Cast", [combined], to=own)]
    halves = zip(*[_halves(draft, value, own) for value in operands], strict=True)
    parts = [
        _combined(draft, list(row), 32, is_signed)
        for row, is_signed in zip(halves, (signed, False), strict=True)
    ]
    high, low = (draft.as_type(part, own) for part in parts)
    moved = draft.emit("Mul", [high, _number(draft, _HALF, own)], "moved")
    return [draft.emit("Add", [moved, low])]


def _number(draft: NodeDraft, number: int, elem_type: int = _INT64) -> Value:
    return draft.const(np.array(number, onnx.helper.tensor_dtype_to_np_dtype(elem_type)), "number")


def _halves(draft: NodeDraft, value: Value, own: int) -> tuple[Value, Value]:
    """The 32 bits above, with the sign, and below, as 64-bit integers."""
    unit = _number(draft, _HALF, own)
    # Mod has the sign of its divisor, so the lower half is never negative.
    low = draft.emit("Mod", [value, unit], "low")
    high = draft.emit("Div", [draft.emit("Sub", [value, low], "rest"), unit], "high")
    return draft.as_type(high, _INT64), draft.as_type(low, _INT64)


def _combined(draft: NodeDraft, operands: list[Value], width: int, signed: bool) -> Value:
    """The operator on numbers of some bits, negative ones in two's complement."""
    zero, whole = _number(draft, 0), _number(draft, 2**width)
    raised = [draft.emit("Add", [value, whole], "raised") for value in operands]
    negative = [draft.emit("Less", [value, zero], "negative") for value in operands]
    pairs = zip(negative, raised, operands, strict=True)
    numbers = [draft.emit("Where", list(row), "bits") for row in pairs]
    powers = draft.const(2 ** np.arange(width, dtype=np.int64), "powers")
    bits = [_bits(draft, number, powers) for number in numbers]
    terms = draft.emit("Mul", [draft.emit("Mul", bits, "both"), powers], "terms")
    both = draft.along("ReduceSum", terms, [-1], "both", keepdims=0)
    if draft.op_type == "BitwiseAnd":
        result = both
    else:
        total = draft.emit("Add", numbers, "total")
        result = draft.emit("Sub", [total, both], "either")
        if draft.op_type == "BitwiseXor":
            result = draft.emit("Sub", [result, both], "one")
    if not signed:
        return result
    lowered = draft.emit("Sub", [result, whole], "lowered")
    is_small = draft.emit("Less", [result, _number(draft, 2 ** (width - 1))], "is_small")
    return draft.emit("Where", [is_small, result, lowered], "signed")


def _bits(draft: NodeDraft, number: Value, powers: Value) -> Value:
    """The bits of a number along a new last axis."""
    two, row = _number(draft, 2), draft.unsqueeze(number, [-1])
    quotient = draft.emit("Div", [row, powers], "quotient")
    halved = draft.emit("Div", [quotient, two], "halved")
    return draft.emit("Sub", [quotient, draft.emit("Mul", [halved, two], "even")], "bit")
