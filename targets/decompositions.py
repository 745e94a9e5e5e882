"""Decompositions of operators in every opset, for targets that lack them. They are exact unless
their docstring limits that.

`version_converter/adapters/` has the forms of operators that older opsets lack. This file has those
of operators in all opsets that some clients lack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ..ir import Array, Value
from ..version_converter.engine import Form
from ..version_converter.flat_indices import tuples_of_elements
from ..version_converter.node_draft import Site
from ..version_converter.snippets import numbers_below

DECOMPOSITIONS: dict[str, Form] = {}
"""Decompositions by operator."""


def decomposes(*op_types: str) -> Callable[[Form], Form]:
    """Register a decomposition of operators into others of the same opset. It refuses before it
    adds any node."""

    def register(spelling: Form) -> Form:
        DECOMPOSITIONS.update(dict.fromkeys(op_types, spelling))
        return spelling

    return register


@decomposes("CastLike")
def cast_to_known_type(site: Site) -> Sequence[Value | None]:
    """A Cast, where the type is known."""
    elem_type = site.elem_type(1)
    if elem_type is None:
        site.refuse("the element type of input 1 is not known; declare it")
    attributes = {name: a for name, a in site.attributes.items() if name != "saturate"}
    if len(attributes) != len(site.attributes) and site.source >= 19:
        attributes["saturate"] = site.attributes["saturate"]
    return [site.emit("Cast", [site.input(0)], attributes=attributes, to=elem_type)]


@decomposes("Constant")
def as_initializer(site: Site) -> Sequence[Value | None]:
    """An initializer, which is no node."""
    tensor = site.node.output().constant
    if tensor is None or tensor.is_sparse:
        site.refuse("it holds no dense tensor of its own")
    return [site.const(tensor.numpy(), "constant")]


@decomposes("Size")
def product_of_lengths(site: Site) -> Sequence[Value | None]:
    """The product of the shape."""
    shape = site.emit("Shape", [site.input(0)], "shape")
    return [_reduced(site, "ReduceProd", shape, [0])]


@decomposes("Identity")
def itself(site: Site) -> Sequence[Value | None]:
    """A Reshape to its own shape."""
    if site.elem_type(0) is None:
        site.refuse("it may hold a sequence")
    data = site.input(0)
    return [site.emit("Reshape", [data, site.emit("Shape", [data], "shape")])]


@decomposes("Reciprocal")
def one_divided(site: Site) -> Sequence[Value | None]:
    """1 / x."""
    one = site.const(np.array(1, site.required_dtype(0, "the number one")), "one")
    return [site.emit("Div", [one, site.input(0)])]


@decomposes("Softplus")
def logarithm_of_one_and_more(site: Site) -> Sequence[Value | None]:
    """The sum of max (x, 0) and log (1 + u), u = exp (-|x|). It is exact to a few units in the last
    place: the rounding error of w = 1 + u is corrected by u * log (w) / (w - 1)."""
    if site.source < 9:
        site.refuse("there is no Where to choose what is small")
    dtype, x = site.required_dtype(0, "the number one"), site.input(0)
    one, zero = (site.const(np.array(n, dtype), "number") for n in (1, 0))
    u = site.emit("Exp", [site.emit("Neg", [site.emit("Abs", [x])])], "u")
    w = site.emit("Add", [u, one], "w")
    more = site.emit("Sub", [w, one], "more")
    scaled = site.emit("Mul", [u, site.emit("Log", [w])], "scaled")
    quotient = site.emit("Div", [scaled, more], "quotient")
    # Where u vanishes beside 1, it is its own logarithm.
    rest = site.emit("Where", [site.emit("Greater", [more, zero]), quotient, u], "rest")
    return [site.emit("Add", [site.emit("Relu", [x]), rest])]


@decomposes("BitwiseNot")
def all_ones_less(site: Site) -> Sequence[Value | None]:
    """All ones minus the number, which never borrows."""
    dtype = site.required_dtype(0, "all ones")
    ones = site.const(np.array(-1).astype(dtype), "all_ones")
    return [site.emit("Sub", [ones, site.input(0)])]


@decomposes("Dropout")
def kept_as_it_is(site: Site) -> Sequence[Value | None]:
    """The input, in inference."""
    if site.is_used(1):
        site.refuse("its mask is used")
    training = site.constant(2) if site.source >= 12 and site.input(2) is not None else False
    if training is None or np.any(training):
        site.refuse("it may be in training, where it drops at random")
    return [site.emit("Identity", [site.input(0)]), *[None] * (len(site.node.outputs) - 1)]


@decomposes("Range")
def counted(site: Site) -> Sequence[Value | None]:
    """Integers with a constant step: positions of ones, times the step, plus the start."""
    step, dtype = site.required_constant(2, "the step"), site.required_dtype(0, "a range")
    if dtype.kind != "i" or not site.one_number(step, "input 'delta'"):
        site.refuse("only whole numbers are counted")
    one, size = np.int64(1), np.int64(abs(step.item()))
    ends = [site.emit("Cast", [site.input(i)], "end", to=onnx.TensorProto.INT64) for i in (0, 1)]
    low, high = ends if step.item() > 0 else reversed(ends)
    length = site.emit("Sub", [high, low], "length")
    if size > 1:
        last = site.emit("Add", [length, site.const(np.array(size - one), "more")], "last")
        length = site.emit("Div", [last, site.const(np.array(size), "step")], "length")
    zero = site.const(np.array(0, np.int64), "zero")
    is_any = site.emit("Greater", [high, low], "is_any")
    count = site.emit("Where", [is_any, length, zero], "count")
    shape = site.emit("Reshape", [count, site.ints([1], "vector")], "shape")
    places = site.emit(
        "Mul", [numbers_below(site, shape), site.const(step.astype(np.int64), "step")]
    )
    numbers = site.emit("Add", [places, ends[0]], "numbers")
    return [site.emit("Cast", [numbers], to=site.elem_type(0))]


@decomposes("Xor")
def unequal(site: Site) -> Sequence[Value | None]:
    """Not of Equal."""
    same = site.emit("Equal", [site.input(0), site.input(1)], "same")
    return [site.emit("Not", [same])]


@decomposes("GlobalMaxPool")
def maximum_of_each_channel(site: Site) -> Sequence[Value | None]:
    """The maximum over all axes after the first two."""
    axes = list(range(2, site.required_rank("a global pool")))
    if not axes:
        site.refuse("there is no axis behind the channels")
    return [_reduced(site, "ReduceMax", site.input(0), axes, keepdims=1)]


@decomposes("Split")
def slices(site: Site) -> Sequence[Value | None]:
    """A Slice for each output, for known lengths."""
    axis, lengths = site.attribute("axis"), _lengths_of_parts(site)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    return [
        None if output is None else _slice(site, axis, int(start), int(end))
        for output, start, end in zip(site.node.outputs, starts, ends, strict=True)
    ]


@decomposes("ReduceL1")
def sum_of_sizes(site: Site) -> Sequence[Value | None]:
    """The sum of absolute values."""
    _require_axes_in_use(site)
    return [_sum(site, site.emit("Abs", [site.input(0)], "sizes"))]


@decomposes("ReduceLogSum")
def logarithm_of_sum(site: Site) -> Sequence[Value | None]:
    """The logarithm of the sum."""
    _require_axes_in_use(site)
    if site.required_dtype(0, "a logarithm").kind != "f":
        site.refuse("Log takes no whole numbers")
    return [site.emit("Log", [_sum(site, site.input(0))])]


def _require_axes_in_use(site: Site) -> None:
    if site.source >= 18 and site.attribute("noop_with_empty_axes"):
        site.refuse("without axes it may reduce nothing")


def _sum(site: Site, value: Value | None) -> Value:
    """A ReduceSum along the axes of another reduction."""
    keepdims = site.attribute("keepdims")
    if site.source >= 18:
        return site.emit("ReduceSum", [value, site.input(1)], "sum", keepdims=keepdims)
    axes = site.attribute("axes")
    if axes is None:
        return site.emit("ReduceSum", [value], "sum", keepdims=keepdims)
    if site.source >= 13:
        inputs = [value, site.ints(axes, "axes")]
        return site.emit("ReduceSum", inputs, "sum", keepdims=keepdims)
    return site.emit("ReduceSum", [value], "sum", axes=list(axes), keepdims=keepdims)


@decomposes("Compress")
def gathered_where_true(site: Site) -> Sequence[Value | None]:
    """A Gather of the positions of a constant condition."""
    places = np.flatnonzero(site.required_constant(1, "the condition"))
    axis, data = site.attribute("axis"), site.input(0)
    if axis is None:
        data = site.emit("Reshape", [data, site.ints([-1], "row")], "row")
    return [site.emit("Gather", [data, site.ints(places.tolist(), "places")], axis=axis or 0)]


@decomposes("Slice")
def along_the_first_axes(site: Site) -> Sequence[Value | None]:
    """A Slice with its axes written out."""
    shape = site.shape(1)
    if (
        site.source < 10
        or site.input(3) is not None
        or shape is None
        or len(shape) != 1
        or shape[0] is None
    ):
        site.refuse("its axes are written out, or nobody knows their number")
    axes = site.ints(range(shape[0]), "axes")
    inputs = [site.input(0), site.input(1), site.input(2), axes, site.input(4)]
    return [site.emit("Slice", inputs[: 4 + (inputs[4] is not None)])]


@decomposes("Unsqueeze")
def axes_in_a_row(site: Site) -> Sequence[Value | None]:
    """An Unsqueeze with axes of rank 1 in place of rank 0."""
    if site.rank(1) != 0:
        site.refuse("its axes are no number alone")
    axes = site.emit("Reshape", [site.input(1), site.ints([1], "row")], "axes")
    return [site.emit("Unsqueeze", [site.input(0), axes])]


@decomposes("Gather")
def gathered_in_a_row(site: Site) -> Sequence[Value | None]:
    """A Gather with indices of rank 1, and a Reshape."""
    rank, indices, shape = site.required_rank("flat indices"), site.shape(1), site.shape()
    if indices is None or len(indices) == 1:
        site.refuse("its indices are of rank 1, or nobody knows")
    axis = site.required_axis(site.attribute("axis"), "flat indices")
    rest = [*indices, *(shape or [None] * rank)[axis + 1 :]]
    if None in rest or 0 in rest:
        site.refuse_unknown("the shape of what it gathers")
    flat = site.emit("Reshape", [site.input(1), site.ints([-1], "row")], "indices")
    parts = site.emit("Gather", [site.input(0), flat], "parts", axis=axis)
    as_before = [0] * axis  # these lengths stay
    target_shape = site.ints([*as_before, *(length or 0 for length in rest)], "shape")
    return [site.emit("Reshape", [parts, target_shape])]


@decomposes("ScatterElements")
def scattered_by_tuples(site: Site) -> Sequence[Value | None]:
    """ScatterND with an index tuple for each element."""
    reduction = {name: a for name, a in site.attributes.items() if name == "reduction"}
    rank = site.required_rank("tuples of indices")
    axis = site.required_axis(site.attribute("axis"), "tuples of indices")
    places = tuples_of_elements(site, axis, rank)
    return [site.emit("ScatterND", [site.input(0), places, site.input(2)], attributes=reduction)]


@decomposes("DepthToSpace")
def depth_apart(site: Site) -> Sequence[Value | None]:
    """Reshape, Transpose, Reshape, for a known shape."""
    n, c, h, w = _image(site)
    b, mode = site.attribute("blocksize"), site.text("mode") if site.source >= 11 else "DCR"
    if b < 1 or c % (b * b) or mode not in ("DCR", "CRD"):
        site.refuse(f"a depth of {c} is not made of blocks of {b} by {b}, in the mode '{mode}'")
    is_crd = mode == "CRD"
    parts = [n, c // (b * b), b, b, h, w] if is_crd else [n, b, b, c // (b * b), h, w]
    order = [0, 1, 4, 2, 5, 3] if is_crd else [0, 3, 4, 1, 5, 2]
    return [_rearranged(site, parts, order, [n, c // (b * b), h * b, w * b])]


@decomposes("SpaceToDepth")
def space_apart(site: Site) -> Sequence[Value | None]:
    """Reshape, Transpose, Reshape, for a known shape."""
    n, c, h, w = _image(site)
    b = site.attribute("blocksize")
    if b < 1 or h % b or w % b:
        site.refuse(f"{h} by {w} pixels are not made of blocks of {b} by {b}")
    parts = [n, c, h // b, b, w // b, b]
    return [_rearranged(site, parts, [0, 3, 5, 1, 2, 4], [n, c * b * b, h // b, w // b])]


def _image(site: Site) -> list[int]:
    """The lengths of an image's four axes, -1 for an unknown first one."""
    shape = site.shape()
    if shape is None or len(shape) != 4 or None in shape[1:] or 0 in shape:
        site.refuse_unknown("the shape of input 0")
    return [-1 if length is None else length for length in shape]


