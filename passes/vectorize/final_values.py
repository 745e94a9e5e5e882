"""Final values of accumulators, from the elements of all iterations.

t = SequenceInsert (s, e)       SplitToSequence (es)
t = Concat (s, e)               Concat (s, es)
t = ScatterND (s, i, e)         ScatterND (s, is, es)
"""

from __future__ import annotations

from collections.abc import Callable

import onnx

from ...facts.fact import Fact, Shape
from ...facts.polynomial import Dimension
from ...ir import Node, Operator, Value
from ...ops.batching import Operand, Unbatchable
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import Write
from ..utils.stacked_rows import concat_rows
from .accumulators import inserts_first

_SPLIT = tuple(
    getattr(onnx.TensorProto, name)
    for name in ("FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64", "BOOL", "STRING")
)
"""The types with a SplitToSequence in onnxruntime."""


def as_sequence(rows: Value, elem_type: int, label: str, feeding: Feeding) -> Value:
    """Emit all rows as a sequence.

    Raises:
        Unbatchable: a type that onnxruntime does not support.
    """
    if elem_type not in _SPLIT:
        raise Unbatchable(f"makes a sequence '{label}' of a type that SplitToSequence lacks")
    split = Operator.make("SplitToSequence", axis=0, keepdims=0)
    return feeding.emit.apply(split, [rows], label)


