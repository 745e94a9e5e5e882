"""Attributes that became inputs: Slice, Pad, TopK, Squeeze, Split and others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from ....ir import Operator
from ..terms.term import Args, Head, Term, rank_of
from ..terms.term_manager import Terms, canonical_form
from .axes import axis_from_front

_MOVES: dict[str, tuple[int, dict[str, tuple[int, Any]]]] = {
    "Squeeze": (13, {"axes": (1, np.int64)}),
    "Unsqueeze": (13, {"axes": (1, np.int64)}),
    "Split": (13, {"split": (1, np.int64)}),
    "TopK": (10, {"k": (1, np.int64)}),
    "Upsample": (9, {"scales": (1, np.float32)}),
    "Slice": (10, {"starts": (1, np.int64), "ends": (2, np.int64), "axes": (3, np.int64)}),
}
"""Version at which attributes became inputs, with the position and type of each input."""


def moved(terms: Terms, head: Head, args: Args) -> tuple[Head, Args] | None:
    """Head and arguments with former attributes as inputs; None if they are inputs."""
    since, moves = _MOVES[head.name]
    assert head.op is not None
    if head.opset >= since:
        return None
    inputs: list[Term | None] = [*args[:1], *[None] * 4]
    for name, (position, dtype) in moves.items():
        value = head.attribute(name)
        if value is not None:
            inputs[position] = terms.constant(np.array(value, dtype).reshape(-1))
    attributes = [m for m in head.op.attributes.values() if m.name not in moves]
    op = Operator.make(head.name).with_attributes(attributes)
    return terms.heads.of(op, {**head.imports, "": since}, head.outputs), tuple(inputs)


@canonical_form("Squeeze", "Unsqueeze")
def plain(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Squeeze and Unsqueeze: axes as input (13)."""
    newer = moved(terms, head, args)
    return None if newer is None else terms.apply(*newer, count)


