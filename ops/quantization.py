"""Quantising and back: kept from folding, as the target may want to see where that is done."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import onnx

from ..facts.fact import Fact
from ..facts.safety_context import Premises, require, same, same_shape
from ..ir import Node, Value
from .agreement import are_finite, fits, is_float, tensors
from .axes import ONE, AxisMap
from .axis_map import Named, PassesAxes
from .batching import Batch, Unbatchable
from .rules import KeepsShape, OperatorRules, describes

FLOAT = onnx.TensorProto.FLOAT


@describes("QuantizeLinear")
@describes("DequantizeLinear")
class Quantization(KeepsShape, PassesAxes):
    """QuantizeLinear and DequantizeLinear, from opset 10 on: by one scale, or (from 13 on) one for
    each position of an axis, or (from 21 on) one for each block."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """No scale is 0, no number is beyond the type, and floats hold the integers."""
        if not super().is_settled(node, arrays, results) or not arrays[1].all():
            return False
        if node.op_type == "QuantizeLinear":
            return _within(results[0])
        return all(is_float(a) or fits(a.astype(np.float64), a.dtype) for a in tensors(arrays))

    def prove_safe(self, premises: Premises) -> None:
        scale = premises.shape(1)
        is_plain = len(scale) < 2 and not premises.node.attribute("block_size", 0)
        require(is_plain, f"{premises.name(1)} may scale blocks")
        if scale:
            image = premises.shape(0)
            same(scale[0], image[premises.axis(len(image), 1)], "scales and the axis")
        if premises.has(2):
            same_shape(premises.shape(2), scale, premises.name(2))

    def require_older_form(self, premises: Premises) -> None:
        scale = premises.shape(1)
        require(scale in ((), (ONE,)), f"{premises.name(1)} may scale positions of an axis")

    accepts_more_from: ClassVar[int] = 13
    why_unbatchable: ClassVar[str] = "scales blocks, or by a run-time number of scales"

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        scale = inputs[1].shape
        if scale is None or len(scale) > 1 or (scale and scale[0].equals(1) is None):
            return {"axis": None}
        return {} if not scale or scale[0] == 1 else {"axis": node.attribute("axis", 1)}

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        shape, scale, own = inputs[0].shape, inputs[1].shape, node.attribute("axis", 1)
        of_axis = shape and axis == own % len(shape) and scale == shape[axis : axis + 1]
        if of_axis:
            return AxisMap((axis, *[0] * (len(inputs) - 1)), None if axis else {})
        return super().axis_map(node, inputs, axis)

    def canonical(self, node: Node, inputs: Sequence[Fact]) -> Mapping[str | int, Any]:
        """One scale for all elements needs no axis."""
        return {"axis": 1} if inputs[1].shape == () else super().canonical(node, inputs)

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.varies(1) or batch.varies(2):
            return self._by_iterations(batch)
        batch.shape(1)
        return super().batch(batch)

    def _by_iterations(self, batch: Batch) -> Sequence[Value]:
        """A scale for each iteration: the iterations are the axis with a scale a position."""
        count = len(batch.operands)
        if batch.rank(1) or batch.emit.opset < 13:
            raise Unbatchable("has more than one scale on each iteration, and they vary")
        return batch.same([batch.spread(index) for index in range(count)], axis=0)


@describes("DynamicQuantizeLinear")
class DynamicQuantization(OperatorRules):
    """DynamicQuantizeLinear, from opset 11 on: one scale for a whole tensor."""

    def batch(self, batch: Batch) -> Sequence[Value]:
        """Quantize the tensor of each iteration by the scale of its own range."""
        emit, name = batch.emit, batch.label()
        if emit.opset < 13 or not all((dim.at_least or 0) > 0 for dim in batch.shape(0)):
            raise Unbatchable("quantizes by a scale for each tensor, which may have no elements")
        value, axes = batch.spread(0), tuple(range(1, 1 + batch.rank(0)))
        zero, one, steps = (emit.number(n, FLOAT, f"{name}_number") for n in (0, 1, 255))
        # The range contains 0, so that 0 is exact.
        ends = []
        for reduction, choice in (("ReduceMin", "Min"), ("ReduceMax", "Max")):
            end = emit.reduce(reduction, value, axes, f"{name}_end") if axes else value
            ends.append(emit.add(choice, [end, zero], f"{name}_end"))
        low, high = ends
        width = emit.add("Sub", [high, low], f"{name}_width")
        scale = emit.add("Div", [width, steps], f"{name}_scale")
        # onnxruntime's scale of zeros is 1 (1.32); the specification would divide by 0.
        scale = emit.select(emit.add("Equal", [width, zero], f"{name}_flat"), one, scale, name)
        place = emit.add("Div", [emit.add("Sub", [zero, low], name), scale], f"{name}_place")
        place = emit.add("Round", [emit.add("Clip", [place, zero, steps], name)], f"{name}_place")
        point = emit.add("Cast", [place], f"{name}_point", to=onnx.TensorProto.UINT8)
        codes = emit.add("QuantizeLinear", [value, scale, point], name, axis=0)
        return [codes, scale, point]


def _within(array: Any) -> bool:
    """Test that no element is the least or the greatest of its type."""
    if is_float(array):
        return are_finite([array])
    info = ml_dtypes.iinfo(array.dtype)  # type: ignore[no-untyped-call]
    wide = array.astype(np.int64)
    return bool(((wide > int(info.min)) & (wide < int(info.max))).all())
