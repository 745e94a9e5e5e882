"""Tensors made from numbers: fills, ranges, one-hot rows, windows of signals."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx

from ..facts.bounds import Bounds, Known
from ..facts.fact import (
    MAX_CONTENT,
    Content,
    Fact,
    Symbols,
    content_from,
    element,
    integers,
    vector,
)
from ..facts.polynomial import Dimension, product
from ..facts.safety_context import Premises, require
from ..ir import Node, Value
from ..limits import allowed
from ..limits import limit as limit_of
from .agreement import is_integer
from .axes import RankAnswer, length_of
from .axis_map import Named, PassesAxes, number_of, opset_of
from .batch_axis import multiplied, sizes_of
from .batching import DIFFERING, Batch, Unbatchable
from .cost_estimates import size_of, times
from .flat_rows import counts_of, numbered, sizes_of_blocks, stretched_blocks
from .rules import Growing, KeepsShape, OperatorRules, Shapes, Total, describes


@describes("ConstantOfShape")
class ConstantOfShape(OperatorRules):
    """ConstantOfShape, from opset 9 on: without a value it is filled with the float 0."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        target = vector(inputs[0])
        return None if target is None else [symbols.sizes(target)]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        target, fill = integers(inputs[0]), _fill(node)
        if target is None or fill is None or math.prod(target.tolist()) > MAX_CONTENT:
            return None
        if fill.dtype.kind not in "ib":
            return None
        content = np.empty(target.tolist(), dtype=object)
        content[...] = bool(fill) if fill.dtype == np.bool_ else Dimension.constant(int(fill))
        return content

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        fill = _fill(node)
        if fill is None or fill.dtype.kind not in "iu":
            return [None]
        number = Dimension.constant(int(fill))
        return [Bounds(number, number)]

    def prove_safe(self, premises: Premises) -> None:
        value = premises.node.attribute("value")
        require(value is None or math.prod(value.dims) == 1, "its value is not one element")
        for dim in premises.content(0):
            premises.at_least(dim, 0, "an axis")

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return size_of(arrays[0])

    def batch(self, batch: Batch) -> Sequence[Value]:
        return [stretched_blocks(batch, 0)] if batch.varies(0) else super().batch(batch)

    def rank(self, node: Node, output: int) -> RankAnswer:
        return length_of(node, 0)


def _fill(node: Node) -> Any:
    """The element, as a number of numpy; None where it is absent."""
    tensor = node.attribute("value")
    return None if tensor is None else onnx.numpy_helper.to_array(tensor).reshape(-1)[0]


@describes("Range")
class Range(OperatorRules):
    """Range, from opset 11 on, of scalars."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        start, limit, delta = (element(fact) for fact in inputs[:3])
        if start is None or limit is None or delta is None:
            return None
        length = limit - start
        if length.value is not None and delta.value:
            # Rounded up; a step in the other direction leaves no element.
            return [(Dimension.constant(max(-(-length.value // delta.value), 0)),)]
        # Another step divides, which no polynomial does.
        return [(length,)] if delta == 1 and length.less(0) is False else None

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        start, limit, delta = [operand.bounds for operand in inputs]
        # The bounds of a range that may run backward are others.
        if start is None or limit is None or delta is None or delta.low.less(1) is not False:
            return [None]
        return [Bounds(start.low, limit.high - 1)]

    def prove_safe(self, premises: Premises) -> None:
        for index in range(3):
            premises.content(index)
        require(bool(premises.numbers(2)), f"{premises.name(2)} is zero")

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test for integers far from the limits of their type, or for whole floats.

        Runtimes count and add others in different ways.
        """
        wide = [array.astype(np.float64) for array in arrays]
        step = wide[2].reshape(-1)
        whole = all(bool((array == np.trunc(array)).all()) for array in wide)
        if not whole or not step.all():
            return False
        if not is_integer(arrays[0]):
            return bool(all((np.abs(array) < 2**10).all() for array in wide))
        info = np.iinfo(arrays[0].dtype)
        end = wide[1] + np.abs(step).max(initial=0.0)
        return bool((np.abs(end) < float(info.max)).all())

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        start, limit, delta = (float(array.reshape(-1)[:1].sum()) for array in arrays)
        return (limit - start) / delta if delta else 0

    def batch(self, batch: Batch) -> Sequence[Value]:
        start, limit, delta = (element(batch.require(index).fact) for index in range(3))
        length = None if start is None or limit is None else (limit - start).value
        if delta is None or not delta.value:
            raise Unbatchable("returns a number of elements that may vary between iterations")
        if length is None:
            return [numbered(batch, delta.value)]
        if not abs(length / delta.value) <= limit_of("construct_elements"):
            raise Unbatchable(f"returns more elements than {allowed('construct_elements')}")
        steps = np.arange(0, length, delta.value)
        kind = onnx.helper.tensor_dtype_to_np_dtype(batch.require(0).fact.elem_type)
        row = batch.emit.constant(steps.astype(kind), batch.label("_row"))
        first = batch.emit.unsqueeze(batch.spread(0), 1, batch.label("_first"))
        return [batch.emit.add("Add", [first, row], batch.label())]


