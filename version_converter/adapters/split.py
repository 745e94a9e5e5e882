"""Split: the lengths of its outputs.

- 1: `split` is an attribute, or an input of floats; without it, all are of one length.
- 2: it is an attribute, and `axis` is 0 by default.
- 11: `axis` may be negative.
- 13: `split` is an input; bfloat16.
- 18: without it, `num_outputs` counts the parts, and the last may be shorter.
"""

from ...ir import Value
from ..attribute_to_input import Move, move_attributes
from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form, upgrade
from ..snippets import length_of

negative_axes("Split", axis=Axis("axis"))
move_attributes(13, "Split", moves=[Move("split", 1, "ints")])


@upgrade(2, "Split")
def move_lengths(draft: NodeDraft) -> None:
    """Opset 2: an explicit axis, and lengths in an attribute."""
    if "axis" not in draft.attributes:
        draft.refuse("opset 1 has no default for its 'axis'")
    if draft.input(1) is not None:
        lengths = draft.required_constant(1, "input 'split'").reshape(-1)
        draft.set("split", [int(length) for length in lengths])
        draft.set_input(1, None)


@upgrade(18, "Split")
def count_outputs(draft: NodeDraft) -> None:
    """Opset 18: an attribute counts equal parts."""
    if draft.input(1) is None:
        shape, axis, count = draft.shape() or [], draft.attribute("axis"), len(draft.node.outputs)
        length = shape[axis] if -len(shape) <= axis < len(shape) else None
        if length is not None and length % count:
            draft.refuse(f"a length of {length} has no {count} equal parts")
        draft.set("num_outputs", count)


@downgrade(18, "Split")
def spell_lengths(draft: NodeDraft) -> None:
    """Before opset 18: explicit lengths, if the last part is shorter."""
    count = draft.attribute("num_outputs")
    draft.drop("num_outputs")
    if count is None:
        return
    if count != len(draft.node.outputs) or draft.input(1) is not None:
        draft.refuse(
            f"num_outputs = {count} is not its number of outputs, or their lengths are an input"
        )
    axis = draft.attribute("axis")
    length = draft.length(axis)
    if length is not None and length % count == 0:
        return
    if length is None or length < (count - 1) * -(-length // count):
        # So few elements leave a negative rest, which no run reaches that the original survives.
        draft.set_input(1, _lengths_at_run_time(draft, count, axis))
        return
    part = -(-length // count)
    draft.set_input(1, draft.ints([part] * (count - 1) + [length - part * (count - 1)], "split"))


def _lengths_at_run_time(draft: NodeDraft, count: int, axis: int) -> Value:
    """The quotient, rounded up, for each part, and the rest for the last one."""
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    whole = length_of(draft, shape, axis, rank=1)
    rounded = draft.emit("Add", [whole, draft.ints([count - 1], "less_one")], "rounded")
    part = draft.emit("Div", [rounded, draft.ints([count], "count")], "part")
    before = draft.emit("Mul", [part, draft.ints([count - 1], "less_one")], "before")
    last = draft.emit("Sub", [whole, before], "last")
    return draft.emit("Concat", [part] * (count - 1) + [last], "split", axis=0)


@longer_form(13, "Split")
def slice_parts(draft: NodeDraft) -> AdapterResult:
    """Below opset 13, run-time lengths: a Slice for each part."""
    axis, parts, count = draft.attribute("axis"), draft.input(1), len(draft.node.outputs)
    if parts is None or draft.shape(1) not in (None, [None], [count]):
        draft.refuse(f"its lengths are not {count}, one for each output")
    axes, end = draft.ints([axis], "axis"), draft.ints([0], "start")
    results: list[Value | None] = []
    for index, output in enumerate(draft.node.outputs):
        start, place = end, draft.ints([index], "place")
        end = draft.emit("Gather", [parts, place], "length", axis=0)
        if index:
            end = draft.emit("Add", [start, end], "end")
        part = [draft.data, start, end, axes]
        results.append(None if output is None else draft.emit("Slice", part, "part"))
    return results
