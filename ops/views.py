"""Slices of consecutive elements, and axes of reductions, read alike in all opsets."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..facts.attribute_or_input import listed, listed_numbers
from ..facts.fact import UNKNOWN, Fact, Shape
from ..facts.polynomial import Dimension
from ..ir import Node, Value
from .axes import positions


class SliceView(NamedTuple):
    """A Slice of consecutive elements along one axis.

    Attributes:
        axis: the axis, not negative.
        start: the start as written; None for an unknown one.
        end: the end as written; None for an unknown one.
        bounds: the operands that hold start and end; None below opset 10.
    """

    source: Value
    axis: int
    start: Dimension | None
    end: Dimension | None
    bounds: tuple[Value | None, Value | None]

    @property
    def numbers(self) -> tuple[int | None, int | None]:
        """The start and the end as constants, as written; None for another one."""
        start, end = (None if at is None else at.value for at in (self.start, self.end))
        return start, end


def read_slice(node: Node | None, fact: Callable[[Value], Fact]) -> SliceView | None:
    """The view of a Slice; None for another node, several axes or other steps."""
    source = None if node is None or not node.is_op("Slice") else node.input(0)
    if node is None or source is None or node.op.references:
        return None
    facts = [UNKNOWN if value is None else fact(value) for value in node.inputs]
    starts, ends, axes, steps = (
        listed(node, facts, name, position)
        for position, name in enumerate(("starts", "ends", "axes", "steps"), 1)
    )
    lists = [each for each in (starts, ends, axes) if each is not None]
    if axes is None and node.input(3) is None:
        # Without axes there is a start for each of the first ones: a single one is for axis 0.
        single = lists or (Dimension.constant(1),) in [fact.shape for fact in facts[1:3]]
        axes = [Dimension.constant(0)] if single else None
    axis = axes[0] if axes else None
    place = None if axis is None else _from_front(axis.value, facts[0].shape)
    if place is None or any(len(each) != 1 for each in lists):
        return None
    if node.input(4) is not None if steps is None else steps[0] != 1 or len(steps) != 1:
        return None
    (start,), (end,) = starts or [None], ends or [None]
    return SliceView(source, place, start, end, (node.input(1), node.input(2)))


def _from_front(axis: int | None, shape: Shape | None) -> int | None:
    """An axis counted from the front; None for one that is unknown or not there."""
    if axis is None or shape is None:
        return axis if axis is not None and axis >= 0 else None
    return axis % len(shape) if -len(shape) <= axis < len(shape) else None


def unsqueezed(value: Value | None, axis: int, fact: Callable[[Value], Fact]) -> Value | None:
    """The value to which an Unsqueeze gives one axis, counted from the front; None for others."""
    node = None if value is None else value.producer
    if value is None or node is None or not node.is_op("Unsqueeze") or node.op.references:
        return None
    facts = [UNKNOWN if each is None else fact(each) for each in node.inputs]
    own, shape = listed_numbers(node, facts, "axes", 1), fact(value).shape
    return node.inputs[0] if shape and own in ([axis], [axis - len(shape)]) else None


class ReduceView(NamedTuple):
    """The axes of a Reduce operator.

    Attributes:
        axes: the reduced axes, counted from the front.
        keeps: true if they stay, with a size of 1.
        does_nothing: true for no axes that do not mean all.
    """

    axes: tuple[int, ...]
    keeps: bool
    does_nothing: bool


def read_reduction(node: Node, facts: Sequence[Fact]) -> ReduceView | None:
    """The view of a Reduce operator; None for an unknown rank, or axes that are unknown or not
    there.
    """
    first, axes = facts[0], listed_numbers(node, facts, "axes", 1)
    if axes is None and node.input(1) is not None:
        return None
    rank = len(first.shape) if first.shape is not None else getattr(first.content, "ndim", None)
    if rank is None:
        return None
    does_nothing = not axes and bool(node.attribute("noop_with_empty_axes", 0))
    places = positions(axes or (() if does_nothing else range(rank)), rank)
    if places is None:
        return None
    return ReduceView(tuple(sorted(places)), bool(node.attribute("keepdims", 1)), does_nothing)
