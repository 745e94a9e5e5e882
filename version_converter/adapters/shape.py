"""Shape: its range of axes.

https://onnx.ai/onnx/operators/onnx__Shape.html

- 1: all of them. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-1
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-13
- 15: from `start` to `end`. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-15
- 19: 8-bit floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-19
- 21: 4-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shape-25
"""

from __future__ import annotations

import numpy as np

from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade


@downgrade(15, "Shape")
def slice_shape(draft: NodeDraft) -> Outcome:
    """Before opset 15: a Slice of the whole shape."""
    start, end = draft.attribute("start"), draft.attribute("end")
    if not start and end is None:
        return None
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    last = np.iinfo(np.int64).max if end is None else end
    starts, ends = draft.ints([start], "start"), draft.ints([last], "end")
    return [draft.emit("Slice", [shape, starts, ends])]
