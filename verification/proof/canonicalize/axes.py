"""Axes as attributes counted from the front: reductions, Softmax and other operators."""

from collections.abc import Sequence
from typing import Any

from ....facts.polynomial import product
from ....ops.axes import REDUCTIONS
from ..terms.term import Args, Head, Term, rank_of
from ..terms.term_manager import Terms, canonical_form, rule

_NOT_PART_OF_INPUT = {"OneHot": 1}
"""Operators whose axis is one of an output with more axes than the first input."""


@canonical_form(
    "ArgMax",
    "ArgMin",
    "Compress",
    "DequantizeLinear",
    "GatherElements",
    "LpNormalization",
    "OneHot",
    "QuantizeLinear",
    "ScatterElements",
    "SplitToSequence",
)
def one_axis(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Count an axis from the front if the rank is known: -1 is the last one (since 11)."""
    changed = axis_from_front(head, args)
    if changed is None:
        return None
    return terms.apply(terms.heads.with_attributes(head, axis=changed), args, count)


@canonical_form("Scatter")
def scatter(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rename Scatter (before 11) to ScatterElements."""
    return [terms.op("ScatterElements", 11, *args, axis=head.attribute("axis"))]


def axis_from_front(head: Head, args: Args) -> int | None:
    """Axis of a head counted from the front; None if the attribute is that."""
    axis, rank = head.attribute("axis"), rank_of(args[0])
    if axis is None or rank is None:
        return None
    rank += _NOT_PART_OF_INPUT.get(head.name, 0)
    return axis + rank if -rank <= axis < 0 else None


_AXES_ARE_INPUT = {**dict.fromkeys(REDUCTIONS, 18), "ReduceSum": 13}
"""First opset with axes as an input."""

_PLAIN = frozenset(["ReduceMax", "ReduceMin", "ReduceProd"])
"""Reductions that return the input for no axes; a sum does not, since it adds 0 to -0."""


@canonical_form(*_AXES_ARE_INPUT)
def reduction(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Make known axes an attribute, as before they became an input (13 and 18). An absent input
    means all axes or, with noop_with_empty_axes, none."""
    since = _AXES_ARE_INPUT[head.name]
    if head.opset < since:
        return None
    x, listed = args if len(args) > 1 else (args[0], None)
    axes = [] if listed is None else terms.numbers(listed)
    if axes is None:
        return None
    if not axes and head.attribute("noop_with_empty_axes"):
        return _over_none(terms, head, x)
    attributes: dict[str, Any] = {"axes": axes} if axes else {}
    keepdims = head.attribute("keepdims")
    return [terms.op(head.name, since - 1, x, keepdims=keepdims, **attributes)]


def _over_none(terms: Terms, head: Head, x: Term | None) -> Sequence[Term | None] | None:
    if head.name in _PLAIN:
        return [x]
    if head.name == "ReduceSumSquare":
        return [terms.op("Mul", head, x, x)]
    return None


@rule(*REDUCTIONS, constants=True)
def reduction_axes(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Write out all axes in order, counted from the front."""
    x = args[0]
    assert x is not None
    if x.fact.shape is None:
        return None
    rank = len(x.fact.shape)
    listed = head.attribute("axes")
    if (len(args) > 1 and args[1] is not None) or head.attribute("noop_with_empty_axes", 0):
        return None  # known axes are an attribute by now
    axes = sorted(axis % rank for axis in listed) if listed else list(range(rank))
    return None if axes == listed else [terms.with_attributes(head, x, axes=axes)]


_ALONG_ONE_AXIS = 13
"""Opset from which on Softmax works along one axis."""


@canonical_form("Softmax", "LogSoftmax", "Hardmax")
def softmax(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Apply Softmax below 13 to a matrix: the axes from `axis` on are one."""
    (x,) = args
    assert x is not None
    rank, shape = rank_of(x), x.fact.shape
    axis = axis_from_front(head, args)
    axis = head.attribute("axis") if axis is None else axis
    if head.opset >= _ALONG_ONE_AXIS:
        written_axis = head.attribute("axis")
        return None if written_axis == axis else [terms.with_attributes(head, x, axis=axis)]
    if rank is None and axis == -1:
        return [_along(terms, head, x, axis)]  # the last axis, whatever the rank
    if rank is None or shape is None or not 0 <= axis < rank:
        return None
    if axis == rank - 1:
        return [_along(terms, head, x, axis)]
    matrix = terms.view(x, (product(shape[:axis]), product(shape[axis:])))
    return [terms.view(_along(terms, head, matrix, 1), shape)]


def _along(terms: Terms, head: Head, x: Term, axis: int) -> Term:
    return terms.op(head.name, _ALONG_ONE_AXIS, x, axis=axis)
