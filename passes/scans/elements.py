"""Split of a Scan's inputs into elements, and stack of elements into its outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Array, Value
from ...ops.builder import Builder
from ..iteration.scan_layout import ScanLayout
from .shapes import ScanShapes


def slices(emitter: Builder, value: Value, count: int, axis: int, rest: int = 0) -> list[Value]:
    """Emit one Split for the first `count` slices of length 1; the axis has `rest` more."""
    if count == 1 and not rest:
        return [value]
    labels = [f"{value.name}_{index}" for index in range(count)]
    sizes = [1] * count
    if rest:
        labels, sizes = [*labels, f"{value.name}_rest"], [*sizes, rest]
    return emitter.split(value, sizes, axis, labels)[:count]


@dataclasses.dataclass(frozen=True)
class Rows:
    """The rows of a Scan: those of the batch of a Scan 8, a single one from version 9 on.

    Attributes:
        scan: the Scan.
        shapes: its sizes.
        lengths: the length of each row.
        longest: the length of a full row.
    """

    scan: ScanLayout
    shapes: ScanShapes
    lengths: Sequence[int]
    longest: int

    @property
    def batched(self) -> bool:
        """True for a Scan 8."""
        return self.shapes.version == 8

    def states(self, emitter: Builder) -> list[list[Value]]:
        """The initial states of each row."""
        if not self.batched:
            return [list(self.scan.states)]
        count = len(self.lengths)
        columns = [
            [emitter.squeeze(v, 0, f"{v.name}_row") for v in slices(emitter, state, count, 0)]
            for state in self.scan.states
        ]
        return [[column[row] for column in columns] for row in range(count)]

    def elements(self, emitter: Builder) -> list[list[list[Value | None]]]:
        """The elements of the scan inputs, by row and iteration; None without a reader."""
        scan, columns = self.scan, list[Sequence[Sequence[Value | None]]]()
        forward: dict[tuple[Value, int], list[list[Value]]] = {}
        arguments = scan.body.inputs[len(scan.states) :]
        scanned = zip(
            arguments, scan.scan_inputs, scan.input_axes, scan.input_backward, strict=True
        )
        for argument, value, axis, backward in scanned:
            if not scan.body.is_used(argument):
                columns.append([[None] * length for length in self.lengths])
                continue
            if (value, axis) not in forward:
                count = len(self.lengths) if self.batched else 1
                rows = slices(emitter, value, count, 0)
                pairs = zip(rows, self.lengths, strict=True)
                forward[value, axis] = [self._row(emitter, row, axis, n) for row, n in pairs]
            columns.append([row[:: -1 if backward else 1] for row in forward[value, axis]])
        return [
            [[column[row][iteration] for column in columns] for iteration in range(length)]
            for row, length in enumerate(self.lengths)
        ]

    def _row(self, emitter: Builder, row: Value, axis: int, length: int) -> list[Value]:
        """Emit the elements of one row, in the order of the axis."""
        if not length:
            return []
        axes = (0, 1) if self.batched else (axis,)
        parts = slices(emitter, row, length, axes[-1], self.longest - length)
        return [emitter.squeeze(part, axes, f"{part.name}_element") for part in parts]

    def stack(
        self, emitter: Builder, index: int, rows: Sequence[Sequence[Value]], label: str
    ) -> Value:
        """Emit a scan output from the elements of each row; at least one has some."""
        axis = self.scan.output_axes[index]
        axes = (0, 1) if self.batched else (axis,)
        extended = [[emitter.unsqueeze(v, axes, f"{v.name}_row") for v in row] for row in rows]
        if not self.batched:
            backward = self.scan.output_backward[index]
            return emitter.concat(extended[0][:: -1 if backward else 1], axis, label)
        sample = next(row[0] for row in extended if row)
        padded = [[*row, *self._zeros(emitter, index, len(row), sample)] for row in extended]
        labels = row_labels(label, len(rows))
        parts = [emitter.concat(row, 1, own) for row, own in zip(padded, labels, strict=True)]
        return emitter.concat(parts, 0, label)

    def _zeros(self, emitter: Builder, index: int, length: int, sample: Value) -> list[Value]:
        """Emit zeros after the end of a row of some length."""
        count, shape = self.longest - length, element_shape(self.shapes, index)
        if not count:
            return []
        if shape is not None:
            zeros = zeros_of(self.shapes, index, (1, count, *shape))
            return [emitter.constant(zeros, "zeros")]
        zero = emitter.constant(zeros_of(self.shapes, index, ()), "zero")
        like = emitter.add("Shape", [sample], f"{sample.name}_shape")
        return [emitter.add("Expand", [zero, like], f"{sample.name}_zeros")] * count


def row_labels(label: str, count: int) -> list[str]:
    """The labels of the rows of a value."""
    return [label] if count == 1 else [f"{label}_{number}" for number in range(count)]


def element_shape(shapes: ScanShapes, index: int) -> tuple[int, ...] | None:
    """The shape of an element of a scan output in numbers; None if known only at run time."""
    sizes = shapes.element_sizes(index)
    if sizes is None:
        return None
    numbers = tuple([size for size in sizes if isinstance(size, int)])
    return numbers if len(numbers) == len(sizes) else None


def zeros_of(shapes: ScanShapes, index: int, shape: tuple[int, ...]) -> Array:
    """Zeros (empty strings) of the element type of a scan output, which must be known."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(shapes.element(index).elem_type)
    return np.full(shape, "" if dtype.kind in "OUS" else 0, dtype)
