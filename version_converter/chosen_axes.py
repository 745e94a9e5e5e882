"""Reductions over axes chosen at run time, by operators with constant axes."""

from typing import Any

import numpy as np
import onnx

from ..ir import Value
from ..ops.axes import REDUCTIONS
from .flat_indices import from_the_front
from .node_draft import NodeDraft

_T = onnx.TensorProto
_END = np.iinfo(np.int64).max

OTHERS = tuple(name for name in REDUCTIONS if name != "ReduceSum")
"""All reductions but ReduceSum, whose axes became an input before theirs did."""

_MOST_AXES = 64
"""Limit of axes; each takes a column of a table."""


class ChosenAxes:
    """The axes in input 1: those of a reduction, or those that Squeeze or Unsqueeze changes.

    Attributes:
        axes: their numbers, counted from the front.
        flags: a bool for each axis: true where it is chosen.
        rank: the number of all axes.
        other_count: the number of axes that are not chosen.

    Args:
        of_output: count axes of the output, which has them in addition, and not of input 0.
    """

    def __init__(self, draft: NodeDraft, *, of_output: bool = False) -> None:
        axes, count = draft.input(1), draft.shape(1)
        if axes is None or count is None or len(count) != 1 or not count[0]:
            draft.refuse("how many axes there are is not known, or none")
        if count[0] > _MOST_AXES:
            draft.refuse(f"it names {count[0]} axes; no runtime has a tensor of so many")
        self.draft = draft
        self.rank = draft.required_rank("a form with run-time axes") + of_output * count[0]
        self.other_count = self.rank - count[0]
        if self.other_count < 0:
            draft.refuse(f"it names {count[0]} of {self.rank} axes")
        self.axes = from_the_front(draft, axes, draft.const(np.array(self.rank), "rank"))
        column = draft.emit("Reshape", [self.axes, draft.ints([-1, 1], "column")], "column")
        same = draft.emit("Equal", [column, draft.ints(range(self.rank), "numbers")], "same")
        # ReduceMax takes truth values from opset 20 on only.
        number = draft.emit("Cast", [same], "number", to=_T.INT64)
        most = draft.along("ReduceMax", number, [0], "chosen", keepdims=0)
        self.flags = draft.emit("Cast", [most], "chosen", to=_T.BOOL)

    def others(self) -> Value:
        """The numbers of all other axes."""
        unchosen = self.draft.emit("Not", [self.flags], "kept")
        places = self.draft.emit("NonZero", [unchosen], "others")
        return self.draft.emit(
            "Reshape", [places, self.draft.ints([self.other_count], "left")], "others"
        )

    def never_empty(self, data: Value, dtype: np.dtype[Any], neutral: float) -> Value:
        """The data padded by one element along each chosen axis that may be empty."""
        if self._has(data):
            return data
        draft = self.draft
        number = draft.emit("Cast", [self.flags], "number", to=_T.INT64)
        zeros = draft.ints([0] * self.rank, "zeros")
        pads = draft.emit("Concat", [zeros, number], "pads", axis=0)
        end = draft.const(np.array(neutral, dtype), "neutral")
        return draft.emit("Pad", [data, pads, end], "data")

    def _has(self, data: Value, axis: int | None = None) -> bool:
        shape = self.draft.types.shape(data) or [None] * self.rank
        return all(shape if axis is None else [shape[axis]])

    def spread(self, op_type: str, data: Value, dtype: np.dtype[Any], neutral: float) -> Value:
        """The reduction over the chosen axes in the place of each element."""
        draft = self.draft
        for axis in range(self.rank):
            row = data
            if not self._has(data, axis):
                pads = np.zeros(2 * self.rank, np.int64)
                pads[self.rank + axis] = 1
                end = draft.const(np.array(neutral, dtype), "neutral")
                row = draft.emit("Pad", [data, draft.const(pads, "pads"), end])
            reduction = draft.along(op_type, row, [axis], "found", keepdims=1)
            chosen = draft.emit("Gather", [self.flags, draft.const(np.array(axis), "axis")], axis=0)
            data = draft.emit("Where", [chosen, reduction, data], "spread")
        return data

    def first(self, data: Value) -> Value:
        """The first element along each chosen axis, which `keepdims` keeps or drops."""
        draft = self.draft
        one, end = (draft.const(np.array(number), "end") for number in (1, _END))
        ends = draft.emit("Where", [self.flags, one, end], "ends")
        starts = draft.ints([0] * self.rank, "starts")
        result = draft.emit("Slice", [data, starts, ends], "first")
        if not draft.attribute("keepdims"):
            result = draft.emit("Squeeze", [result, self.axes], "first")
        return result
