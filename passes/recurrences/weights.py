"""Slices and sums of weight matrices, as arrays or as nodes.

Constant weights are computed here, without nodes; for run-time weights, emitted nodes run once,
outside of the loop.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...facts.obstacle import Obstacle
from ...ir import Array, Value
from ...ops.batching import Operand
from ...ops.builder import Builder
from ...records import record


class Unfit(Obstacle):
    """A mismatch with a pattern; the message continues a sentence about the state."""


Block = Array | Value
"""A part of a weight: constant, or the output of nodes."""


class Matrix(NamedTuple):
    """A part of a matrix that multiplies a row from the right.

    Attributes:
        value: the whole weight, of rank 2 after some axes of size 1.
        whole: the two sizes of the weight.
        rows: the number of rows of the part.
        width: the number of its columns.
        row: its first row.
        column: its first column.
        transposed: true if the rows are columns of the weight.
        leading: the number of axes of size 1 before the two.
    """

    value: Value
    whole: tuple[int, int]
    rows: int
    width: int
    row: int = 0
    column: int = 0
    transposed: bool = False
    leading: int = 0

    def columns(self, start: int, stop: int) -> "Matrix":
        """The part of some columns."""
        return self._replace(width=stop - start, column=self.column + start)

    def some_rows(self, start: int, stop: int) -> "Matrix":
        """The part of some rows."""
        return self._replace(rows=stop - start, row=self.row + start)

    def transpose(self) -> "Matrix":
        """The transposed matrix."""
        return self._replace(
            rows=self.width,
            width=self.rows,
            row=self.column,
            column=self.row,
            transposed=not self.transposed,
        )


@record(frozen=True)
class Weights:
    """Arithmetic on weights, by numpy or by nodes.

    Attributes:
        emit: the builder of nodes for run-time weights.
        same: the outside value of a loop-invariant value of the body.
    """

    emit: Builder
    same: Callable[[Value], Operand]
    dtype: np.dtype[np.generic]

    def block(self, value: Value) -> Block:
        """The elements of a constant value; the value outside for others."""
        if value.array is not None and value.constant and not value.constant.is_sparse:
            return value.array
        operand = self.same(value)
        if operand.batched:
            raise Unfit(
                f"is multiplied by '{value.name}', which differs from iteration to iteration"
            )
        return operand.value

    def transpose(self, matrix: Matrix) -> Block:
        """The transposed matrix, the operators' form of weights."""
        block, leading = self.block(matrix.value), matrix.leading
        if leading and isinstance(block, Value):
            block = self.emit.squeeze(block, tuple(range(leading)), block.name)
        elif not isinstance(block, Value):
            block = block.reshape(block.shape[leading:])
        rows, columns = (1, 0) if matrix.transposed else (0, 1)
        block = self.part(block, matrix.row, matrix.rows, rows, matrix.whole)
        block = self.part(block, matrix.column, matrix.width, columns, matrix.whole)
        if matrix.transposed:
            return block
        if isinstance(block, Value):
            return self.emit.transpose(block, (1, 0), f"{matrix.value.name}_t")
        return block.T

    def part(self, block: Block, start: int, size: int, axis: int, whole: Sequence[int]) -> Block:
        """Slice `size` elements along an axis of a block of shape `whole`."""
        if size == whole[axis]:
            return block
        if not isinstance(block, Value):
            return block[(slice(None),) * axis + (slice(start, start + size),)]
        return self.emit.cut(block, start, start + size, axis, f"{block.name}_part")

    def scale(self, block: Block, factor: float) -> Block:
        """Multiply a block by a number.

        Raises:
            Unfit: a number out of range of the element type.
        """
        if factor == 1.0:
            return block
        with np.errstate(over="ignore", under="ignore"):
            scalar = np.asarray(factor, self.dtype)
        if not np.isfinite(scalar) or not scalar:
            raise Unfit(f"is multiplied by {factor:g}, which its element type does not hold")
        if not isinstance(block, Value):
            return np.asarray(block * scalar)
        if factor == -1.0:
            return self.emit.add("Neg", [block], f"{block.name}_negated")
        scale = self.emit.constant(scalar, "factor")
        return self.emit.add("Mul", [block, scale], f"{block.name}_scaled")

    def add(self, one: Block | None, other: Block) -> Block:
        """Add two blocks, of which the first may be missing."""
        if one is None:
            return other
        if isinstance(one, Value) or isinstance(other, Value):
            return self.emit.add("Add", [self.value(one), self.value(other)], "sum")
        return np.asarray(one + other)

    def zeros(self, *shape: int) -> Block:
        """A block of zeros."""
        return np.zeros(shape, self.dtype)

    def concat(self, blocks: Iterable[Block], axis: int = 0) -> Block:
        """Concatenate blocks along an axis; constant neighbours merge."""
        merged: list[Block] = []
        for dynamic, run in itertools.groupby(blocks, lambda block: isinstance(block, Value)):
            if dynamic:
                merged += run
            else:
                merged.append(np.concatenate([b for b in run if not isinstance(b, Value)], axis))
        if len(merged) == 1:
            return merged[0]
        return self.emit.concat([self.value(block) for block in merged], axis, "weights")

    def value(self, block: Block) -> Value:
        """Convert a block to a value."""
        if isinstance(block, Value):
            return block
        return self.emit.constant(np.ascontiguousarray(block, self.dtype), "weights")
