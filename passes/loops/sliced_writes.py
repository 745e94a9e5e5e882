"""Write rows between slices where a mask of places or a Split spells the write.

t = Where (Equal (Range (0, n, 1), i), row, s)     ->   t = Concat (s[:i], row, s[i + 1:])

a, old, z = Split (s, [i, 1, n - 1 - i])                a = s[:i], old = s[i:i + 1],
t = Concat (a, row, z)                                  z = s[i + 1:], t = Concat (a, row, z)

A mask has no such place, and the write changes nothing, where the place is outside; a Split of
other sizes fails. So the place must be inside for certain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape, element
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from ...ops.batching import Unbatchable
from ...ops.builder import Builder
from ..iteration.affine_reads import Index, moving_indices
from ..iteration.batched_inputs import Feeding
from ..iteration.loop_view import LoopView, State
from ..iteration.row_accesses import counts_all, unmoved
from ..utils.replace_all_uses import replace_values

_END = np.iinfo(np.int64).max


def slice_writes(loop_view: LoopView, inference: ShapeInference, certain: bool) -> list[str]:
    """Write rows between slices, and return the names of their buffers.

    Args:
        loop_view: the Loop or Scan.
        inference: the facts of the model's values.
        certain: true if there is a first iteration for all inputs.
    """
    body, names = loop_view.body, list[str]()
    if not any(body.nodes_of("Where", "Split")):
        return names
    try:
        writes = _Writes(loop_view, inference, certain)
    except Unbatchable:
        return names
    for state in loop_view.states:
        users = [node for node in body.users(state.argument) if isinstance(node, Node)]
        changed = [
            writes.cut_split(state, node) if node.is_op("Split") else writes.cut_mask(state, node)
            for node in users
            if node.is_op("Split", "Where") and node.graph is body and not node.op.references
        ]
        if any(changed):
            names.append(state.argument.name)
    return names


class _Writes:
    """The spelled writes of one loop."""

    def __init__(self, loop_view: LoopView, inference: ShapeInference, certain: bool) -> None:
        self._body = loop_view.body
        self._inference = inference
        self._indices = moving_indices(loop_view, inference)
        feeding = Feeding(loop_view, inference)
        self._number, self._extent = feeding.number, feeding.extent(certain)

    # Splits --------------------------------------------------------------------------------------

    def cut_split(self, state: State, node: Node) -> bool:
        """Replace a Split of a state into parts of moving sizes by Slices."""
        shape, sizes = self._inference.fact(state.initial).shape, node.input(1)
        joined = None if sizes is None else sizes.producer
        axis = node.attribute("axis", 0)
        if not shape or joined is None or not joined.is_op("Concat") or node.input(0) is None:
            return False
        parts = [value for value in joined.inputs if value is not None]
        counts = [self._count(value) for value in parts]
        if not -len(shape) <= axis < len(shape) or len(parts) != len(node.outputs):
            return False
        certain = [count for count in counts if count is not None]
        rest = shape[axis] - sum((start for start, _ in certain), Dimension.constant(0))
        # The sizes add up to the axis in each iteration: else the Split fails, and Slices do not.
        is_whole = rest == 0 and not sum(step for _, step in certain)
        if (
            len(certain) < len(parts)
            or not is_whole
            or not all(
                self._extent.never_negative(start + self._number * step) for start, step in certain
            )
        ):
            return False
        emit, cuts = Builder(self._body), dict[Value, Value]()
        start: Value | None = None
        for part, value in zip(parts, node.outputs, strict=True):
            end = None if part is parts[-1] else part
            if start is not None and end is not None:
                end = emit.add("Add", [start, end], "end")
            if value is not None:
                cuts[value] = self._cut(emit, state.argument, start, end, axis, value.name)
            start = end
        replace_values(self._body, cuts)
        self._body.remove(node)
        return True

    def _count(self, value: Value) -> tuple[Dimension, int] | None:
        """The start and the step of a size; None for another one."""
        sizes = self._inference.fact(value).shape
        if sizes is None or [size.value for size in sizes] != [1]:
            return None
        index = self._indices.get(value)
        if index is not None:
            return index.start, index.step
        number = element(self._inference.fact(value))
        return (number, 0) if isinstance(number, Dimension) else None

    # Masks ---------------------------------------------------------------------------------------

    def cut_mask(self, state: State, node: Node) -> bool:
        """Replace a Where with a mask of one place by a Concat."""
        shape = self._inference.fact(state.initial).shape
        match = self._mask(node, state, shape) if shape else None
        if match is None or not shape:
            return False
        place, axis, row = match
        own = self._inference.fact(row).shape
        whole = (*shape[:axis], Dimension.constant(1), *shape[axis + 1 :])
        if own is None or own != whole[len(whole) - len(own) :]:
            return False
        emit = Builder(self._body)
        missing = tuple(range(len(whole) - len(own)))
        row = emit.unsqueeze(row, missing, "row") if missing else row
        at = emit.add("Reshape", [place, emit.vector((1,), "one")], "place")
        behind = emit.add("Add", [at, emit.vector((1,), "one")], "behind")
        before = self._cut(emit, state.argument, None, at, axis, "before")
        after = self._cut(emit, state.argument, behind, None, axis, "after")
        new = emit.add("Concat", [before, row, after], node.output().name, axis=axis)
        replace_values(self._body, {node.output(): new})
        self._body.remove(node)
        return True

    def _mask(self, node: Node, state: State, shape: Shape) -> tuple[Value, int, Value] | None:
        """The place that a mask has, its axis and the row; None for another Where."""
        mask, one, other = node.inputs
        assert mask is not None
        sizes = self._inference.fact(mask).shape
        source, is_opposite = unmoved(mask).producer, False
        if source is not None and source.is_op("Not") and source.inputs[0] is not None:
            source, is_opposite = unmoved(source.inputs[0]).producer, True
        row, old = (other, one) if is_opposite else (one, other)
        if source is None or not source.is_op("Equal") or old is not state.argument or row is None:
            return None
        long = [axis for axis, size in enumerate(sizes or ()) if size != 1]
        if sizes is None or len(long) != 1:
            return None
        axis = long[0] + len(shape) - len(sizes)
        for place, places in (source.inputs, source.inputs[::-1]):
            index = None if place is None else self._indices.get(place)
            if index is None or place is None or places is None or axis < 0:
                continue
            if sizes[long[0]] == shape[axis] and counts_all(places, shape[axis], self._inference):
                return (place, axis, row) if self._is_inside(index, shape[axis]) else None
        return None

    def _is_inside(self, index: Index, size: Dimension) -> bool:
        at = index.start + self._number * index.step
        return self._extent.never_negative(at) and self._extent.never_negative(size - 1 - at)

    def _cut(
        self,
        emit: Builder,
        buffer: Value,
        start: Value | None,
        end: Value | None,
        axis: int,
        label: str,
    ) -> Value:
        """Emit the rows of a buffer between two places."""
        ends: Sequence[Value] = [
            emit.vector((default,), "bound") if value is None else value
            for value, default in ((start, 0), (end, _END))
        ]
        return emit.add("Slice", [buffer, *ends, emit.vector((axis,), "axis")], label)
