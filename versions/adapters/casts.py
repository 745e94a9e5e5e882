"""Types that an older version does not take, by way of one that it does take: one table.

    y = MaxPool <kernel_shape = [2, 2]> (x)
->  (x is int8; MaxPool takes floats only before opset 12)
    y = Cast <to = INT8> (MaxPool <kernel_shape = [2, 2]> (Cast <to = FLOAT> (x)))
"""

from __future__ import annotations

from typing import NamedTuple

import onnx

from ...ir import Value
from ..site import Site

_T = onnx.TensorProto
_TINY = (_T.INT8, _T.UINT8)
_SHORT = (*_TINY, _T.INT16, _T.UINT16)
_WORDS = (*_SHORT, _T.INT32, _T.UINT32)


class Detour(NamedTuple):
    """Types for which an operator is computed in another type, which holds all their values.

    Attributes:
        op_types: the operators.
        version: the opset that took in the types.
        types: the types.
        via: the type to compute in.
        inputs: the positions of the inputs that are cast.
        outputs: the positions of the outputs that are cast back.
    """

    op_types: tuple[str, ...]
    version: int
    types: tuple[int, ...]
    via: int
    inputs: tuple[int, ...] = (0,)
    outputs: tuple[int, ...] = (0,)


DETOURS = (
    Detour(("Less", "Greater"), 9, _WORDS, _T.DOUBLE, (0, 1), ()),
    Detour(("Equal",), 11, (*_SHORT, _T.UINT32), _T.INT64, (0, 1), ()),
    Detour(("Pad",), 11, _WORDS, _T.DOUBLE, (0, 2)),
    Detour(("TopK",), 11, _WORDS, _T.DOUBLE),
    Detour(("MaxPool",), 12, _TINY, _T.FLOAT),
    Detour(("ReduceMax", "ReduceMin"), 12, _TINY, _T.INT32),
    Detour(("ReduceMax", "ReduceMin"), 20, (_T.BOOL,), _T.UINT8),
)
"""Selections and comparisons only: what they give is one of their inputs, or a truth value."""


def detour(site: Site) -> list[Value | None] | None:
    """The node computed in another type, in its own version; None where the table has no row."""
    elem_type = site.elem_type(0)
    if site.is_upgrade or elem_type is None:
        return None
    for row in DETOURS:
        if site.op_type in row.op_types and site.source == row.version and elem_type in row.types:
            return _by_way_of(site, row, elem_type)
    return None


def _by_way_of(site: Site, row: Detour, elem_type: int) -> list[Value | None]:
    site.written_in = site.source
    for index in row.inputs:
        value = site.input(index)
        if value is not None:
            site.set_input(index, site.cast(value, row.via))
    present = [value is not None for value in site.node.outputs]
    made = iter(
        site.emit_all(
            site.op_type,
            site.inputs,
            [f"in_{index}" for index, there in enumerate(present) if there],
            attributes=site.attributes,
        )
    )
    results = [next(made) if there else None for there in present]
    for index in row.outputs:
        value = results[index]
        if value is not None:
            results[index] = site.emit("Cast", [value], to=elem_type)
    return results