@describes("OneHot")
class OneHot(PassesAxes, Growing):
    """OneHot, from opset 9 on: indices out of range give a row that is off."""

    def prove_safe(self, premises: Premises) -> None:
        rank = len(premises.shape(0))
        premises.axis(rank, -1, extra=1)
        depth = premises.numbers(1)
        positive = depth.size == 1 and int(depth.reshape(())) > 0
        require(positive, f"{premises.name(1)} is not positive")
        require(premises.vector(2) == 2, f"{premises.name(2)} does not hold two elements")

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Its values are copied, its indices whole."""
        wide = [array.astype(np.float64) for array in arrays[:2]]
        return all(bool((array == np.trunc(array)).all()) for array in wide)

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        (new,) = axes
        return [*range(new), None, *range(new, rank)]


@describes("EyeLike")
class EyeLike(KeepsShape):
    """EyeLike, from opset 9 on: of its input only the shape and the type matter."""

    def batch(self, batch: Batch) -> Sequence[Value]:
        # One iteration's matrix is needed, of whatever elements, even where there are no
        # iterations.
        like = batch.emit.add("ConstantOfShape", [sizes_of(batch, 0)], batch.label("_like"))
        kind = batch.node.attribute("dtype") or batch.require(0).fact.elem_type
        if not kind:
            raise Unbatchable("has an input of unknown type")
        (matrix,) = batch.same([like], dtype=kind)
        return [batch.unvarying(matrix)]


@describes("DFT")
class DFT(PassesAxes):
    """DFT, from opset 17 on: along an axis that is an attribute, from 20 on an input."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        length = arrays[1] if len(arrays) > 1 and arrays[1] is not None else 1
        return 2 * times(arrays[0], length)

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        if opset_of(node) < 20:
            return {"axis": node.attribute("axis", 1)}
        return {2: number_of(inputs, 2) if node.input(2) is not None else -2}

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        """The last axis holds real and imaginary parts."""
        return super().passed(node, rank, {*axes, rank - 1})


@describes("STFT")
class STFT(OperatorRules):
    """STFT, from opset 17 on; onnx 1.23 infers all bins where `onesided` is absent."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        batch, size = inputs[0].dims[:2]
        step, length = (element(fact) for fact in (inputs[1], [*inputs, Fact(), Fact()][3]))
        if node.input(2) is not None and inputs[2].shape is not None:
            (length,) = inputs[2].shape
        frames = bins = None
        if length is not None and length.value:
            whole = not node.attribute("onesided", 1)
            bins = Dimension.constant(length.value if whole else length.value // 2 + 1)
            if step is not None and step.value and size.value is not None:
                count = (size.value - length.value) // step.value + 1
                frames = Dimension.constant(max(count, 0))
        frames, bins = (symbols.fresh() if dim is None else dim for dim in (frames, bins))
        return [(batch, frames, bins, Dimension.constant(2))]


@describes("HannWindow", "HammingWindow", "BlackmanWindow", size=lambda n: size_of(n[0]))
@describes("MelWeightMatrix", size=lambda n: size_of(n[0]) * size_of(n[1]))
@describes("AffineGrid", size=lambda n: 3 * size_of(n[1]))
class OfNumbers(OperatorRules):
    """Windows of signals and MelWeightMatrix, from opset 17 on, and AffineGrid, from 20 on."""

    size: Callable[[Sequence[Any]], float]

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return self.size(arrays)


@describes("Shape")
class Shape(Total):
    """Shape: of a part of the axes from opset 15 on."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        part = slice(node.attribute("start"), node.attribute("end"))
        return content_from(list(inputs[0].dims[part]))

    def batch(self, batch: Batch) -> Sequence[Value]:
        start, end = batch.node.attribute("start", 0), batch.node.attribute("end")
        return [batch.unvarying(sizes_of(batch, 0, start, end))]

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        if not batch.varies(0):
            raise Unbatchable(DIFFERING)
        sizes = sizes_of_blocks(batch, counts_of(batch.emit, batch.part(0)))
        start, end = batch.node.attribute("start", 0), batch.node.attribute("end")
        first, last, _ = slice(start, end).indices(batch.rank(0))
        return [batch.emit.cut(sizes, first, max(first, last), 1, batch.label())]


@describes("Size")
class Size(Shape):
    """Size."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return content_from(product(inputs[0].dims))

    def batch(self, batch: Batch) -> Sequence[Value]:
        count = multiplied(batch, sizes_of(batch, 0))
        return [batch.unvarying(batch.emit.squeeze(count, 0, batch.label()))]

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        (sizes,) = super().batch_partial(batch)
        return [batch.emit.reduce("ReduceProd", sizes, (1,), batch.label(), small=True)]
