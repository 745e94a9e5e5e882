"""Inputs and outputs of an operator in its form [iterations, batch, elements].

An operator must not receive a sequence without elements or a batch without rows: onnxruntime aborts
on it, or returns zeros for the initial state. Where there may be none, zeros pad it to one, and the
outputs are cut again.
"""

import functools
from collections.abc import Iterable, Sequence

import numpy as np
import onnx

from ....facts.fact import Shape
from ....ir import Value
from ....ir.lazy import lazy_property
from ...iteration.loop_view import State
from ..weights import Unfit
from .masked_sequences import Mask
from .polynomials import Free
from .symbolic_cell import Interpretation


class Sequence3:
    """Batched values of a body, and a state, in the form of an operator.

    Attributes:
        backward: true if all inputs are read from the end, so that the operator can do it.
    """

    def __init__(self, of: Interpretation, hidden: State) -> None:
        self.of = of
        self.recurrence = of.recurrence
        self.emit = of.recurrence.emit
        self.iterations = of.recurrence.feeding.iterations
        self.hidden = hidden
        self.backward = False
        self._initial: dict[State, Value] = {}
        self.shape = of.shape(hidden.argument)
        self.axis = of.axis(len(self.shape))
        axes = self._batch_axes(self.shape)
        if len(axes) > 1:
            raise Unfit("has more than one batch axis")
        self.batch_axis = axes[0] if axes else None
        self._none = (
            None if self.recurrence.iterations.extent.certain else self._is(self.iterations)
        )
        full = axes == [] or self.shape[axes[0]].less(1) is False
        self._empty = None if full else self._is(self.batch)

    def _batch_axes(self, shape: Shape) -> list[int]:
        axis = self.of.axis(len(shape))
        return [index for index, dim in enumerate(shape) if index != axis and dim != 1]

    @lazy_property
    def batch(self) -> Value:
        """The number of rows, int64 of shape [1]."""
        if self.batch_axis is None:
            return self.emit.vector((1,), "k")
        size = self.shape[self.batch_axis].value
        if size is not None:
            return self.emit.vector((size,), "k")
        return self.emit.size(self._same(self.hidden.initial), self.batch_axis, "batch")

    def _same(self, value: Value) -> Value:
        return self.recurrence.feeding.same(value).value

    def _is(self, count: Value) -> Value:
        """Emit 1 for a count of 0, else 0, int64 of shape [1]."""
        none = self.emit.once("Equal", [count, self.emit.vector((0,), "k")], "none")
        return self.emit.once("Cast", [none], "missing", to=onnx.TensorProto.INT64)

    # Inputs --------------------------------------------------------------------------------------

    def varies(self, frees: Sequence[Free]) -> bool:
        """Test for a product that varies between iterations or rows."""
        return any(
            self.recurrence.iterations.operand(free.value).batched
            or self.of.lead_of(self.of.shape(free.value))
            for free in frees
        )

    def turn(self, sources: Iterable[Sequence[Free]]) -> None:
        """Set `backward` if all inputs are read from the end."""
        operands = [
            self.recurrence.iterations.operand(free.value) for frees in sources for free in frees
        ]
        values = [operand.value for operand in operands if operand.batched]
        reversals = self.recurrence.feeding.reversals
        self.backward = bool(values) and all(value in reversals for value in values)

    def input(self, frees: Sequence[Free]) -> Value:
        """Emit a product of state-independent values, [iterations, batch, elements]."""
        values = [self._rows(free) for free in frees]
        emit = self.emit
        value = functools.reduce(
            lambda one, other: emit.add("Mul", [one, other], "product"), values
        )
        if self.batch_axis is None or any(
            self.of.lead_of(self.of.shape(free.value)) for free in frees
        ):
            return value
        ends = [self.emit.vector((1,), "k"), self.batch, self.emit.vector((1,), "k")]
        return self.emit.add("Expand", [value, self.emit.concat(ends, 0, "shape")], "fed")

    def _rows(self, free: Free) -> Value:
        """Emit some columns of a value, [iterations, batch or 1, elements]."""
        iterations = self.recurrence.iterations
        operand, shape = self.recurrence.iterations.operand(free.value), self.of.shape(free.value)
        value = iterations.feeding.every(operand, free.value.name)
        if self.backward and operand.batched:
            value = iterations.feeding.reversals[value]
        value = self._flat(value, shape, 1)
        if free.columns is None or free.columns == (0, free.width):
            return value
        return self.emit.cut(value, *free.columns, 2, f"{free.value.name}_part")

    def _flat(self, value: Value, shape: Shape, first: int) -> Value:
        """Reshape a value to one batch axis and the elements after its first axes."""
        rank, label = len(shape), value.name
        axes = self._batch_axes(shape)
        if rank < 2:
            new = (first,) if rank else (first, first + 1)
            return self.emit.unsqueeze(value, new, label)
        if len(axes) > 1:
            raise Unfit("has more than one batch axis")
        if self.of.axis(rank) != rank - 1:
            perm = [*range(first + rank - 2), first + rank - 1, first + rank - 2]
            value = self.emit.transpose(value, perm, label)
        # Transposed, the batch axis takes the place of the elements.
        batch = axes[0] if axes else 0
        if axes and self.of.axis(rank) != rank - 1 and batch == rank - 1:
            batch = rank - 2
        drop = tuple(first + index for index in range(rank - 1) if index != batch)
        return self.emit.squeeze(value, drop, label)

    def initial(self, state: State) -> Value:
        """Emit the initial state, [1, batch, elements]."""
        if state not in self._initial:
            value = self._flat(self._same(state.initial), self.of.shape(state.argument), 0)
            value = self.emit.unsqueeze(value, 0, state.argument.name)
            padded = value if self._empty is None else self._pad(value, None, self._empty)
            self._initial[state] = padded
        return self._initial[state]

    def pad_steps(self, value: Value, width: int, dtype: np.dtype[np.generic]) -> Value:
        """Pad an input of `width` elements, without iterations or rows, to one of them.

        A row of zeros behind it shows its sizes to compilers: OpenVINO loses those of a Pad by
        computed amounts, and refuses an RNN of unknown input size.
        """
        if self._none is None and self._empty is None:
            return value
        rows = 1 if self.batch_axis is None else self.shape[self.batch_axis].value
        if self._none is None or rows is None:
            return self._pad(value, self._none, self._empty)
        zeros = self.emit.constant(np.zeros((1, rows, width), dtype), "zeros")
        row = self.emit.cut(zeros, 0, self._none, 0, "zeros")
        return self.emit.concat([value, row], 0, value.name)

    def _pad(self, value: Value, iterations: Value | None, batch: Value | None) -> Value:
        zero = self.emit.vector((0,), "k")
        ends = [self.emit.vector((0, 0, 0), "k"), iterations or zero, batch or zero, zero]
        pads = self.emit.once("Concat", ends, "pads", axis=0)
        return self.emit.add("Pad", [value, pads], value.name)

    def counts(self, mask: Mask) -> Value:
        """Emit 1 for live iterations of a row, else 0, [iterations, batch, 1] of int64."""
        if self.of.width(mask.value) != 1:
            raise Unfit(f"is kept by '{mask.value.name}', which differs between elements of a row")
        value = self.input([Free(mask.value, 0)])
        if mask.keeps:
            value = self.emit.add("Not", [value], "counted")
        number = self.emit.add("Cast", [value], "counted", to=onnx.TensorProto.INT64)
        return self.pad_steps(number, 1, np.dtype(np.int64))

    def nothing(self, dtype: np.dtype[np.generic]) -> Value:
        """Emit an input of zeros, one for each row."""
        zero = self.emit.constant(np.zeros((1, 1, 1), dtype), "zero")
        ends = [self.iterations, self.batch, self.emit.vector((1,), "k")]
        shape = self.emit.concat(ends, 0, "shape")
        return self.pad_steps(self.emit.add("Expand", [zero, shape], "fed"), 1, dtype)

    # Outputs -------------------------------------------------------------------------------------

    def every(self, value: Value) -> Value:
        """Emit the states of all iterations from [iterations, batch, elements]."""
        axes = tuple([i for i, pad in enumerate((self._none, self._empty)) if pad is not None])
        if axes:
            ends = [(self.iterations, self.batch)[axis] for axis in axes]
            bounds = [
                self.emit.vector((0,) * len(axes), "k"),
                self.emit.concat(ends, 0, "ends"),
                self.emit.vector(axes, "k"),
            ]
            value = self.emit.add("Slice", [value, *bounds], value.name)
        value = self._to_state_shape(value, 1)
        return self.recurrence.feeding.reverse(value) if self.backward else value

    def last(self, state: State, value: Value) -> Value:
        """Emit the last state from the operator's output [1, batch, elements]."""
        if self._empty is not None:
            value = self.emit.cut(value, 0, self.batch, 1, value.name)
        value = self._to_state_shape(self.emit.squeeze(value, 0, value.name), 0)
        if self._none is None:
            return value
        some = self.emit.once("Cast", [self.iterations], "some", to=onnx.TensorProto.BOOL)
        if not self.shape:
            some = self.emit.squeeze(some, 0, "some")
        inputs = [some, value, self._same(state.initial)]
        return self.emit.add("Where", inputs, state.result.name)

    def _to_state_shape(self, value: Value, first: int) -> Value:
        """Reshape [batch, elements] after some axes to the shape of the state."""
        rank = len(self.shape)
        if rank == 1:
            return self.emit.squeeze(value, first, value.name)
        transposed = self.axis != rank - 1
        batch = self.batch_axis
        if transposed:
            value = self.emit.transpose(value, [*range(first), first + 1, first], value.name)
        axes = {self.axis, batch if batch is not None else (rank - 1 if transposed else 0)}
        new = tuple(first + index for index in range(rank) if index not in axes)
        return self.emit.unsqueeze(value, new, value.name)
