"""GroupNormalization: scale and bias by group or by channel.

- 18: one for each group; deprecated since.
- 21: one for each channel; `stash_type` is the type to compute in, by default float.
"""

import onnx

from ...ir import Value
from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, downgrade, upgrade
from ..snippets import mean_and_deviations, with_epsilon

# It subtracts the square of the mean from the mean of the squares.
INEXACT_BODIES.add("GroupNormalization")


@upgrade(21, "GroupNormalization")
def repeat_scale(draft: NodeDraft) -> None:
    """Opset 21: one scale and bias for each channel, not for each group."""
    groups, shape = _groups(draft), draft.shape()
    if shape is not None and shape[1] is not None:
        times = draft.ints([1, shape[1] // groups], "times")
    else:
        whole = draft.emit("Shape", [draft.input(0)], "channels", start=1, end=2)
        each = draft.emit("Div", [whole, draft.ints([groups], "groups")], "each")
        times = draft.emit("Concat", [draft.ints([1], "one"), each], "times", axis=0)
    for index in (1, 2):
        column = draft.emit("Reshape", [draft.input(index), draft.ints([-1, 1], "column")])
        repeated = draft.emit("Expand", [column, times])
        draft.set_input(index, draft.emit("Reshape", [repeated, draft.ints([-1], "flat")]))
    elem_type = draft.elem_type()
    if elem_type is not None:
        draft.set("stash_type", elem_type)  # opset 18 computes in the type of its input


@downgrade(18, "GroupNormalization")
def scale_groups(draft: NodeDraft) -> AdapterResult:
    """Opset 17: normalize and scale groups as rows."""
    shape, rows = _normalized(draft)
    return [draft.emit("Reshape", [_scaled(draft, rows), shape])]


@downgrade(21, "GroupNormalization")
def scale_channels(draft: NodeDraft) -> AdapterResult:
    """Opset 20: normalize groups as rows, then scale channels."""
    shape, rows = _normalized(draft)
    whole = draft.emit("Reshape", [rows, shape])
    channels = draft.emit("Reshape", [whole, draft.ints([0, 0, -1], "channels")])
    return [draft.emit("Reshape", [_scaled(draft, channels), shape])]


def _normalized(draft: NodeDraft) -> tuple[Value, Value]:
    """The shape of the data, and its groups as rows, normalized as floats or doubles."""
    own = draft.required_elem_type(0, "the precision")
    inner = own if own == onnx.TensorProto.DOUBLE else onnx.TensorProto.FLOAT
    shape = draft.emit("Shape", [draft.data], "shape")
    rows = draft.ints([0, _groups(draft), -1], "groups")
    groups = draft.emit("Reshape", [draft.data, rows])
    _, deviations, variance = mean_and_deviations(draft, draft.as_type(groups, inner), [2])
    size = draft.emit("Sqrt", [with_epsilon(draft, variance)])
    result = draft.emit("Div", [deviations, size], "normalized")
    return shape, draft.as_type(result, own)


def _groups(draft: NodeDraft) -> int:
    """The number of groups, which divides the number of channels."""
    groups: int = draft.attribute("num_groups")
    channels = draft.length(1)
    if groups < 1 or (channels is not None and channels % groups):
        draft.refuse(f"{channels} channels are not {groups} groups")
    return groups


def _scaled(draft: NodeDraft, rows: Value) -> Value:
    for index, op_type in ((1, "Mul"), (2, "Add")):
        column = draft.emit("Reshape", [draft.input(index), draft.ints([1, -1, 1], "column")])
        rows = draft.emit(op_type, [rows, column])
    return rows
