"""DFT: the axis of a Fourier transform.

- 17: the operator appears; `axis` is an attribute, by default 1.
- 20: `axis` is an input; one that is absent is -2.
"""

import numpy as np

from ...ir import Array, Value
from ..attribute_to_input import Move, move_attributes
from ..registry import AdapterResult, NodeDraft, longer_form

move_attributes(20, "DFT", moves=[Move("axis", 2, "scalar int", absent=-2)])

_MOST_NUMBERS = 1 << 22
"""Limit of numbers in a matrix."""


@longer_form(17, "DFT")
def multiply_by_matrix(draft: NodeDraft) -> AdapterResult:
    """Below opset 17, constant lengths: a product with the matrix of the transform."""
    rank = draft.required_rank("DFT before opset 17")
    axis, parts = draft.required_axis(draft.attribute("axis"), "DFT"), draft.length(rank - 1)
    if axis == rank - 1 or parts not in (1, 2):
        draft.refuse("its last axis is not known to hold real or complex numbers")
    length = draft.length(axis)
    if length is None:
        draft.refuse_unknown("the matrix of a DFT needs the length of its axis, which")
    size = length
    if draft.input(1) is not None:
        size = int(draft.one_number(draft.required_constant(1, "its length"), "its length"))
    if draft.attribute("onesided") and (draft.attribute("inverse") or parts == 2):
        draft.refuse("one side is of the transform of real numbers only")
    if size < 1 or length * parts * size * 2 > _MOST_NUMBERS:
        draft.refuse(f"the matrix of a DFT of length {size} is empty, or too large")
    dtype = draft.required_dtype(0, "DFT before opset 17")
    data, taps = draft.data, min(length, size)
    # A longer signal is cut; the zeros that a shorter one lacks would add nothing to the sums.
    if taps < length:
        ends = [draft.ints([number], "end") for number in (0, taps, axis)]
        data = draft.emit("Slice", [data, *ends], "cut")
    matrix = _matrix(draft, taps, size, parts)
    return [_along(draft, data, axis, rank, matrix.astype(dtype))]


def _matrix(draft: NodeDraft, taps: int, size: int, parts: int) -> Array:
    """The matrix from the numbers of a signal to those of its transform."""
    inverse = bool(draft.attribute("inverse"))
    count = size // 2 + 1 if draft.attribute("onesided") else size
    # Angles repeat after a turn, and the sines of small ones have more exact digits.
    angles = 2 * np.pi * (np.outer(np.arange(taps), np.arange(count)) % size) / size
    factors = np.exp((1j if inverse else -1j) * angles) / (size if inverse else 1)
    rows = [factors] if parts == 1 else [factors, 1j * factors]
    both = np.stack([np.stack([row.real, row.imag], -1) for row in rows], 1)
    flat: Array = both.reshape(taps * parts, count * 2)
    return flat


def _along(draft: NodeDraft, data: Value, axis: int, rank: int, matrix: Array) -> Value:
    """The product along an axis and that of the parts of complex numbers."""
    order = [*(a for a in range(rank - 1) if a != axis), axis, rank - 1]
    if axis != rank - 2:
        data = draft.emit("Transpose", [data], "axis_last", perm=order)
    around = [0] * (rank - 2)
    flat = draft.emit("Reshape", [data, draft.ints([*around, len(matrix)], "flat")], "flat")
    product = draft.emit("MatMul", [flat, draft.const(matrix, "matrix")], "product")
    count = matrix.shape[1] // 2
    result = draft.emit("Reshape", [product, draft.ints([*around, count, 2], "pairs")], "pairs")
    if axis != rank - 2:
        back = [order.index(a) for a in range(rank)]
        result = draft.emit("Transpose", [result], "ordered", perm=back)
    return result