def _rearranged(
    site: Site, parts: Sequence[int], order: Sequence[int], shape: Sequence[int]
) -> Value:
    split = site.emit("Reshape", [site.input(0), site.ints(parts, "parts")], "parts")
    moved = site.emit("Transpose", [split], "moved", perm=list(order))
    return site.emit("Reshape", [moved, site.ints(shape, "shape")])


def _lengths_of_parts(site: Site) -> Array:
    """The lengths of a Split's outputs."""
    split = site.constant(1) if site.source >= 13 else site.attribute("split")
    count, length = len(site.node.outputs), site.length(site.attribute("axis"))
    if split is not None:
        parts = np.asarray(split, np.int64).reshape(-1)
        if len(parts) != count or (parts < 0).any() or length not in (None, parts.sum()):
            site.refuse(f"its parts of {parts.tolist()} are not what it gives out")
        return parts
    if site.input(1) is not None:
        site.refuse_unknown("the lengths of its parts")
    if length is None:
        site.refuse_unknown("the length of the axis that it splits")
    each = -(-length // count)
    lengths: Array = np.minimum(each, np.maximum(length - each * np.arange(count), 0))
    return lengths


def _slice(site: Site, axis: int, start: int, end: int) -> Value:
    if site.source < 10:
        return site.emit("Slice", [site.input(0)], axes=[axis], starts=[start], ends=[end])
    places = [site.ints([number], "place") for number in (start, end, axis)]
    return site.emit("Slice", [site.input(0), *places])


def _reduced(
    site: Site, op_type: str, value: Value | None, axes: Sequence[int], keepdims: int = 0
) -> Value:
    """A reduction in the form of the opset."""
    if site.source >= 18:
        inputs = [value, site.ints(axes, "axes")]
        return site.emit(op_type, inputs, keepdims=keepdims)
    return site.emit(op_type, [value], axes=list(axes), keepdims=keepdims)
