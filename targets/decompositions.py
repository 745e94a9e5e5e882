"""Decompositions of operators in every opset, for targets that lack them. They are exact unless
their docstring limits that.

`version_converter/adapters/` has the forms of operators that older opsets lack. This file has those
of operators in all opsets that some clients lack.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import onnx

from ..facts.polynomial import product
from ..ir import Array, Value
from ..version_converter.adapters.bitwise import subtract_from_all_ones
from ..version_converter.adapters.cast import cast_to_known_type
from ..version_converter.adapters.non_zero import coordinates
from ..version_converter.adapters.reshape import drop_allowzero
from ..version_converter.adapters.reverse_sequence import gather_backwards
from ..version_converter.flat_indices import tuples_of_elements
from ..version_converter.node_draft import NodeDraft
from ..version_converter.snippets import mean_and_deviations, numbers_below, with_epsilon
from .classical import CLASSICAL
from .forms import DECOMPOSITIONS, decomposes, decompositions_of
from .quantized_products import PRODUCTS

__all__ = ["DECOMPOSITIONS", "decomposes", "decompositions_of"]

_BIAS = 3
_STATES = {"RNN": (_BIAS, 5), "GRU": (_BIAS, 5), "LSTM": (_BIAS, 5, 6)}
"""Bias and initial states of recurrent operators, which are zeros where they are absent."""


for _name, _form in (*CLASSICAL.items(), *PRODUCTS.items()):
    decomposes(_name)(_form)
decomposes("BitwiseNot")(subtract_from_all_ones)
decomposes("CastLike")(cast_to_known_type)
decomposes("ReverseSequence")(gather_backwards)


@decomposes("Constant")
def convert_to_initializer(draft: NodeDraft) -> Sequence[Value | None]:
    """An initializer, which is no node."""
    tensor = draft.node.output().constant
    if tensor is None or tensor.is_sparse:
        draft.refuse("it holds no dense tensor of its own")
    return [draft.const(tensor.numpy(), "constant")]


@decomposes("Size")
def multiply_lengths(draft: NodeDraft) -> Sequence[Value | None]:
    """The product of the shape."""
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    return [draft.along("ReduceProd", shape, [0], keepdims=0)]


@decomposes("Identity")
def reshape_to_own_shape(draft: NodeDraft) -> Sequence[Value | None]:
    """A Reshape to its own shape."""
    if draft.elem_type(0) is None:
        draft.refuse("it may hold a sequence")
    data = draft.input(0)
    return [draft.emit("Reshape", [data, draft.emit("Shape", [data], "shape")])]


@decomposes("Reciprocal")
def divide_one(draft: NodeDraft) -> Sequence[Value | None]:
    """1 / x."""
    one = draft.const(np.array(1, draft.required_dtype(0, "the number one")), "one")
    return [draft.emit("Div", [one, draft.input(0)])]


@decomposes("Softplus")
def add_logarithm(draft: NodeDraft) -> Sequence[Value | None]:
    """The sum of max (x, 0) and log (1 + u), u = exp (-|x|). It is exact to a few units in the last
    place: the rounding error of w = 1 + u is corrected by u * log (w) / (w - 1)."""
    if draft.source < 9:
        draft.refuse("the opset has no Where to choose small numbers")
    dtype, x = draft.required_dtype(0, "the number one"), draft.input(0)
    one, zero = (draft.const(np.array(n, dtype), "number") for n in (1, 0))
    u = draft.emit("Exp", [draft.emit("Neg", [draft.emit("Abs", [x])])], "u")
    w = draft.emit("Add", [u, one], "w")
    more = draft.emit("Sub", [w, one], "more")
    scaled = draft.emit("Mul", [u, draft.emit("Log", [w])], "scaled")
    quotient = draft.emit("Div", [scaled, more], "quotient")
    # Where u vanishes beside 1, it is its own logarithm.
    rest = draft.emit("Where", [draft.emit("Greater", [more, zero]), quotient, u], "rest")
    return [draft.emit("Add", [draft.emit("Relu", [x]), rest])]


@decomposes("LpNormalization")
def divide_by_norm(draft: NodeDraft) -> Sequence[Value | None]:
    """The quotient by the norm, of floats and doubles; zeros stay zeros."""
    dtype, data = draft.required_dtype(0, "the number zero"), draft.data
    if draft.source < 11 or dtype.kind != "f" or dtype.itemsize < 4:
        draft.refuse("the opset cannot compare floats, or its norm has more digits than they have")
    axes, zero = [draft.attribute("axis")], draft.const(np.array(0, dtype), "zero")
    norm = draft.along(f"ReduceL{draft.attribute('p')}", data, axes, "norm", keepdims=1)
    quotient = draft.emit("Div", [data, norm], "quotient")
    return [draft.emit("Where", [draft.emit("Equal", [norm, zero]), zero, quotient])]


@decomposes("Dropout")
def drop_nothing(draft: NodeDraft) -> Sequence[Value | None]:
    """The input, in inference."""
    if draft.is_used(1):
        draft.refuse("its mask is used")
    training = draft.constant(2) if draft.source >= 12 and draft.input(2) is not None else False
    if training is None or np.any(training):
        draft.refuse("it may be in training, where it drops at random")
    return [draft.emit("Identity", [draft.input(0)]), *[None] * (len(draft.node.outputs) - 1)]


@decomposes("Range")
def emit_range(draft: NodeDraft) -> Sequence[Value | None]:
    """Integers with a constant step: positions of ones, times the step, plus the start."""
    step, dtype = draft.required_constant(2, "the step"), draft.required_dtype(0, "a range")
    if dtype.kind != "i" or not draft.one_number(step, "input 'delta'"):
        draft.refuse("only whole numbers are counted")
    one, size = np.int64(1), np.int64(abs(step.item()))
    ends = [draft.emit("Cast", [draft.input(i)], "end", to=onnx.TensorProto.INT64) for i in (0, 1)]
    # A negative step counts down, from the end of the interval with the start.
    low, high = ends if step.item() > 0 else reversed(ends)
    length = draft.emit("Sub", [high, low], "length")
    if size > 1:
        # Rounded up, as a last step may be cut short.
        last = draft.emit("Add", [length, draft.const(np.array(size - one), "more")], "last")
        length = draft.emit("Div", [last, draft.const(np.array(size), "step")], "length")
    zero = draft.const(np.array(0, np.int64), "zero")
    is_any = draft.emit("Greater", [high, low], "is_any")
    count = draft.emit("Where", [is_any, length, zero], "count")
    shape = draft.emit("Reshape", [count, draft.ints([1], "vector")], "shape")
    places = draft.emit(
        "Mul", [numbers_below(draft, shape), draft.const(step.astype(np.int64), "step")]
    )
    numbers = draft.emit("Add", [places, ends[0]], "numbers")
    return [draft.emit("Cast", [numbers], to=draft.elem_type(0))]


@decomposes("Xor")
def negate_equal(draft: NodeDraft) -> Sequence[Value | None]:
    """Not of Equal."""
    same = draft.emit("Equal", [draft.input(0), draft.input(1)], "same")
    return [draft.emit("Not", [same])]


@decomposes("Less", "Greater")
def swap_operands(draft: NodeDraft) -> Sequence[Value | None]:
    """The opposite comparison of the operands in the other order."""
    opposite = {"Less": "Greater", "Greater": "Less"}[draft.node.op_type]
    return [draft.emit(opposite, [draft.input(1), draft.input(0)])]


@decomposes("RNN", "GRU", "LSTM")
def start_from_zeros(draft: NodeDraft) -> Sequence[Value | None]:
    """The operator with a bias and initial states of zeros where they are absent."""
    absent = [place for place in _STATES[draft.node.op_type] if draft.input(place) is None]
    if not absent or (draft.source >= 14 and draft.attribute("layout")):
        draft.refuse("its initial states are present, or the batch comes first")
    weights, batch = draft.shape(2), (draft.shape() or [None] * 2)[1]
    if weights is None or None in weights:
        draft.refuse_unknown("the shape of its weights")
    directions, gates, hidden = (size or 0 for size in weights)
    dtype, sizes = draft.required_dtype(0, "zeros"), (directions, hidden)
    if batch is not None:
        zeros = draft.const(np.zeros((sizes[0], batch, sizes[1]), dtype), "zeros")
    else:
        shape = draft.emit("Shape", [draft.data], "shape")
        rows = draft.emit("Gather", [shape, draft.ints([1], "place")], "rows")
        first, last = (draft.ints([size], "size") for size in sizes)
        whole = draft.emit("Concat", [first, rows, last], "shape", axis=0)
        zeros = draft.emit("Expand", [draft.const(np.array(0, dtype), "zero"), whole], "zeros")
    # The bias of the inputs, then that of the states; OpenCV (5.0.0) reads no states without it.
    bias = np.zeros((directions, 2 * gates), dtype)
    for place in absent:
        draft.set_input(place, draft.const(bias, "bias") if place == _BIAS else zeros)
    return draft.repeat()


@decomposes("InstanceNormalization")
def normalize_channels(draft: NodeDraft) -> Sequence[Value | None]:
    """Deviations of each channel from its mean, divided by the standard deviation."""
    rank = draft.required_rank("the axes of a channel")
    if rank < 3:
        draft.refuse("its channels have no axes")
    scale, bias = (draft.unsqueeze(draft.required(at), range(1, rank - 1)) for at in (1, 2))
    _, deviations, variance = mean_and_deviations(draft, draft.data, range(2, rank))
    root = draft.emit("Sqrt", [with_epsilon(draft, variance)], "deviation")
    ratio = draft.emit("Mul", [draft.emit("Div", [deviations, root], "normalized"), scale])
    return [draft.emit("Add", [ratio, bias])]


@decomposes("GlobalMaxPool")
def reduce_channels(draft: NodeDraft) -> Sequence[Value | None]:
    """The maximum over all axes after the first two."""
    axes = list(range(2, draft.required_rank("a global pool")))
    if not axes:
        draft.refuse("there is no axis after the channels")
    return [draft.along("ReduceMax", draft.data, axes, keepdims=1)]


@decomposes("Split", where=lambda node, _: "num_outputs" in node.op.attributes)
def write_lengths(draft: NodeDraft) -> Sequence[Value | None]:
    """A Split into parts of written lengths."""
    draft.inputs = [draft.data, draft.ints(_lengths_of_parts(draft).tolist(), "lengths")]
    draft.drop("num_outputs")
    return draft.repeat()


@decomposes("Split")
def slice_outputs(draft: NodeDraft) -> Sequence[Value | None]:
    """A Slice for each output, for known lengths."""
    axis, lengths = draft.attribute("axis"), _lengths_of_parts(draft)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    return [
        None if output is None else _slice(draft, axis, int(start), int(end))
        for output, start, end in zip(draft.node.outputs, starts, ends, strict=True)
    ]


@decomposes("ReduceL1")
def sum_absolute_values(draft: NodeDraft) -> Sequence[Value | None]:
    """The sum of absolute values."""
    _require_axes_in_use(draft)
    return [_sum(draft, draft.emit("Abs", [draft.data], "sizes"))]


@decomposes("ReduceLogSum")
def take_logarithm_of_sum(draft: NodeDraft) -> Sequence[Value | None]:
    """The logarithm of the sum."""
    _require_axes_in_use(draft)
    if draft.required_dtype(0, "a logarithm").kind != "f":
        draft.refuse("Log does not support integers")
    return [draft.emit("Log", [_sum(draft, draft.data)])]


def _require_axes_in_use(draft: NodeDraft) -> None:
    if draft.source >= 18 and draft.attribute("noop_with_empty_axes"):
        draft.refuse("without axes it may reduce nothing")


def _sum(draft: NodeDraft, value: Value) -> Value:
    """A ReduceSum along the axes of another reduction."""
    axes, keepdims = (
        draft.attribute("axes") if draft.source < 18 else None,
        draft.attribute("keepdims"),
    )
    if axes is not None:
        return draft.along("ReduceSum", value, axes, "sum", keepdims=keepdims)
    inputs = [value, *draft.inputs[1:]]
    return draft.emit("ReduceSum", inputs, "sum", keepdims=keepdims)


@decomposes("Compress")
def gather_where_true(draft: NodeDraft) -> Sequence[Value | None]:
    """A Gather of the positions at which the condition holds."""
    own, data, condition = draft.attribute("axis"), draft.data, draft.constant(1)
    axis, sizes = draft.checked_axis(own or 0), draft.types.dimensions(data)
    if own is None:
        data = draft.emit("Reshape", [data, draft.ints([-1], "row")], "row")
        sizes = None if sizes is None else (product(sizes),)
    if condition is not None:
        places = draft.ints(np.flatnonzero(condition).tolist(), "places")
    else:
        flags = draft.required(1)
        if sizes is None or draft.types.dimensions(flags) != (sizes[axis],):
            # onnxruntime 1.32 ignores a condition beyond the axis, where a Gather fails.
            if draft.source < 10:
                draft.refuse_unknown("whether its condition is as long as the axis")
            shape = draft.emit("Shape", [data], "shape")
            end = draft.emit("Gather", [shape, draft.ints([axis], "axes")], "end")
            flags = draft.emit("Slice", [flags, draft.ints([0], "start"), end], "flags")
        rows = draft.emit("NonZero", [flags], "rows")
        places = draft.emit("Reshape", [rows, draft.ints([-1], "row")], "places")
    return [draft.emit("Gather", [data, places], axis=axis)]


@decomposes("Slice")
def write_out_axes(draft: NodeDraft) -> Sequence[Value | None]:
    """A Slice with its axes written out."""
    shape = draft.shape(1)
    if (
        draft.source < 10
        or draft.input(3) is not None
        or shape is None
        or len(shape) != 1
        or shape[0] is None
    ):
        draft.refuse("its axes are written out, or their number is not known")
    axes = draft.ints(range(shape[0]), "axes")
    inputs = [draft.input(0), draft.input(1), draft.input(2), axes, draft.input(4)]
    return [draft.emit("Slice", inputs[: 4 + (inputs[4] is not None)])]


@decomposes("Slice")
def gather_by_steps(draft: NodeDraft) -> Sequence[Value | None]:
    """A Gather of known places along each axis that is sliced."""
    if draft.source < 10:
        draft.refuse("its places are attributes")
    starts, ends = (draft.required_constant(index, "the places") for index in (1, 2))
    axes, steps = (
        draft.required_constant(index, "the axes and steps") if draft.input(index) else default
        for index, default in ((3, np.arange(len(starts))), (4, np.ones(len(starts), np.int64)))
    )
    data = draft.data
    for start, end, step, axis in zip(starts, ends, steps, axes, strict=True):
        length = draft.length(int(axis))
        if length is None:
            draft.refuse_unknown("the length of the axis that it slices")
        places = range(*slice(int(start), int(end), int(step)).indices(length))
        numbers = draft.ints(list(places), "places")
        data = draft.emit("Gather", [data, numbers], "part", axis=int(axis))
    return [data]


@decomposes("Pad")
def slice_before_padding(draft: NodeDraft) -> Sequence[Value | None]:
    """A Slice for what negative pads cut off, and a Pad for the others."""
    if draft.source < 11:
        draft.refuse("its pads are an attribute")
    if draft.text("mode") != "constant":
        draft.refuse("its mode reads elements that are cut off")
    constant = draft.constant(1)
    if constant is None:
        return _slice_computed_pads(draft)
    pads = constant.astype(np.int64)
    if (pads >= 0).all():
        draft.refuse("no pad is negative")
    cut = np.maximum(-pads, 0).reshape(2, -1)
    # An end of -0 would be the first element, not the last.
    ends = [-int(number) or np.iinfo(np.int64).max for number in cut[1]]
    axes = _axes_of(draft) or draft.ints(range(len(pads) // 2), "axes")
    places = [draft.ints(cut[0].tolist(), "starts"), draft.ints(ends, "ends"), axes]
    rest = draft.emit("Slice", [draft.data, *places], "rest")
    if (pads <= 0).all():
        return [rest]
    more = draft.ints(np.maximum(pads, 0).tolist(), "pads")
    return [draft.emit("Pad", [rest, more, *draft.inputs[2:]], attributes=draft.attributes)]


@decomposes("Pad")
def choose_padding(draft: NodeDraft) -> Sequence[Value | None]:
    """A Pad with zeros, and a choice of its number for new elements."""
    if draft.source < 11 or draft.text("mode") != "constant" or draft.input(2) is None:
        draft.refuse("its padding is zero")
    number, dtype = draft.required(2), draft.required_dtype(0, "zeros")
    if dtype.kind not in "iuf":
        draft.refuse("its elements are not numbers")
    places = [draft.input(1), None, draft.input(3)] if _axes_of(draft) else [draft.input(1)]
    padded = draft.emit("Pad", [draft.data, *places], "padded")
    if number.constant is not None and not number.constant.numpy().any():
        return [padded]
    ones = draft.const(np.array(1, np.int32), "one")
    whole = draft.emit("Expand", [ones, draft.emit("Shape", [draft.data], "shape")], "ones")
    flags = draft.emit("Pad", [whole, *places], "flags")
    is_new = draft.emit("Equal", [flags, draft.const(np.array(0, np.int32), "zero")], "is_new")
    return [draft.emit("Where", [is_new, number, padded])]


def _slice_computed_pads(draft: NodeDraft) -> Sequence[Value | None]:
    """The form for pads that run time decides."""
    shape = draft.shape(1)
    if shape is None or len(shape) != 1 or shape[0] is None:
        draft.refuse_unknown("the number of its pads")
    count, zero = shape[0] // 2, draft.const(np.array(0), "zero")
    pads = draft.as_type(draft.required(1), onnx.TensorProto.INT64)
    cut = draft.emit("Max", [draft.emit("Neg", [pads], "cut"), zero], "cut")
    places = [draft.ints([number], "place") for number in (0, count, 2 * count)]
    starts, less = (
        draft.emit("Slice", [cut, first, last], "part")
        for first, last in itertools.pairwise(places)
    )
    sizes, axes = draft.emit("Shape", [draft.data], "sizes"), _axes_of(draft)
    if axes is not None:
        sizes = draft.emit("Gather", [sizes, axes], "sizes", axis=0)
    ends = draft.emit("Sub", [sizes, less], "ends")
    rest = draft.emit("Slice", [draft.data, starts, ends, axes][: 3 + (axes is not None)], "rest")
    more = draft.emit("Max", [pads, zero], "pads")
    return [draft.emit("Pad", [rest, more, *draft.inputs[2:]], attributes=draft.attributes)]


def _axes_of(draft: NodeDraft) -> Value | None:
    """The axes of a Pad, where it names them."""
    return draft.input(3) if draft.source >= 18 else None


@decomposes("Reshape", where=lambda node, _: "allowzero" in node.op.attributes)
def write_no_zeros(draft: NodeDraft) -> Sequence[Value | None]:
    """A Reshape without allowzero, for a shape whose zeros are known."""
    return drop_allowzero(draft) or draft.repeat()


@decomposes("NonZero")
def rank_places(draft: NodeDraft) -> Sequence[Value | None]:
    """A TopK of the places of elements that are not zero, in merged axes."""
    rank = draft.required_rank("the axes of places")
    if draft.source < 11 or rank == 0:
        draft.refuse("its input is a scalar, or the opset has no TopK of integers")
    flags = draft.emit("Cast", [draft.data], "flags", to=onnx.TensorProto.BOOL)
    flat = draft.emit("Reshape", [flags, draft.ints([-1], "row")], "row")
    whole = draft.emit("Cast", [flat], "whole", to=onnx.TensorProto.INT64)
    count = draft.along("ReduceSum", whole, [0], "count", keepdims=1)
    ends = [draft.const(np.array(number), "number") for number in (0, -1)]
    down = draft.emit("Range", [draft.emit("Size", [flat], "size"), *ends], "down")
    # The flagged places get numbers that go down, so that TopK lists them in order.
    keys = draft.emit("Mul", [whole, down], "keys")
    first = draft.emit_all("TopK", [keys, count], ["first", "places"])[1]
    return [coordinates(draft, first, rank)]


@decomposes("Unsqueeze")
def reshape_axes(draft: NodeDraft) -> Sequence[Value | None]:
    """An Unsqueeze with axes of rank 1 in place of rank 0."""
    if draft.rank(1) != 0:
        draft.refuse("its axes are not a single number")
    axes = draft.emit("Reshape", [draft.input(1), draft.ints([1], "row")], "axes")
    return [draft.emit("Unsqueeze", [draft.input(0), axes])]


@decomposes("Flatten")
def reshape_to_matrix(draft: NodeDraft) -> Sequence[Value | None]:
    """A Reshape to rows and columns, of which one number at most is unknown."""
    rank, shape = draft.required_rank("rows and columns"), draft.shape() or []
    axis = draft.attribute("axis")
    axis = rank if axis == rank else draft.required_axis(axis, "rows and columns")
    sizes = [_product(shape[:axis]), _product(shape[axis:])]
    # A 0 would copy a size, and -1 stands for one unknown number at most.
    if 0 in sizes or sizes == [-1, -1]:
        draft.refuse_unknown("the number of its rows or columns")
    return [draft.emit("Reshape", [draft.data, draft.ints(sizes, "shape")])]


def _product(lengths: Sequence[int | None]) -> int:
    """The product of lengths; -1 where one is unknown."""
    numbers = [length for length in lengths if length is not None]
    return math.prod(numbers) if len(numbers) == len(lengths) else -1


@decomposes("Gather")
def gather_flat_indices(draft: NodeDraft) -> Sequence[Value | None]:
    """A Gather with indices of rank 1, and a Reshape."""
    rank, indices, shape = draft.required_rank("flat indices"), draft.shape(1), draft.shape()
    if indices is None or len(indices) == 1:
        draft.refuse("its indices are of rank 1, or their shape is not known")
    axis = draft.required_axis(draft.attribute("axis"), "flat indices")
    rest = [*indices, *(shape or [None] * rank)[axis + 1 :]]
    if None in rest or 0 in rest:
        draft.refuse_unknown("the shape of what it gathers")
    flat = draft.emit("Reshape", [draft.input(1), draft.ints([-1], "row")], "indices")
    parts = draft.emit("Gather", [draft.input(0), flat], "parts", axis=axis)
    as_before = [0] * axis  # these lengths stay
    target_shape = draft.ints([*as_before, *(length or 0 for length in rest)], "shape")
    return [draft.emit("Reshape", [parts, target_shape])]


@decomposes("ScatterElements")
def scatter_by_tuples(draft: NodeDraft) -> Sequence[Value | None]:
    """ScatterND with an index tuple for each element."""
    reduction = {name: a for name, a in draft.attributes.items() if name == "reduction"}
    rank = draft.required_rank("tuples of indices")
    axis = draft.required_axis(draft.attribute("axis"), "tuples of indices")
    places = tuples_of_elements(draft, axis, rank)
    return [draft.emit("ScatterND", [draft.input(0), places, draft.input(2)], attributes=reduction)]


@decomposes("DepthToSpace")
def spread_depth(draft: NodeDraft) -> Sequence[Value | None]:
    """Reshape, Transpose, Reshape, for a known shape."""
    n, c, h, w = _image(draft)
    b, mode = draft.attribute("blocksize"), draft.text("mode") if draft.source >= 11 else "DCR"
    if b < 1 or c % (b * b) or mode not in ("DCR", "CRD"):
        draft.refuse(f"a depth of {c} is not made of blocks of {b} by {b}, in the mode '{mode}'")
    is_crd = mode == "CRD"
    parts = [n, c // (b * b), b, b, h, w] if is_crd else [n, b, b, c // (b * b), h, w]
    order = [0, 1, 4, 2, 5, 3] if is_crd else [0, 3, 4, 1, 5, 2]
    return [_rearranged(draft, parts, order, [n, c // (b * b), h * b, w * b])]


@decomposes("SpaceToDepth")
def collect_space(draft: NodeDraft) -> Sequence[Value | None]:
    """Reshape, Transpose, Reshape, for a known shape."""
    n, c, h, w = _image(draft)
    b = draft.attribute("blocksize")
    if b < 1 or h % b or w % b:
        draft.refuse(f"{h} by {w} pixels are not made of blocks of {b} by {b}")
    parts = [n, c, h // b, b, w // b, b]
    return [_rearranged(draft, parts, [0, 3, 5, 1, 2, 4], [n, c * b * b, h // b, w // b])]


def _image(draft: NodeDraft) -> list[int]:
    """The lengths of an image's four axes, -1 for an unknown first one."""
    shape = draft.shape()
    if shape is None or len(shape) != 4 or None in shape[1:] or 0 in shape:
        draft.refuse_unknown("the shape of input 0")
    return [-1 if length is None else length for length in shape]


