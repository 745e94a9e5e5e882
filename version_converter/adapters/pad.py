"""Pad: pads, value, mode and axes.

- 1: floats; `paddings` and `value` are attributes.
- 2: `paddings` are called `pads`.
- 11: `pads` and `value` are inputs; integers.
- 18: `axes` selects the axes of `pads`.
- 19: `mode` = "wrap".
- 13, 21, 23, 24 and 25: more types.
"""

import numpy as np
import onnx

from ...ir import Value
from ..attribute_to_input import Move, move_attributes
from ..registry import AdapterResult, NodeDraft, added_values, downgrade, longer_form, upgrade
from ..snippets import length_of, numbers_below
from ..via_wider_type import WORDS, Detour, compute_via

move_attributes(
    11, "Pad", moves=[Move("pads", 1, "ints"), Move("value", 2, "like data", absent=0.0)]
)
compute_via(11, "Pad", row=Detour(WORDS, onnx.TensorProto.DOUBLE, inputs=(0, 2)))
added_values(19, "Pad", attribute="mode", values=[b"wrap"])


@upgrade(2, "Pad")
def rename_pads(draft: NodeDraft) -> None:
    """Opset 2: `pads` in the place of `paddings`."""
    draft.set("pads", draft.attribute("paddings"), onnx.AttributeProto.INTS)
    draft.drop("paddings")


@longer_form(19, "Pad")
def gather_around(draft: NodeDraft) -> AdapterResult:
    """Below opset 19, constant pads of mode 'wrap': Gather along each axis, from places counted
    modulo its length."""
    if draft.text("mode") != "wrap":
        return None
    pads, rank = draft.required_constant(1, "input 'pads'"), draft.required_rank("mode = 'wrap'")
    axes = list(range(rank))
    if draft.input(3) is not None:
        listed = draft.required_constant(3, "input 'axes'").reshape(-1).tolist()
        axes = [draft.required_axis(axis, "'axes'") for axis in listed]
    if len(set(axes)) < len(axes) or pads.shape != (2 * len(axes),):
        draft.refuse("its pads are not two for each of its axes")
    pairs = pads.reshape(2, -1).T.tolist()
    if any(min(pair) < 0 < max(pair) for pair in pairs):
        draft.refuse("mode = 'wrap' is not defined where an axis is cut and padded")
    data = draft.data
    for axis, (before, after) in zip(axes, pairs, strict=True):
        if before or after:
            places = _wrapped(draft, axis, before, after)
            data = draft.emit("Gather", [data, places], "wrapped", axis=axis)
    return [draft.emit("Identity", [data]) if data is draft.input(0) else data]


def _wrapped(draft: NodeDraft, axis: int, before: int, after: int) -> Value:
    """The places of the elements of a padded axis: before the first is the last."""
    length = draft.length(axis)
    if length is not None:
        if length == 0 and before + after > 0:
            draft.refuse("an axis without elements has nothing to repeat")
        # An axis of length 0 has no places, but NumPy warns of a remainder by 0.
        around = np.arange(-before, length + after) % max(length, 1)
        return draft.ints(around.tolist(), "places")
    size = length_of(draft, draft.emit("Shape", [draft.data], "shape"), axis, rank=1)
    total = draft.emit("Add", [size, draft.ints([before + after], "more")], "total")
    places = numbers_below(draft, total)
    if before:
        places = draft.emit("Sub", [places, draft.ints([before], "before")], "places")
    # Mod has the sign of its divisor, so places before the first count from the end.
    return draft.emit("Mod", [places, size], "places")


