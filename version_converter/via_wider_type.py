"""Computation in a wider type for types that an older version lacks.

    y = MaxPool <kernel_shape = [2, 2]> (x)
->  (x is int8; MaxPool takes floats only before opset 12)
    y = Cast <to = INT8> (MaxPool <kernel_shape = [2, 2]> (Cast <to = FLOAT> (x)))
"""

from typing import NamedTuple

import numpy as np
import onnx

from ..ir import Value
from ..ops.schema_queries import formals, schema_at
from .node_draft import NodeDraft

_T = onnx.TensorProto
TINY = (_T.INT8, _T.UINT8)
SHORT = (*TINY, _T.INT16, _T.UINT16)
EIGHT_BITS = (_T.FLOAT8E4M3FN, _T.FLOAT8E4M3FNUZ, _T.FLOAT8E5M2, _T.FLOAT8E5M2FNUZ)
WORDS = (*SHORT, _T.INT32, _T.UINT32)


class Detour(NamedTuple):
    """Types for which an operator is computed in a wider type.

    Attributes:
        types: the types, which the opset added.
        via: the type to compute in.
        inputs: the positions of the inputs that are cast; all where their number is open.
        outputs: the positions of the outputs that are cast back.
        offset: an offset, added before and subtracted after. The limits of the wider type, the
            neutral elements, become those of the type when cast back.
    """

    types: tuple[int, ...]
    via: int
    inputs: tuple[int, ...] = (0,)
    outputs: tuple[int, ...] = (0,)
    offset: int = 0


def of_bfloat16(version: int, op_type: str) -> Detour:
    """The row of an operator that computes bfloat16 in 32 bits and rounds once."""
    inputs, outputs = formals(schema_at(op_type, version))
    variable = inputs[0].type_str
    places = [
        tuple([index for index, formal in enumerate(row) if formal.type_str == variable])
        for row in (inputs, outputs)
    ]
    return Detour((_T.BFLOAT16,), _T.FLOAT, places[0], places[1])


DETOURS: dict[tuple[str, int], list[Detour]] = {}
"""By operator and the opset that added the types.

Selections and comparisons, whose outputs are inputs or truth values, and functions of bfloat16.
"""


def compute_via(version: int, *op_types: str, row: Detour) -> None:
    """Register types that operators compute in another type below an opset."""
    for op_type in op_types:
        DETOURS.setdefault((op_type, version), []).append(row)


def detour(draft: NodeDraft) -> list[Value | None] | None:
    """The node in another type, in its own version; None where the table has no row."""
    elem_type = draft.elem_type(0)
    if draft.is_upgrade or elem_type is None:
        return None
    rows = DETOURS.get((draft.op_type, draft.source), ())
    row = next((row for row in rows if elem_type in row.types), None)
    if row is None:
        return None
    draft.builder.opset = draft.source
    offset = _offset(draft, row)
    is_variadic = formals(draft.schema)[0][-1].is_variadic
    for index in range(len(draft.inputs)) if is_variadic else row.inputs:
        value = draft.input(index)
        if value is not None:
            wide = draft.cast(value, row.via)
            draft.set_input(index, wide if offset is None else draft.emit("Add", [wide, offset]))
    results = draft.repeat()
    for index in row.outputs:
        value = results[index] if index < len(results) else None
        if value is not None:
            own = value if offset is None else draft.emit("Sub", [value, offset])
            results[index] = draft.emit("Cast", [own], to=elem_type)
    return results


def _offset(draft: NodeDraft, row: Detour) -> Value | None:
    """The offset of a row; None where it has none, or there is certainly an element."""
    # Limits of the wider type come out only where there is nothing to choose from.
    if not row.offset or all(draft.shape(0) or (None,)):
        return None
    number = np.array(row.offset, onnx.helper.tensor_dtype_to_np_dtype(row.via))
    return draft.const(number, "offset")
