"""Split of a Scan's inputs into elements, and stack of elements into its outputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Array, Value
from ...ops.builder import Builder
from .layout import ScanLayout
from .shapes import ScanShapes

Rows = list[list[Value | None]]
"""The elements of each row of a batch in axis order; None for elements without a reader."""


def slices(emitter: Builder, value: Value, count: int, axis: int, rest: int = 0) -> list[Value]:
    """Emit one Split for the first `count` slices of length 1; the axis has `rest` more."""
    if count == 1 and not rest:
        return [value]
    labels = [f"{value.name}_{index}" for index in range(count)]
    sizes = [1] * count
    if rest:
        labels, sizes = [*labels, f"{value.name}_rest"], [*sizes, rest]
    return emitter.split(value, sizes, axis, labels)[:count]


class Unstacked:
    """The scan inputs and initial states of a Scan, row by row.

    Args:
        scan: the Scan.
        emitter: adds nodes to its graph.
        lengths: the length of each row of a Scan 8; that of the one row from version 9 on.
        longest: the length of a full row.
        batched: true for a Scan 8.
    """

    def __init__(
        self,
        scan: ScanLayout,
        emitter: Builder,
        lengths: Sequence[int],
        longest: int,
        batched: bool,
    ) -> None:
        self.scan = scan
        self.emitter = emitter
        self.lengths = lengths
        self.longest = longest
        self.batched = batched
        self._forward: dict[tuple[Value, int], Rows] = {}

    def states(self) -> list[list[Value]]:
        """The initial states of each row."""
        if not self.batched:
            return [list(self.scan.states)]
        columns = [
            [
                self.emitter.squeeze(part, 0, f"{part.name}_row")
                for part in slices(self.emitter, state, len(self.lengths), 0)
            ]
            for state in self.scan.states
        ]
        return [[column[row] for column in columns] for row in range(len(self.lengths))]

    def elements(self) -> list[list[list[Value | None]]]:
        """The elements of the scan inputs, by row and iteration."""
        columns = [self._column(index) for index in range(len(self.scan.scan_inputs))]
        return [
            [[column[row][trip] for column in columns] for trip in range(length)]
            for row, length in enumerate(self.lengths)
        ]

    def _column(self, index: int) -> Rows:
        """The elements of one scan input, in the order of iteration."""
        scan = self.scan
        if not scan.body.is_used(scan.body.inputs[len(scan.states) + index]):
            return [[None] * length for length in self.lengths]
        rows = self._rows(scan.scan_inputs[index], scan.input_axes[index])
        return [row[::-1] for row in rows] if scan.input_backward[index] else rows

    def _rows(self, value: Value, axis: int) -> Rows:
        """The elements of each row along an axis, emitted once for each value."""
        if (value, axis) not in self._forward:
            rows = slices(self.emitter, value, len(self.lengths), 0) if self.batched else [value]
            self._forward[value, axis] = [
                self._row(row, axis, length) for row, length in zip(rows, self.lengths, strict=True)
            ]
        return self._forward[value, axis]

    def _row(self, row: Value, axis: int, length: int) -> list[Value | None]:
        if not length:
            return []
        axes = (0, 1) if self.batched else (axis,)
        parts = slices(self.emitter, row, length, axes[-1], self.longest - length)
        return [self.emitter.squeeze(part, axes, f"{part.name}_element") for part in parts]


class Stack:
    """One scan output, stacked from the elements of all iterations.

    Args:
        scan: the Scan.
        index: the position among the scan outputs.
        shapes: the sizes of the Scan, for the type of zeros.
        emitter: adds nodes to the graph.
        longest: the length of a full row.
        batched: true for a Scan 8.
    """

    def __init__(
        self,
        scan: ScanLayout,
        index: int,
        shapes: ScanShapes,
        emitter: Builder,
        longest: int,
        batched: bool,
    ) -> None:
        self.axis = scan.output_axes[index]
        self.backward = scan.output_backward[index]
        self.index = index
        self.shapes = shapes
        self.emitter = emitter
        self.longest = longest
        self.batched = batched

    def join(self, rows: Sequence[Sequence[Value]], label: str) -> Value:
        """The scan output; at least one row has an element.

        Args:
            rows: the elements of each row, in the order of iteration.
            label: that of the result.
        """
        axes = (0, 1) if self.batched else (self.axis,)
        extended = [[self.emitter.unsqueeze(v, axes, f"{v.name}_row") for v in row] for row in rows]
        sample = next(row[0] for row in extended if row)
        if not self.batched:
            ordered = extended[0][::-1] if self.backward else extended[0]
            return self.emitter.concat(ordered, self.axis, label)
        padded = [[*row, *self._zeros(self.longest - len(row), sample)] for row in extended]
        one = len(rows) == 1
        parts = [
            self.emitter.concat(row, 1, label if one else f"{label}_{number}")
            for number, row in enumerate(padded)
        ]
        return self.emitter.concat(parts, 0, label)

    def _zeros(self, count: int, sample: Value) -> list[Value]:
        """Emit zeros in place of `count` elements."""
        if not count:
            return []
        shape = element_shape(self.shapes, self.index)
        if shape is not None:
            zeros = zeros_of(self.shapes, self.index, (1, count, *shape))
            return [self.emitter.constant(zeros, "zeros")]
        zero = self.emitter.constant(zeros_of(self.shapes, self.index, ()), "zero")
        like = self.emitter.add("Shape", [sample], f"{sample.name}_shape")
        return [self.emitter.add("Expand", [zero, like], f"{sample.name}_zeros")] * count


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
