"""Products of quantized operands by products of floats, for targets without integer ones.

A float holds each integer up to 2**24, so that products of differences of bytes are exact up to 258
summands. Longer sums are cut, and the parts are added as integers; those of unknown length are
padded with zeros to whole blocks, which are an axis of their own:

    y = MatMulInteger (a, b)   ->   y = Add (Cast (MatMul (a1, b1)), Cast (MatMul (a2, b2)))
    a[M, K], b[K, N]           ->   y = ReduceSum (Cast (MatMul (a[B, M, 256], b[B, 256, N])))
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ..ir import Value
from ..version_converter.node_draft import NodeDraft
from ..version_converter.snippets import length_of

_EXACT = (1 << 24) // 255**2
"""The most products of two differences of bytes whose sum is exact as a float."""

_BLOCK = 256
"""The length of the blocks of a sum of unknown length."""

_MOST_PARTS = 64
"""The most parts of a sum that are written one after the other."""

_RUN_TIME_PADS = 11
"""The first opset in which the lengths of Pad are an operand."""

_FLOAT, _INT32 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32
_LIMITS: dict[int, tuple[int, int]] = {
    onnx.TensorProto.UINT8: (0, 255),
    onnx.TensorProto.INT8: (-128, 127),
}


def multiply_matrices(draft: NodeDraft) -> Sequence[Value | None]:
    """The product of the differences to the zero points, as integers."""
    return [_matrix_product(draft, (0, 2), (1, 3))]


def convolve(draft: NodeDraft) -> Sequence[Value | None]:
    """The convolution of the differences to the zero points, as integers."""
    return [_convolution(draft, (0, 2), (1, 3))]


def requantize_product(draft: NodeDraft) -> Sequence[Value | None]:
    """The product of integers times one scale, rounded before the zero point is added."""
    ranks = draft.required_rank("scales of rows", 1), draft.required_rank("scales of columns", 4)
    _require_byte(draft, 7)
    if max(ranks) > 1:
        draft.refuse("its scales have more than one axis")
    product = _matrix_product(draft, (0, 2), (3, 5))
    rows = draft.unsqueeze(draft.required(1), [1]) if ranks[0] else draft.required(1)
    return [_requantized(draft, product, (rows, draft.required(4)), 6)]


def requantize_convolution(draft: NodeDraft) -> Sequence[Value | None]:
    """The convolution of integers plus the bias, rounded before the zero point is added."""
    rank = draft.required_rank("a scale for each channel")
    _require_byte(draft, 7)
    total = _convolution(draft, (0, 2), (3, 5))
    if (bias := draft.input(8)) is not None:
        channels = [1, -1, *[1] * (rank - 2)]
        total = draft.emit("Add", [total, _reshaped(draft, bias, channels)], "biased")
    scale = _reshaped(draft, draft.required(4), [-1, *[1] * (rank - 2)])
    return [_requantized(draft, total, (draft.required(1), scale), 6)]


def _require_byte(draft: NodeDraft, index: int) -> None:
    if draft.source < 11:
        draft.refuse("the opset has no Round")
    if draft.elem_type(index) not in _LIMITS:
        draft.refuse("its result is not of 8 bits")


def _reshaped(draft: NodeDraft, value: Value, sizes: Sequence[int]) -> Value:
    return draft.emit("Reshape", [value, draft.ints(sizes, "sizes")], "shaped")


def _matrix_product(draft: NodeDraft, lhs: tuple[int, int], rhs: tuple[int, int]) -> Value:
    """The product of two operands, each with the place of its zero point, as integers."""
    ranks = [draft.required_rank("a product", place) for place, _ in (lhs, rhs)]
    sizes = draft.shape(lhs[0]), draft.shape(rhs[0])
    if min(ranks) < 2:
        draft.refuse("it has a vector")
    ends = [s[axis] for s, axis in zip(sizes, (-1, -2), strict=True) if s]
    length = next((size for size in ends if size is not None), None)
    one = _difference(draft, *lhs, axes=[1])
    other = _difference(draft, *rhs)
    if length is None or length > _MOST_PARTS * _EXACT:
        return _product_of_blocks(draft, (one, other), ranks)
    length = max(length, 1)

    def part(start: int) -> Value:
        a, b = one, other
        if length > _EXACT:
            end = min(start + _EXACT, length)
            a, b = (
                _cut(draft, a, start, end, ranks[0] - 1),
                _cut(draft, b, start, end, ranks[1] - 2),
            )
        return draft.emit("MatMul", [a, b], "product")

    return _sum(draft, part, range(0, length, _EXACT))


def _product_of_blocks(draft: NodeDraft, sides: Sequence[Value], ranks: Sequence[int]) -> Value:
    """The product of two operands, exact for sums of any length, as integers."""
    if draft.source < _RUN_TIME_PADS:
        draft.refuse_unknown("the length of its sums")
    one, other = sides
    swapped = [*range(ranks[1] - 2), ranks[1] - 1, ranks[1] - 2]
    other = draft.emit("Transpose", [other], "columns", perm=swapped)
    a, b = (_blocks(draft, v, rank) for v, rank in zip((one, other), ranks, strict=True))
    b = draft.emit("Transpose", [b], "rows", perm=[*range(ranks[1] - 1), ranks[1], ranks[1] - 1])
    # Blocks are added as integers: their sum as floats would round beyond 2**24.
    whole = draft.emit("Cast", [draft.emit("MatMul", [a, b], "product")], "whole", to=_INT32)
    return draft.along("ReduceSum", whole, [max(ranks) - 2], "total", keepdims=0)


def _blocks(draft: NodeDraft, rows: Value, rank: int) -> Value:
    """Rows in blocks of 256, [.., B, M, 256], the last one filled with zeros."""
    length = length_of(draft, draft.emit("Shape", [rows], "shape"), rank - 1, 1)
    size, one = draft.ints([_BLOCK], "size"), draft.ints([1], "one")
    # One block more than full ones, as a Reshape to no block would copy a size (allowzero is 0).
    count = draft.emit("Add", [draft.emit("Div", [length, size], "full"), one], "count")
    missing = draft.emit("Sub", [draft.emit("Mul", [count, size]), length], "missing")
    none = draft.ints([0] * (2 * rank - 1), "none")
    padded = draft.emit("Pad", [rows, draft.emit("Concat", [none, missing], axis=0)], "padded")
    copied = draft.ints([0] * (rank - 1), "copied")
    shape = draft.emit("Concat", [copied, count, size], "shape", axis=0)
    split = draft.emit("Reshape", [padded, shape], "split")
    return draft.emit("Transpose", [split], perm=[*range(rank - 2), rank - 1, rank - 2, rank])


def _convolution(draft: NodeDraft, data: tuple[int, int], weights: tuple[int, int]) -> Value:
    """The convolution of two operands, each with the place of its zero point, as integers."""
    rank, sizes = draft.required_rank("a convolution"), draft.shape(weights[0])
    if sizes is None or None in sizes[1:]:
        draft.refuse_unknown("the size of its windows")
    channels, volume = sizes[1] or 0, math.prod(size or 0 for size in sizes[2:])
    step = _EXACT // max(volume, 1) if channels * volume > _EXACT else max(channels, 1)
    if not step or (step < channels and draft.attribute("group") != 1):
        draft.refuse("its windows are too large for exact sums of floats")
    _require_parts(draft, -(-channels // step))
    one = _difference(draft, *data)
    other = _difference(draft, *weights, axes=list(range(1, rank)))

    def part(start: int) -> Value:
        a, b = one, other
        if step < channels:
            a, b = (_cut(draft, value, start, min(start + step, channels), 1) for value in (a, b))
        return draft.emit("Conv", [a, b], "product", attributes=draft.attributes)

    return _sum(draft, part, range(0, max(channels, 1), step))


def _require_parts(draft: NodeDraft, count: int) -> None:
    if count > _MOST_PARTS:
        draft.refuse(f"its sums would have more than {_MOST_PARTS} parts")


def _difference(draft: NodeDraft, place: int, zero: int, axes: Sequence[int] = ()) -> Value:
    """An operand minus its zero point as floats; one for each row gets axes."""
    value, point = draft.cast(draft.required(place), _FLOAT), draft.input(zero)
    if point is None:
        return value
    point = draft.cast(point, _FLOAT)
    # A zero point of one axis has one element for each row, or for all.
    if axes and draft.rank(zero) == 1:
        point = draft.unsqueeze(point, axes)
    return draft.emit("Sub", [value, point], "difference")


def _cut(draft: NodeDraft, value: Value, start: int, end: int, axis: int) -> Value:
    bounds = [draft.ints([number], "bound") for number in (start, end, axis)]
    return draft.emit("Slice", [value, *bounds], "part")


def _sum(draft: NodeDraft, part: Callable[[int], Value], starts: Sequence[int]) -> Value:
    """The sum of parts of floats, as integers."""
    total = None
    for start in starts:
        whole = draft.emit("Cast", [part(start)], "whole", to=_INT32)
        total = whole if total is None else draft.emit("Add", [total, whole], "total")
    assert total is not None
    return total


def _requantized(draft: NodeDraft, total: Value, scales: tuple[Value, Value], target: int) -> Value:
    """Integers times two scales over that at `target`, with the next zero point."""
    elem_type = draft.required_elem_type(target + 1, "the limits of its result")
    factor = draft.emit("Mul", scales, "scales")
    factor = draft.emit("Div", [factor, draft.required(target)], "factor")
    number = draft.emit("Mul", [draft.emit("Cast", [total], "float", to=_FLOAT), factor], "number")
    zero = draft.cast(draft.required(target + 1), _FLOAT)
    moved = draft.emit("Add", [draft.emit("Round", [number], "rounded"), zero], "moved")
    limits = [draft.const(np.array(n, np.float32), "limit") for n in _LIMITS[elem_type]]
    return draft.emit("Cast", [draft.emit("Clip", [moved, *limits], "clipped")], to=elem_type)


PRODUCTS = {
    "MatMulInteger": multiply_matrices,
    "ConvInteger": convolve,
    "QLinearMatMul": requantize_product,
    "QLinearConv": requantize_convolution,
}
"""The decompositions by operator."""