@downgrade(18, "Pad")
def pad_all_axes(draft: NodeDraft) -> None:
    """Before opset 18: pads of all axes."""
    if draft.input(3) is None:
        return
    axes = draft.required_constant(3, "input 'axes'").astype(np.int64)
    rank = draft.required_rank("'axes'")
    axes = np.array(
        [draft.required_axis(axis, "'axes'") for axis in axes.reshape(-1).tolist()], int
    )
    if len(set(axes.tolist())) < len(axes) or draft.shape(1) not in (None, [None], [2 * len(axes)]):
        draft.refuse("its pads are not two for each of its axes")
    places = np.concatenate([axes, axes + rank])
    pads = draft.constant(1)
    if pads is not None:
        spread = np.zeros(2 * rank, np.int64)
        spread[places] = pads
        full = draft.const(spread, "pads")
    else:
        zeros = draft.ints([0] * (2 * rank), "zeros")
        operands = [zeros, draft.const(places, "places"), draft.input(1)]
        full = draft.emit("ScatterElements", operands, "pads", axis=0)
    draft.set_input(1, full)
    draft.set_input(3, None)


@longer_form(11, "Pad")
def pad_by_joining(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: constant pads only. Run-time ones become tensors of the requested lengths,
    concatenated before and after; negative ones become a Slice, which may cut into these."""
    mode, data, pads = draft.text("mode"), draft.data, draft.required(1)
    if mode != "constant":
        draft.refuse(f"other operators cannot express mode = '{mode}' with run-time pads")
    if draft.input(2) is None:
        draft.required_dtype(0, "the value")
    rank = draft.required_rank("padding by run-time pads")
    if draft.shape(1) not in (None, [None], [2 * rank]):
        draft.refuse(f"its pads are not two for each of {rank} axes")
    sizes = draft.types.elements(pads) or [None] * (2 * rank)
    counts, cuts = pads, None
    if any(count is None or count.at_least is None or count.at_least < 0 for count in sizes):
        counts, cuts = _signs(draft, pads)
    for axis in range(rank):
        blocks: list[Value | None] = [data]
        for side, place in ((0, axis), (1, axis + rank)):
            count = sizes[place]
            if count is None or count.value != 0:
                # The block before goes in front, the one after at the end.
                blocks.insert(side and len(blocks), _block(draft, data, counts, axis, place, rank))
        if len(blocks) > 1:
            data = draft.emit("Concat", blocks, "padded", axis=axis)
    if cuts is not None:
        data = _cut(draft, data, cuts, rank)
    return [data if data is not draft.input(0) else draft.emit("Identity", [data])]


def _signs(draft: NodeDraft, pads: Value) -> tuple[Value, Value]:
    """The positive pads and the negative ones, with zeros in the places of the others."""
    zero = draft.const(np.array(0), "zero")
    less = draft.emit("Less", [pads, zero], "less")
    counts = draft.emit("Where", [less, zero, pads], "counts")
    return counts, draft.emit("Where", [less, pads, zero], "cuts")


def _cut(draft: NodeDraft, data: Value, cuts: Value, rank: int) -> Value:
    """The padded data without as many elements as negative pads say."""
    ends = [draft.ints([number], "place") for number in (0, rank, 2 * rank)]
    starts = draft.emit("Neg", [draft.emit("Slice", [cuts, *ends[:2]])], "starts")
    shape = draft.emit("Shape", [data], "shape")
    stops = draft.emit("Add", [shape, draft.emit("Slice", [cuts, *ends[1:]])], "stops")
    return draft.emit("Slice", [data, starts, stops], "cut")


def _block(draft: NodeDraft, data: Value, counts: Value, axis: int, place: int, rank: int) -> Value:
    """A padding block before or after the data along an axis."""
    shape = draft.emit("Shape", [data], "shape")
    sizes: list[Value | None] = []
    for first, last in ((0, axis), (axis + 1, rank)):
        if first < last:
            ends = [draft.ints([number], "place") for number in (first, last)]
            sizes.append(draft.emit("Slice", [shape, *ends], "sizes"))
    count = draft.emit("Gather", [counts, draft.ints([place], "place")], "count", axis=0)
    # All sizes before the axis are one entry, if there are any.
    sizes.insert(int(axis > 0), count)
    value = draft.input(2)
    if value is None:
        value = draft.const(np.zeros((), draft.required_dtype(0, "the value")), "value")
    whole = draft.emit("Concat", sizes, "block_shape", axis=0) if len(sizes) > 1 else count
    return draft.emit("Expand", [value, whole], "block")
