"""Weights, wherever they stand in a model and whatever is done to them on the way.

What is constant is moved about here, so that no node is left of it; for what only run time tells,
nodes are made that run once, outside of the loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...ir import Array, Signal, Value
from ...ops.batching import Operand
from ...ops.builder import Builder


class Unfit(Signal):
    """Something is not of the form that is looked for; the message ends a sentence that begins with
    the state."""


Block = Array | Value
"""A part of a weight: known, or made by nodes."""


class Matrix(NamedTuple):
    """A part of a matrix, by which a row is multiplied from the right.

    Attributes:
        value: the weight that it is a part of, of rank 2 behind some axes of size 1.
        whole: the two sizes of the weight.
        rows: how many rows the part has.
        width: how many columns.
        row: its first row.
        column: its first column.
        transposed: whether the rows are columns of the weight.
        leading: how many axes of size 1 the weight has before the two.
    """

    value: Value
    whole: tuple[int, int]
    rows: int
    width: int
    row: int = 0
    column: int = 0
    transposed: bool = False
    leading: int = 0

    def columns(self, start: int, stop: int) -> Matrix:
        """Some of its columns."""
        return self._part(self.rows, stop - start, self.row, self.column + start)

    def some_rows(self, start: int, stop: int) -> Matrix:
        """Some of its rows."""
        return self._part(stop - start, self.width, self.row + start, self.column)

    def _part(self, rows: int, width: int, row: int, column: int) -> Matrix:
        return Matrix(
            self.value, self.whole, rows, width, row, column, self.transposed, self.leading
        )

    def transpose(self) -> Matrix:
        """The matrix with rows for columns."""
        return Matrix(
            self.value,
            self.whole,
            self.width,
            self.rows,
            self.column,
            self.row,
            not self.transposed,
            self.leading,
        )


class Weights:
    """Puts weights together.

    Args:
        emit: makes nodes for what is not constant.
        same: what stands for a value of the body that is the same on every trip.
        dtype: the element type.
    """

    def __init__(
        self, emit: Builder, same: Callable[[Value], Operand], dtype: np.dtype[np.generic]
    ) -> None:
        self.emit = emit
        self.same = same
        self.dtype = dtype
        self._blocks: dict[Value, Block] = {}

    def block(self, value: Value) -> Block:
        """The elements of a value, if they are known before run time; else the value outside."""
        if value not in self._blocks:
            self._blocks[value] = self._find(value)
        return self._blocks[value]

    def _find(self, value: Value) -> Block:
        tensor = value.constant
        if tensor is not None and tensor.is_readable and not tensor.is_sparse:
            return tensor.numpy()
        operand = self.same(value)
        if operand.batched:
            raise Unfit(f"is multiplied by '{value.name}', which differs from trip to trip")
        return operand.value

    def transpose(self, matrix: Matrix) -> Block:
        """A matrix as the operators take it: a row for each of its columns."""
        block = self.squeeze(self.block(matrix.value), matrix.leading)
        rows, columns = (1, 0) if matrix.transposed else (0, 1)
        block = self.part(block, matrix.row, matrix.rows, rows, matrix.whole)
        block = self.part(block, matrix.column, matrix.width, columns, matrix.whole)
        if matrix.transposed:
            return block
        if isinstance(block, Value):
            return self.emit.transpose(block, (1, 0), f"{matrix.value.name}_t")
        return block.T

    def squeeze(self, block: Block, leading: int) -> Block:
        """A block without so many first axes of size 1."""
        if not leading:
            return block
        if isinstance(block, Value):
            return self.emit.squeeze(block, tuple(range(leading)), block.name)
        return block.reshape(block.shape[leading:])

    def part(self, block: Block, start: int, size: int, axis: int, whole: Sequence[int]) -> Block:
        """So many elements along an axis of a block whose shape is `whole`."""
        if size == whole[axis]:
            return block
        if not isinstance(block, Value):
            return block[(slice(None),) * axis + (slice(start, start + size),)]
        bounds = [self.emit.vector((bound,), "k") for bound in (start, start + size, axis)]
        return self.emit.add("Slice", [block, *bounds], f"{block.name}_part")

    def scale(self, block: Block, factor: float) -> Block:
        """A block times a number.

        Raises:
            Unfit: the element type does not hold the number.
        """
        if factor == 1.0:
            return block
        with np.errstate(over="ignore", under="ignore"):
            held = np.asarray(factor, self.dtype)
        if not np.isfinite(held) or not held:
            raise Unfit(f"is multiplied by {factor:g}, which its element type does not hold")
        if not isinstance(block, Value):
            return np.asarray(block * held)
        if factor == -1.0:
            return self.emit.add("Neg", [block], f"{block.name}_negated")
        scale = self.emit.constant(held, "factor")
        return self.emit.add("Mul", [block, scale], f"{block.name}_scaled")

    def add(self, one: Block | None, other: Block) -> Block:
        """The sum of two blocks, the first of which may be missing."""
        if one is None:
            return other
        if isinstance(one, Value) or isinstance(other, Value):
            return self.emit.add("Add", [self.value(one), self.value(other)], "sum")
        return np.asarray(one + other)

    def zeros(self, *shape: int) -> Block:
        """Nothing."""
        return np.zeros(shape, self.dtype)

    def concat(self, blocks: Sequence[Block], axis: int) -> Block:
        """Blocks side by side along an axis; neighbours that are known become one."""
        merged: list[Block] = []
        for made, run in itertools.groupby(blocks, lambda block: isinstance(block, Value)):
            if made:
                merged += run
            else:
                merged.append(np.concatenate([b for b in run if not isinstance(b, Value)], axis))
        if len(merged) == 1:
            return merged[0]
        return self.emit.concat([self.value(block) for block in merged], axis, "weights")

    def value(self, block: Block, label: str = "weights") -> Value:
        """A block as a value."""
        if isinstance(block, Value):
            return block
        return self.emit.constant(np.ascontiguousarray(block, self.dtype), label)