@canonical_form("TopK")
def top_k(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """TopK: k as input (10), along an axis that counts from the front."""
    newer = moved(terms, head, args)
    if newer is not None:
        return terms.apply(*newer, count)
    x, number = args
    numbers = terms.numbers(number)
    axis = axis_from_front(head, args)
    flat = terms.constant(np.array(numbers, np.int64)) if numbers is not None else number
    if axis is None and flat is number:
        return None
    if axis is not None:
        head = terms.heads.with_attributes(head, axis=axis)
    return terms.apply(head, (x, flat), count)


@canonical_form("Slice")
def slices(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Slice: bounds and axes as inputs (10) that count from the front, without unit steps."""
    newer = moved(terms, head, args)
    if newer is not None:
        return terms.apply(*newer, count)
    x, starts, ends, axes, steps = (*args, None, None)[:5]
    rank, bounds = rank_of(x), [_wide(terms, term) for term in (starts, ends)]
    numbers = terms.numbers(axes)
    if axes is None:
        length = None if starts is None else starts.fact.shape
        number = length[0].value if length else None
        numbers = None if number is None else list(range(number))
    if numbers is not None and rank is not None and all(-rank <= a < rank for a in numbers):
        axes = terms.constant(np.array([a % rank for a in numbers], np.int64))
    by = terms.numbers(steps)
    steps = None if by is not None and set(by) <= {1} else _wide(terms, steps)
    new = (x, *bounds, axes, steps)
    return None if new == (*args, None, None)[:5] else terms.apply(head, new)


def _wide(terms: Terms, term: Term | None) -> Term | None:
    """Constant integers as int64."""
    numbers = terms.numbers(term)
    return term if numbers is None else terms.constant(np.array(numbers, np.int64))


@canonical_form("Pad")
def pad(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Pad: pads and value as inputs (11), for some axes (18). Canonical are pads of all axes, and a
    value only where it is read."""
    if head.opset < _PADS_ARE_INPUT:
        return _pad_of_attributes(terms, head, args)
    x, pads, value, axes = (*args, None, None)[:4]
    full = None if axes is None else _of_all_axes(terms, x, pads, axes)
    if full is not None:
        pads, axes = full, None
    if head.text("mode") != "constant":
        value = None
    elif value is None and x is not None and x.fact.elem_type:
        value = number_like(terms, x, 0)
    elif value is not None and value.fact.shape is not None:
        value = terms.view(value, ())
    new: Args = (x, pads, value) if axes is None else (x, pads, value, axes)
    while new[-1] is None:
        new = new[:-1]
    return None if new == args else terms.apply(head, new)


_PADS_ARE_INPUT = 11


def _pad_of_attributes(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    x = args[0]
    if x is None or not x.fact.elem_type or head.attribute("pads") is None:
        return None
    value = number_like(terms, x, head.attribute("value", 0))
    if value is None:
        return None
    pads = terms.constant(np.array(head.attribute("pads"), np.int64))
    return [terms.op("Pad", _PADS_ARE_INPUT, x, pads, value, mode=head.text("mode"))]


def _of_all_axes(
    terms: Terms, x: Term | None, pads: Term | None, which: Term | None
) -> Term | None:
    """Pads of some axes as pads of all; None if the axes are unknown."""
    numbers, axes, rank = terms.numbers(pads), terms.numbers(which), rank_of(x)
    if rank and axes is not None and [axis % rank for axis in axes] == list(range(rank)):
        return pads if min(axes) >= -rank and max(axes) < rank else None
    if numbers is None or axes is None or rank is None or len(numbers) != 2 * len(axes):
        return None
    if not all(-rank <= axis < rank for axis in axes):
        return None
    if len({axis % rank for axis in axes}) < len(axes):
        return None
    full = np.zeros((2, rank), np.int64)
    for end in (0, 1):
        for axis, number in zip(axes, numbers[end * len(axes) :], strict=False):
            full[end, axis] = number
    return terms.constant(full.reshape(-1))


def number_like(terms: Terms, x: Term, number: float) -> Term | None:
    """Constant of the type of a term; None if that type does not hold the number."""
    if not x.fact.elem_type:
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(x.fact.elem_type)
    if dtype.kind in "OUS" or (dtype.kind in "iu" and number != 0):
        return None
    # The default bounds of Clip 6 are those of float: float16 makes infinities of them.
    with np.errstate(over="ignore"):
        return terms.constant(np.array(number).astype(dtype))


@canonical_form("Clip")
def clip(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Clip: bounds as inputs of the type of the data (11), which are all present."""
    x = args[0]
    if x is None or not x.fact.elem_type:
        return None
    if head.opset >= 11:
        return _bounded(terms, x, *args[1:3])
    bounds = [number_like(terms, x, head.attribute(name)) for name in ("min", "max")]
    return [terms.op("Clip", 11, x, *bounds)]


def _bounded(
    terms: Terms, x: Term, low: Term | None = None, high: Term | None = None
) -> Sequence[Term | None] | None:
    """Clip with the lowest and the largest float in the place of absent bounds."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(x.fact.elem_type)
    if dtype.kind != "f" or (low is not None and high is not None):
        return None
    # By the specification an absent bound is the last finite number, not infinity.
    limits = np.finfo(dtype)
    low = terms.constant(np.array(limits.min, dtype)) if low is None else low
    high = terms.constant(np.array(limits.max, dtype)) if high is None else high
    return [terms.op("Clip", 11, x, low, high)]


@canonical_form("Dropout")
def dropout(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Dropout in inference: its input, for a valid ratio (7). Its mask is true everywhere (12)."""
    ratio, training = (*args[1:], None, None)[:2]
    number, mode = terms.tensor(ratio), terms.tensor(training)
    if training is not None and (mode is None or mode.numpy().any()):
        return None
    # onnxruntime 1.32 refuses other ratios in inference, too.
    if ratio is not None and (number is None or not 0 <= number.numpy().max(initial=-1) < 1):
        return None
    mask = [] if count == 1 else terms.raw(head, args, terms.facts_of(head, args, count))[1:]
    return [args[0], *mask]


@canonical_form("Split")
def split(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Split: sizes as input (13), so that `num_outputs` (18) is not needed. Where only run time
    determines the split axis, the sizes are computed."""
    newer = moved(terms, head, args)
    if newer is not None:
        return terms.apply(*newer, count)
    axis = axis_from_front(head, args)
    parts = head.attribute("num_outputs")
    lengths = args[1] if len(args) > 1 else lengths_of(terms, head, args[0], parts)
    if head.opset >= 18 and lengths is not None:
        axis = head.attribute("axis") if axis is None else axis
        op = Operator.make("Split", axis=axis)
        newest = terms.heads.of(op, {"": 13}, head.outputs)
        return terms.apply(newest, (args[0], lengths), count)
    if axis is None:
        return None
    return terms.apply(terms.heads.with_attributes(head, axis=axis), args, count)


def lengths_of(terms: Terms, head: Head, x: Term | None, parts: int | None) -> Term | None:
    """Sizes of Split 18 by number of parts. All but the last are the length of the axis, divided
    by the number and rounded up; the last is the rest. None if the length is known."""
    axis, rank = head.attribute("axis"), rank_of(x)
    if x is None or not parts or parts < 2:
        return None
    if rank is not None and (not -rank <= axis < rank or _is_known(x, axis)):
        return None
    shape, place = terms.op("Shape", head, x), terms.constant(np.array([axis]))
    whole = terms.op("Gather", head, shape, place, axis=0)
    more, by = (terms.constant(np.array([n])) for n in (parts - 1, parts))
    part = terms.op("Div", head, terms.op("Add", head, whole, more), by)
    last = terms.op("Sub", head, whole, terms.op("Mul", head, part, more))
    return terms.op("Concat", head, *[part] * (parts - 1), last, axis=0)


def _is_known(x: Term, axis: int) -> bool:
    return x.fact.shape is not None and x.fact.shape[axis].value is not None
