"""Max, Min, Sum and Mean: of any number of tensors.

- 6: floats, all of one shape.
- 8: the shapes are broadcast.
- 12: Max and Min of integers.
- 13: bfloat16.
"""

import functools

import numpy as np

from ...ir import Value
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form
from ..snippets import is_float, pick, tile


@downgrade(8, "Sum", "Mean", "Max", "Min")
def tile_inputs(draft: NodeDraft) -> AdapterResult:
    """Before opset 8: no broadcasting; inputs of Max and Min are tiled."""
    shapes = [draft.shape(index) for index in range(len(draft.inputs))]
    first = shapes[0]
    if len(shapes) == 1 or (
        first is not None and None not in first and shapes.count(first) == len(shapes)
    ):
        return None
    if draft.op_type in ("Sum", "Mean"):
        draft.refuse("opset 7 does not broadcast here, and the shapes are not known to be equal")
    return [draft.emit(draft.op_type, _of_one_shape(draft))]


def _of_one_shape(draft: NodeDraft) -> list[Value]:
    """The inputs, each broadcast to the shape of their sum."""
    values = [value for value in draft.inputs if value is not None]
    ranks = [rank for rank in map(draft.types.rank, values) if rank is not None]
    if len(ranks) < len(values):
        draft.refuse(
            "opset 7 does not broadcast here, and the ranks of its inputs, which Tile needs, are"
            " not known; declare their shapes"
        )
    total = functools.reduce(lambda a, b: draft.emit("Add", [a, b], "sum"), values)
    shape = draft.emit("Shape", [total], "shape")
    each = zip(values, ranks, strict=True)
    return [tile(draft, value, rank, shape, max(ranks)) for value, rank in each]


@longer_form(8, "Sum", "Mean")
def add_pairwise(draft: NodeDraft) -> AdapterResult:
    """Below opset 8: Add and Div, which broadcast."""
    values = [value for value in draft.inputs if value is not None]
    total = functools.reduce(lambda a, b: draft.emit("Add", [a, b], "sum"), values)
    if draft.op_type == "Sum":
        return [total]
    dtype = draft.required_dtype(0, "a mean")
    return [draft.emit("Div", [total, draft.const(np.array(len(values), dtype), "count")])]


@downgrade(12, "Max", "Min")
def select_extremes(draft: NodeDraft) -> AdapterResult:
    """Before opset 12: floats only; integers by comparison."""
    if is_float(draft):
        return None
    test = "Greater" if draft.op_type == "Max" else "Less"
    values = [value for value in draft.inputs if value is not None]
    if len(values) == 1:
        return [draft.emit("Identity", values)]
    return [functools.reduce(lambda a, b: pick(draft, test, a, b), values)]
