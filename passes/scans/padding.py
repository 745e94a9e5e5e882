"""Zeros past the end of a row in the scan outputs of a Scan 8."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Array, Tensor, Value
from ...ops.builder import Builder
from .shapes import ScanShapes, Size, ValueAxis

_MOST = np.iinfo(np.int64).max
_PICKED = frozenset(
    {onnx.TensorProto.STRING, onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128}
)
"""The element types that Scan supports, but ConstantOfShape of opset 9 does not."""


@dataclasses.dataclass(frozen=True)
class Padding:
    """The values that pad rows, emitted once in the graph around them.

    Attributes:
        longest: the length of a full row, int64 of shape [1].
        may_be_empty: true if rows may have length 0 and zeros can replace them.
        sizes: the shape of an element of each scan output, an int64 vector; None where only an
            element itself has it.
        elem_types: the element type of each scan output.
    """

    longest: Value
    may_be_empty: bool
    sizes: tuple[Value | None, ...]
    elem_types: tuple[int, ...]

    def fill(self, emitter: Builder, index: int, value: Value, missing: Value) -> Value:
        """Append `missing` zero elements to the scan output of a row."""
        sizes = self.sizes[index]
        if sizes is None:
            shape = emitter.add("Shape", [value], f"{value.name}_shape")
            sizes = emitter.slice(shape, 1, _MOST, f"{value.name}_sizes")
        rest = self._zeros(emitter, index, missing, sizes, f"{value.name}_rest")
        return emitter.concat([value, rest], 0, f"{value.name}_padded")

    def only_zeros(
        self, emitter: Builder, index: int, label: str, batch: Value | None = None
    ) -> Value:
        """The scan output of an empty row, or of a batch of them."""
        sizes, count = self.sizes[index], self.longest
        assert sizes is not None
        if batch is not None:
            count = emitter.concat([batch, count], 0, f"{label}_extent")
        return self._zeros(emitter, index, count, sizes, f"{label}_zeros")

    def _zeros(self, emitter: Builder, index: int, count: Value, sizes: Value, label: str) -> Value:
        scalar = sizes.constant is not None and sizes.constant.size == 0
        shape = count if scalar else emitter.concat([count, sizes], 0, f"{label}_shape")
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.elem_types[index])
        zero = np.full(1, "" if dtype.kind in "OUS" else 0, dtype)
        if self.elem_types[index] not in _PICKED:
            return _fill(emitter, shape, zero, label)
        picks = _fill(emitter, shape, np.zeros(1, np.int64), f"{label}_picks")
        return emitter.add("Gather", [emitter.constant(zero, "zero"), picks], label, axis=0)


def plan_padding(shapes: ScanShapes, emitter: Builder, lengths: Value) -> Padding:
    """Emit the padding for rows of a Scan 8 that are shorter than the longest."""
    scan, length = shapes.scan, shapes.length()
    longest: Sequence[Size] = (
        [length] if length is not None else [ValueAxis(scan.scan_inputs[0], 1)]
    )
    sizes: list[Value | None] = []
    for index, value in enumerate(scan.scan_outputs):
        element = None if value is None else shapes.element_sizes(index)
        sizes.append(None if element is None else emit_sizes(emitter, element, "sizes"))
    certain = all(
        value is None or size is not None
        for value, size in zip(scan.scan_outputs, sizes, strict=True)
    )
    numbers = lengths.constant
    full = numbers is not None and numbers.is_readable and bool(numbers.numpy().all())
    return Padding(
        emit_sizes(emitter, longest, "longest"),
        certain and not full,
        tuple(sizes),
        tuple([shapes.element(index).elem_type for index in range(len(sizes))]),
    )


def iota(emitter: Builder, length: Value) -> Value:
    """Emit the numbers 0, 1, ... below `length`, int64 of shape [1]; opset 9 has no Range."""
    ones = _fill(emitter, length, np.ones(1, np.int64), f"{length.name}_ones")
    indices = emitter.add("NonZero", [ones], f"{length.name}_rows")
    return emitter.squeeze(indices, 0, f"{length.name}_indices")


def _fill(emitter: Builder, shape: Value, element: Array, label: str) -> Value:
    value = Tensor(array=element).message()
    return emitter.add("ConstantOfShape", [shape], label, value=value)


def emit_sizes(emitter: Builder, sizes: Sequence[Size], label: str) -> Value:
    """Emit an int64 vector of sizes, read from values where they are not numbers."""
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) == len(sizes):
        return emitter.vector(tuple(numbers), label)
    parts = []
    for size in sizes:
        if isinstance(size, int):
            parts.append(emitter.constant(np.array([size], np.int64), "size"))
        else:
            shape = emitter.add("Shape", [size.value], f"{size.value.name}_shape")
            name = f"{size.value.name}_{label}"
            parts.append(emitter.slice(shape, size.axis, size.axis + 1, name))
    return emitter.concat(parts, 0, label)
