"""Reads of one element in each iteration: x[i], x[2 + i], x[n - 1 - i]."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import onnx

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact, element
from ...facts.magnitudes import LAST_OF_32_BITS
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from ...ops.slice_view import read_slice
from .loop_view import LoopView


@dataclasses.dataclass(frozen=True)
class Index:
    """An induction variable.

    Attributes:
        start: its value in the first iteration.
        step: its step, which is not 0.
    """

    start: Dimension
    step: int


@dataclasses.dataclass(frozen=True)
class Selection:
    """Elements along an axis of an outside value, in the order of iteration."""

    source: Value
    axis: int
    start: Dimension
    step: int


@dataclasses.dataclass(frozen=True)
class ElementRead:
    """A node of a body that reads one element.

    Attributes:
        node: a Gather or Slice.
        selection: the elements of all iterations.
        keeps_axis: true if the axis stays, with a size of 1.
        checked: true if it fails without such an element.
    """

    node: Node
    selection: Selection
    keeps_axis: bool
    checked: bool


def element_reads(loop_view: LoopView, inference: ShapeInference) -> list[ElementRead]:
    """The nodes of a Loop's body that read one element of an outside value."""
    indices = moving_indices(loop_view, inference)
    reader = _Reader(loop_view, inference, indices)
    return list(reader.reads()) if indices else []


def moving_indices(loop_view: LoopView, inference: ShapeInference) -> dict[Value, Index]:
    """The induction variables in a body and its inner graphs.

    These are the iteration number, counters by numbers, their sums with invariants, and their
    products with numbers.
    """
    indices = dict(_counters(loop_view, inference))
    if loop_view.iteration is not None:
        indices[loop_view.iteration] = Index(Dimension.constant(0), 1)
    if indices:
        for graph in loop_view.body.walk():
            for node in graph.nodes():
                index = _transfer(node, indices, inference)
                if index is not None:
                    indices[node.output()] = index
    return indices


def _counters(loop_view: LoopView, inference: ShapeInference) -> Iterator[tuple[Value, Index]]:
    for state in loop_view.states:
        start, node = element(inference.fact(state.initial)), skip_identities(state.result).producer
        if not isinstance(start, Dimension) or node is None or node.graph is not loop_view.body:
            continue
        after = _transfer(node, {state.argument: Index(start, 1)}, inference)
        step = None if after is None or after.step != 1 else (after.start - start).value
        if step and (abs(step) == 1 or _keeps_within(step, inference.fact(state.initial))):
            yield state.argument, Index(start, step)


def _keeps_within(step: int, fact: Fact) -> bool:
    """Test for a larger step by which a counter does not wrap."""
    return fact.elem_type == onnx.TensorProto.INT64 and abs(step) < LAST_OF_32_BITS


_ONE_ELEMENT = ("Identity", "Unsqueeze", "Squeeze", "Reshape")


def _transfer(node: Node, indices: dict[Value, Index], inference: ShapeInference) -> Index | None:
    """The transfer function of a node on induction variables; None for other outputs."""
    first = node.inputs[0] if node.inputs else None
    if node.is_op(*_ONE_ELEMENT, "Neg"):
        index = None if first is None else indices.get(first)
        return Index(-index.start, -index.step) if index and node.is_op("Neg") else index
    second = node.inputs[1] if node.is_op("Add", "Sub", "Mul") else None
    if first is None or second is None or (first in indices) == (second in indices):
        return None
    if node.is_op("Mul"):
        own, other = (first, second) if first in indices else (second, first)
        factor = element(inference.fact(other))
        by = factor.value if isinstance(factor, Dimension) else None
        # Larger products of iteration numbers may wrap.
        if not by or abs(by) >= LAST_OF_32_BITS:
            return None
        return Index(indices[own].start * by, indices[own].step * by)
    sign = 1 if node.is_op("Add") else -1
    number = element(inference.fact(second if first in indices else first))
    if not isinstance(number, Dimension):
        return None
    if first in indices:
        return Index(indices[first].start + number * sign, indices[first].step)
    return Index(number + indices[second].start * sign, indices[second].step * sign)


class _Reader:
    def __init__(
        self, loop_view: LoopView, inference: ShapeInference, indices: dict[Value, Index]
    ) -> None:
        self.body = loop_view.body
        self.inference = inference
        self.indices = indices

    def reads(self) -> Iterator[ElementRead]:
        """Yield the reads with a used output."""
        for node in self.body.nodes():
            if not node.is_op("Gather", "Slice") or node.op.references:
                continue
            source = node.inputs[0]
            if source is None or node.output().pinned:
                continue
            outside = source.graph is not self.body or source in self.body.initializers
            shape = self.inference.fact(source).shape if outside else None
            if shape and self.body.is_used(node.output()):
                match = self._gather if node.is_op("Gather") else self._slice
                read = match(node, source, len(shape))
                if read is not None:
                    yield read

    def _gather(self, node: Node, source: Value, rank: int) -> ElementRead | None:
        at, axis = node.inputs[1], node.attribute("axis", 0)
        if at is None or at not in self.indices or not -rank <= axis < rank:
            return None
        shape = self.inference.fact(at).shape
        if shape is None or len(shape) > 1:
            return None
        index = self.indices[at]
        # Rows in the order of iteration: a Scan reads each, forward or backward.
        if abs(index.step) != 1:
            return None
        selection = Selection(source, axis % rank, index.start, index.step)
        return ElementRead(node, selection, len(shape) == 1, checked=True)

    def _slice(self, node: Node, source: Value, rank: int) -> ElementRead | None:
        """Match a Slice of length 1; below opset 10 its bounds are constant attributes."""
        bounds = [self.indices.get(value) if value else None for value in node.inputs[1:3]]
        start, end = bounds or (None, None)
        if start is None or end is None or start.step != end.step or abs(start.step) != 1:
            return None
        view = read_slice(node, self.inference.fact)
        if view is None or end.start - start.start != 1:
            return None
        selection = Selection(source, view.axis, start.start, start.step)
        return ElementRead(node, selection, keeps_axis=True, checked=False)
