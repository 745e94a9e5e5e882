"""Forms of operators for clients that lack some ranks."""

from collections.abc import Sequence

from ...ir import Node, Value
from ...version_converter.node_draft import NodeDraft
from ...version_converter.types import Types
from .registered import decomposes

_PLAIN = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
_REDUCTIONS = (
    *_PLAIN,
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"),
)


@decomposes(
    "MatMul",
    where=lambda node, types: 1 in (types.rank(node.inputs[0]), types.rank(node.inputs[1])),
)
def multiply_matrices(draft: NodeDraft) -> Sequence[Value | None]:
    """A product of matrices, of which a vector is one row or one column."""
    ranks = [draft.rank(index) for index in (0, 1)]
    if 1 not in ranks or None in ranks:
        draft.refuse("no operand is a vector, or a rank is not known")
    operands = [
        draft.unsqueeze(draft.required(index), [index]) if ranks[index] == 1 else draft.input(index)
        for index in (0, 1)
    ]
    product = draft.emit("MatMul", operands, "product")
    axes = [axis for axis, index in ((-2, 0), (-1, 1)) if ranks[index] == 1]
    rank = max(2, *[rank or 0 for rank in ranks])
    return [draft.along("Squeeze", product, [rank + axis for axis in axes])]


@decomposes(
    *_REDUCTIONS, "ArgMax", "ArgMin", where=lambda node, _: node.attribute("keepdims", 1) == 0
)
def reduce_then_squeeze(draft: NodeDraft) -> Sequence[Value | None]:
    """A reduction that keeps its axes, and a Squeeze of them."""
    axes = _reduced_axes(draft)
    draft.set("keepdims", 1)
    reduced = draft.emit(draft.op_type, draft.inputs, "reduced", attributes=draft.attributes)
    return [draft.along("Squeeze", reduced, axes)]


def _mirrors_matrix(node: Node, types: Types) -> bool:
    return types.rank(node.inputs[0]) == 2 and node.attribute("mode", "constant") != "constant"


@decomposes("Pad", where=_mirrors_matrix)
def pad_as_image(draft: NodeDraft) -> Sequence[Value | None]:
    """A matrix padded as an image of one channel."""
    if draft.source < 11 or draft.input(3) is not None:
        draft.refuse("its lengths are an attribute, or of axes that it names")
    lengths = draft.required_constant(1, "the lengths").tolist()
    image = draft.unsqueeze(draft.data, [0, 1])
    lengths = draft.ints([0, 0, *lengths[:2], 0, 0, *lengths[2:]], "lengths")
    padded = draft.emit("Pad", [image, lengths], "padded", attributes=draft.attributes)
    return [draft.along("Squeeze", padded, [0, 1])]


def _has_no_numbers(node: Node, types: Types) -> bool:
    """Test for a second input that is absent or empty."""
    return len(node.inputs) < 2 or node.inputs[1] is None or types.shape(node.inputs[1]) == [0]


@decomposes(*_REDUCTIONS, where=_has_no_numbers)
def write_all_axes(draft: NodeDraft) -> Sequence[Value | None]:
    """A reduction with all axes written out."""
    if "axes" in draft.schema.attributes or draft.attribute("noop_with_empty_axes"):
        draft.refuse("its axes are an attribute, or it reduces nothing")
    draft.set_input(1, draft.ints(range(draft.required_rank("all axes")), "axes"))
    return draft.repeat()


def _changes_nothing(node: Node, types: Types) -> bool:
    is_noop = node.is_op("Expand") or node.attribute("noop_with_empty_axes", 0)
    return bool(is_noop) and _has_no_numbers(node, types)


# Other reductions take the absolute value or the square of each element, too.
@decomposes("Expand", *_PLAIN, where=_changes_nothing)
def keep_all_axes(draft: NodeDraft) -> Sequence[Value | None]:
    """The operand of a reduction along no axes, or of an Expand to none."""
    return [draft.emit("Identity", [draft.data])]


def _reduced_axes(draft: NodeDraft) -> list[int]:
    """The axes of a reduction, counted from the front."""
    if draft.node.op_type.startswith("Arg"):
        return [draft.required_axis(draft.attribute("axis"), "the axis")]
    if "axes" in draft.schema.attributes:
        axes = draft.attribute("axes")
    elif draft.input(1) is None:
        axes = None
    else:
        axes = draft.required_constant(1, "the axes").reshape(-1).tolist()
    if axes:
        return sorted({draft.required_axis(axis, "the axes") for axis in axes})
    if draft.attributes.get("noop_with_empty_axes") and draft.attribute("noop_with_empty_axes"):
        draft.refuse("without axes it may reduce nothing")
    return list(range(draft.required_rank("all axes")))