def _rearranged(
    draft: NodeDraft, parts: Sequence[int], order: Sequence[int], shape: Sequence[int]
) -> Value:
    split = draft.emit("Reshape", [draft.input(0), draft.ints(parts, "parts")], "parts")
    moved = draft.emit("Transpose", [split], "moved", perm=list(order))
    return draft.emit("Reshape", [moved, draft.ints(shape, "shape")])


def _lengths_of_parts(draft: NodeDraft) -> Array:
    """The lengths of a Split's outputs."""
    split = draft.constant(1) if draft.source >= 13 else draft.attribute("split")
    count, length = len(draft.node.outputs), draft.length(draft.attribute("axis"))
    if split is not None:
        parts = np.asarray(split, np.int64).reshape(-1)
        if len(parts) != count or (parts < 0).any() or length not in (None, parts.sum()):
            draft.refuse(f"its lengths {parts.tolist()} do not fit its outputs")
        return parts
    if draft.input(1) is not None:
        draft.refuse_unknown("the lengths of its parts")
    if length is None:
        draft.refuse_unknown("the length of the axis that it splits")
    # Rounded up: the last part may be shorter (Split 18).
    each = -(-length // count)
    lengths: Array = np.minimum(each, np.maximum(length - each * np.arange(count), 0))
    return lengths


def _slice(draft: NodeDraft, axis: int, start: int, end: int) -> Value:
    if draft.source < 10:
        return draft.emit("Slice", [draft.input(0)], axes=[axis], starts=[start], ends=[end])
    places = [draft.ints([number], "place") for number in (start, end, axis)]
    return draft.emit("Slice", [draft.input(0), *places])
