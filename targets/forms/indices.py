"""Forms of operators for clients that read indices from the front, or along one axis.

ScatterND (x[2, 3, 4], i, u), i of [[1, -1]]  ->  rows = Reshape (x, [6, 4])
                                                  k = 1 * 3 + 2, as [[5]]
                                                  Reshape (ScatterND (rows, k, u), [2, 3, 4])
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from ...ir import Node, Value
from ...version_converter.flat_indices import depth_of, flat_index, from_the_front, lengths, rows
from ...version_converter.node_draft import NodeDraft
from ...version_converter.types import Types
from .registered import decomposes


def _is_no_flag(node: Node, types: Types) -> bool:
    # Truth values move as numbers first, and these may need nothing more.
    return types.elem_type(node.inputs[0]) != TensorProto.BOOL


@decomposes("ScatterND", where=_is_no_flag)
def scatter_rows(draft: NodeDraft) -> Sequence[Value | None]:
    """A ScatterND of rows, by their places from the front: the axes that a tuple names are one."""
    depth, shape = depth_of(draft), draft.shape()
    if shape is None or not all(shape):
        draft.refuse_unknown("the shape of its data")
    sizes = [size or 0 for size in shape]
    places, updates = _places(draft, depth, sizes), draft.required(2)
    if len(draft.shape(1) or ()) != 2:
        updates = draft.emit("Reshape", [updates, draft.ints([-1, *sizes[depth:]], "row")], "rows")
    inputs = [rows(draft, draft.data, depth), places, updates]
    result = draft.emit("ScatterND", inputs, "rows", attributes=draft.attributes)
    return [draft.emit("Reshape", [result, draft.ints(sizes, "shape")])]


def _places(draft: NodeDraft, depth: int, sizes: Sequence[int]) -> Value:
    """The places of rows, one below the other."""
    first, indices = np.array(sizes[:depth]), draft.constant(1)
    if indices is not None:
        steps = np.append(np.cumprod(first[:0:-1])[::-1], 1)
        flat = np.where(indices < 0, indices + first, indices) @ steps
        return draft.const(flat.reshape(-1, 1), "places")
    flat = flat_index(draft, draft.data, draft.required(1), depth)
    # Indices that ONNX allows have no negative place: the maximum only shows that to the target.
    flat = draft.emit("Max", [flat, draft.const(np.array(0), "zero")], "places")
    return draft.emit("Reshape", [flat, draft.ints([-1, 1], "column")], "places")


@decomposes("ScatterND", where=_is_no_flag)
def count_indices_from_front(draft: NodeDraft) -> Sequence[Value | None]:
    """A ScatterND of places from the front, of data of any shape."""
    whole = lengths(draft, draft.data, 0, depth_of(draft))
    places = from_the_front(draft, draft.required(1), whole)
    draft.set_input(1, draft.emit("Max", [places, draft.const(np.array(0), "zero")], "places"))
    return draft.repeat()


@decomposes(
    "Squeeze",
    "Unsqueeze",
    where=lambda node, _: len(node.inputs) > 1 or "axes" in node.op.attributes,
)
def count_axes_from_front(draft: NodeDraft) -> Sequence[Value | None]:
    """A Squeeze or Unsqueeze whose axes are counted from the front of the longer shape."""
    is_input = len(draft.inputs) > 1
    axes = draft.required_constant(1, "its axes") if is_input else np.array(draft.attribute("axes"))
    rank = draft.required_rank("axes from the front")
    rank += axes.size if draft.op_type == "Unsqueeze" else 0
    counted = np.where(axes < 0, axes + rank, axes)
    if is_input:
        draft.set_input(1, draft.const(counted, "axes"))
    else:
        draft.set("axes", counted.tolist())
    return draft.repeat()
