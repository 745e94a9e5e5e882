"""Split a tensor once instead of slicing it part by part.

    a = Slice (x, zero, two, axis)
    b = Slice (x, two, six, axis)        ->      a, b = Split <axis = 1> (x, sizes)
                                                 <int64[2] sizes = {2, 4}>

The slices must cover the axis without a gap. A part of a Concat that is one of its operands is that
operand.

Kept: slices that overlap, of several axes or an open size, in other steps, and a single scalar
index.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.attribute_or_input import listed_numbers
from ...facts.fact import Fact, integers
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value
from ...ops.builder import Builder
from ...ops.slice_view import read_slice
from ..base import Pass, PassContext
from ..utils.replace_all_uses import replace_values

_SPLIT = Message("split", "slices that are parts of a Split: {slices}; of a Concat: {operands}")

_OLDEST = 2
"""From this opset on, Split takes sizes as it does in later ones."""


@dataclasses.dataclass(frozen=True)
class MergeSlices(Pass):
    """Split once where slices cover an axis, and read operands of a Concat directly."""

    name: ClassVar[str] = "merge-slices"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("Slice", "Gather", "Split")

    def run(self, model: Model, context: PassContext) -> bool:
        """Merge the slices of every graph."""
        slices = operands = 0
        for graph in model.graphs():
            cutting = _Cutting(graph, context.inference(model))
            operands += cutting.read_operands()
            if graph.root.opset() >= _OLDEST:
                slices += cutting.merge()
        if slices or operands:
            what = _SPLIT(slices=slices, operands=operands)
            context.remarks.add_on_model(self, model, "rewritten", what)
        return slices + operands > 0


class _Part(NamedTuple):
    """Part of a value along one axis, from `start` to before `end`."""

    result: Value
    source: Value
    axis: int
    start: int
    end: int


class _Cutting:
    """The slices of one graph.

    Args:
        graph: the graph.
        inference: the facts.
    """

    def __init__(self, graph: Graph, inference: ShapeInference) -> None:
        self._graph = graph
        self._inference = inference

    def read_operands(self) -> int:
        """Replace parts of a Concat by its operands, and return their number."""
        same: dict[Value, Value] = {}
        outputs = set(self._graph.outputs)
        for node in self._graph.nodes_of("Slice", "Gather", "Split"):
            source = node.inputs[0]
            if source is None or source.producer is None or not source.producer.is_op("Concat"):
                continue
            operands = self._operands(source.producer)
            for part in self._parts(node):
                operand = operands.get((part.axis, part.start, part.end))
                if operand is not None and not part.result.pinned and part.result not in outputs:
                    same[part.result] = same.get(operand, operand)
        return self._replace(same)

    def merge(self) -> int:
        """Replace slices that cover an axis by a Split, and return their number."""
        groups: dict[tuple[Value, int], list[_Part]] = {}
        for node in self._graph.nodes_of("Slice", "Gather"):
            source = node.inputs[0]
            if source is None or len(self._graph.users(source)) < 2:
                continue
            if self._inference.fact(source).content is not None:
                continue  # sizes, which facts follow through slices better
            for part in self._parts(node):
                if not part.result.pinned and self._graph.is_used(part.result):
                    groups.setdefault((source, part.axis), []).append(part)
        same: dict[Value, Value] = {}
        for (source, axis), parts in groups.items():
            size = self._inference.fact(source).dims[axis].value
            cover = _cover([part for part in parts if part.result not in same], size)
            if len(cover) > 1:
                sizes = [part.end - part.start for part in cover]
                labels = [part.result.name for part in cover]
                new = Builder(self._graph).split(source, sizes, axis, labels)
                same.update(zip([part.result for part in cover], new, strict=True))
        return self._replace(same)

    def _replace(self, same: dict[Value, Value]) -> int:
        replace_values(self._graph, same)
        for node in {value.producer for value in same if value.producer is not None}:
            if not self._graph.is_needed(node):
                self._graph.remove(node)
        return len(same)

    def _parts(self, node: Node) -> Iterator[_Part]:
        """The parts that a node takes along one axis, of a size that is known."""
        source = node.inputs[0]
        if source is None or node.op.references:
            return
        shape = self._inference.fact(source).shape
        if not shape:
            return
        inputs = [Fact() if v is None else self._inference.fact(v) for v in node.inputs]
        if node.is_op("Split"):
            axis, starts = _split(node, inputs)
        else:
            axis, bounds = self._slice(node) if node.is_op("Slice") else _gather(node, inputs)
            starts = [] if bounds is None else [*bounds]
        if not -len(shape) <= axis < len(shape):
            return
        axis %= len(shape)
        size = shape[axis].value
        if size is None:
            return
        if node.is_op("Slice"):
            starts = [min(max(s + size if s < 0 else s, 0), size) for s in starts]
        elif starts and starts[-1] > size:
            return  # it fails
        for result, start, end in zip(node.outputs, starts, starts[1:], strict=False):
            if result is not None and start < end:
                yield _Part(result, source, axis, start, end)

    def _slice(self, node: Node) -> tuple[int, tuple[int, int] | None]:
        """The axis and the constant bounds of a Slice."""
        view = read_slice(node, self._inference.fact)
        start, end = (None, None) if view is None else view.numbers
        if view is None or start is None or end is None:
            return 0, None
        return view.axis, (start, end)

    def _operands(self, concat: Node) -> dict[tuple[int, int, int], Value]:
        """The operands of a Concat by axis, start and end; none after an open size."""
        operands: dict[tuple[int, int, int], Value] = {}
        start = 0
        for value in concat.inputs:
            shape = None if value is None else self._inference.fact(value).shape
            if value is None or not shape or concat.op.references:
                break
            axis = range(len(shape))[concat.attribute("axis", 1)]
            size = shape[axis].value
            if size is None:
                break
            operands[axis, start, start + size] = value
            start += size
        return operands


def _gather(node: Node, inputs: Sequence[Fact]) -> tuple[int, tuple[int, int] | None]:
    """The axis and the bounds of a Gather of consecutive indices."""
    indices = integers(inputs[1]) if len(inputs) > 1 else None
    if indices is None or indices.ndim != 1 or not len(indices) or indices[0] < 0:
        return 0, None
    first = int(indices[0])
    if not np.array_equal(indices, np.arange(first, first + len(indices))):
        return 0, None
    return node.attribute("axis", 0), (first, first + len(indices))


def _split(node: Node, inputs: Sequence[Fact]) -> tuple[int, list[int]]:
    """The axis of a Split, and the bounds of its parts."""
    sizes = listed_numbers(node, inputs, "split", 1)
    if sizes is None:
        return 0, []
    return node.attribute("axis", 0), [0, *np.cumsum(sizes).tolist()]


def _cover(parts: Sequence[_Part], size: int | None) -> list[_Part]:
    """Parts that cover an axis without a gap, in order; none where there are no such ones."""
    last: dict[int, _Part] = {}
    for part in sorted(parts, key=lambda part: part.start, reverse=True):
        if (part.end == size and part.start) or part.end in last:
            last.setdefault(part.start, part)
    cover: list[_Part] = []
    position = 0
    while position in last:
        cover.append(last[position])
        position = cover[-1].end
    return cover if position == size else []