class FinalValue:
    """The emission of the final value of an accumulator.

    Args:
        write: the state, and the element of each iteration.
        operand: returns the operand of a value of the body.
        feeding: the inputs of the loop.

    Raises:
        Unbatchable: elements of unknown rank.
    """

    def __init__(self, write: Write, operand: Callable[[Value], Operand], feeding: Feeding) -> None:
        self._write, self._operand, self._feeding = write, operand, feeding
        self._emit, self._label = feeding.emit, write.state.result.name
        self._element = operand(write.element)
        if self._element.fact.shape is None:
            raise Unbatchable(f"collects '{write.element.name}', whose rank is not known")
        self._shape: Shape = self._element.fact.shape

    def emit(self) -> Value:
        """Emit it.

        Raises:
            Unbatchable: a mismatched initial state, or sizes known only at run time.
        """
        write = self._write
        rows = self._let_in(self._feeding.every(self._element, write.element.name))
        if write.node.is_op("SequenceInsert"):
            return self._as_sequence(self._interleaved(rows))
        if write.node.is_op("Concat"):
            return self._concat_rows(rows)
        return self._scatter_rows(rows) if write.reduction == "none" else self._reduced(rows)

    def _let_in(self, rows: Value) -> Value:
        """Emit the rows of the iterations that write."""
        flag, emit = self._write.flag, self._emit
        if flag is None:
            return rows
        every = [self._feeding.every(self._operand(flag), flag.name), self._feeding.integers(-1)]
        flags = emit.add("Reshape", every, "flags")
        flags = emit.add("Not", [flags], "flags") if self._write.negated else flags
        return emit.add("Compress", [rows, flags], "let_in", axis=0)

    # Sequences -----------------------------------------------------------------------------------

    def _interleaved(self, rows: Value) -> Value:
        """Emit all elements of each iteration, in the order of their insertion."""
        if not self._write.earlier:
            return rows
        each = []
        for value in self._write.earlier:
            other = self._operand(value)
            if other.fact.shape != self._shape:
                raise Unbatchable(f"collects '{value.name}', of other sizes than others")
            each.append(self._feeding.every(other, value.name))
        parts = [self._emit.unsqueeze(part, 1, "part") for part in (*each, rows)]
        joined = self._emit.concat(parts, 1, "parts")
        return concat_rows(joined, 0, (Dimension.constant(len(parts)), *self._shape), self._emit)

    def _as_sequence(self, rows: Value) -> Value:
        """Emit all rows as a sequence, after the initial elements."""
        initial, is_first = self._write.state.initial, inserts_first(self._write.node)
        node, inference = initial.producer, self._feeding.inference
        # Each element is inserted before the others, so that the last one comes first.
        rows = self._feeding.reverse(rows) if is_first else rows
        if node is not None and node.is_op("SequenceConstruct") and not node.op.references:
            first = self._first_rows(node)
            rows = self._emit.concat([rows, *first] if is_first else [*first, rows], 0, "rows")
        elif inference.fact(initial).count != 0:
            raise Unbatchable(f"adds to the sequence '{initial.name}', which is not empty before")
        elem_type = inference.fact(self._write.element).elem_type
        return as_sequence(rows, elem_type, self._label, self._feeding)

    def _first_rows(self, node: Node) -> list[Value]:
        """Emit the operands of a SequenceConstruct as rows."""
        first = []
        for value in node.inputs:
            operand = None if value is None else self._feeding.same(value)
            if operand is None or operand.fact.shape != self._shape:
                raise Unbatchable("adds to a sequence of tensors of other sizes")
            first.append(self._emit.unsqueeze(operand.value, 0, "first"))
        return first

    # Tensors -------------------------------------------------------------------------------------

    def _concat_rows(self, rows: Value) -> Value:
        """Emit the initial state and all rows, along the axis of the Concat."""
        node, state = self._write.node, self._write.state
        axis = node.attribute("axis") % len(self._shape)
        parts = [self._feeding.same(state.initial).value]
        if node.input(0) is state.argument:
            parts.append(concat_rows(rows, axis, self._shape, self._emit))
        else:  # each iteration adds in front, so the last row comes first
            parts[:0] = [concat_rows(self._feeding.reverse(rows), axis, self._shape, self._emit)]
        return self._emit.concat(parts, axis, self._label)

    def _scatter_rows(self, rows: Value) -> Value:
        """Emit a buffer with each row at its index."""
        write = self._write
        assert write.index is not None
        index = self._operand(write.index)
        if not index.batched or not index.fact.shape:
            raise Unbatchable(f"writes to places '{write.index.name}' that are not known")
        whole = write.flag is None and self._is_whole(index.fact)
        if write.node.is_op("ScatterND") and whole:
            inner = tuple(range(1, len(index.fact.shape)))
            return self._emit.squeeze(rows, inner, "rows") if inner else rows
        # Places are distinct, so the order in which a runtime writes them does not matter.
        indices = self._let_in(index.value)
        if write.node.is_op("ScatterElements"):
            axis, rank = write.node.attribute("axis", 0), len(self._shape)
            if len(index.fact.shape) != rank or not -rank <= axis < rank:
                raise Unbatchable(f"writes '{write.element.name}' along an axis that is not there")
            pairs = [(indices, index.fact.shape), (rows, self._shape)]
            indices, rows = (concat_rows(v, axis % rank, s, self._emit) for v, s in pairs)
        initial = self._feeding.same(write.state.initial).value
        return self._emit.apply(write.node.op, [initial, indices, rows], self._label)

    def _is_whole(self, index: Fact) -> bool:
        """Test for iterations that write exactly the rows of a buffer, in order."""
        inner = len(index.shape or ()) - 1
        buffer = self._feeding.same(self._write.state.initial).fact.shape
        rows = self._feeding.iteration_dimension, *self._shape[inner:]
        return self._feeding.is_number(index) and buffer == rows

    # Reductions ----------------------------------------------------------------------------------

    def _reduced(self, rows: Value) -> Value:
        """Emit a buffer to whose places the elements of all iterations are added.

        ScatterElements combines elements in their order. onnxruntime combines those of a ScatterND
        in parallel, and loses some that have one place.
        """
        write, emit, axis = self._write, self._emit, 0
        assert write.index is not None
        index, buffer = self._operand(write.index), self._feeding.same(write.state.initial)
        places, shape = self._feeding.every(index, write.index.name), index.fact.shape or ()
        if write.node.is_op("ScatterND"):
            count = shape[0].value if shape else 1
            places, rows = self._by_row(places, rows, buffer, count or 1)
        else:
            axis = write.node.attribute("axis", 0) % len(buffer.fact.shape or (0,))
            rows = emit.add("Reshape", [rows, emit.add("Shape", [places], "shape")], "rows")
            places, rows = (concat_rows(each, axis, shape, emit) for each in (places, rows))
        scatter = Operator.make("ScatterElements", axis=axis, reduction=write.reduction)
        return emit.apply(scatter, [buffer.value, places, rows], self._label)

    def _by_row(
        self, places: Value, rows: Value, buffer: Operand, count: int
    ) -> tuple[Value, Value]:
        """Emit the index of each element, and the elements, in `count` rows an iteration."""
        emit, shape, sizes = self._emit, buffer.fact.shape, self._feeding.iterations
        if shape is None:
            name = self._write.state.argument.name
            raise Unbatchable(f"adds to '{name}', whose rank is not known")
        if count > 1:
            sizes = emit.add("Mul", [sizes, self._feeding.integers(count)], "rows")
        if len(shape) > 1:
            whole = emit.add("Shape", [buffer.value], "sizes")
            sizes = emit.concat([sizes, emit.slice(whole, 1, len(shape), "sizes")], 0, "sizes")
        if not _is_row(self._shape, shape, count):
            raise Unbatchable(f"adds '{self._write.element.name}' to rows of another shape")
        rows = emit.add("Reshape", [rows, sizes], "rows")
        ones = emit.vector((-1, *(1 for _ in shape[1:])), "column")
        column = emit.add("Reshape", [places, ones], "places")
        return (emit.add("Expand", [column, sizes], "places") if len(shape) > 1 else column), rows


def _is_row(element: Shape, buffer: Shape, count: int) -> bool:
    """Test for the sizes of some rows, up to axes of size 1."""
    whole = (Dimension.constant(count), *buffer[1:])
    own, rows = ([dim for dim in shape if dim != 1] for shape in (element, whole))
    return own == rows
