"""Read operands of a Concat in place of its parts.

    r = Unsqueeze (h, zero)
    t = Concat <axis = 0> (p, q, r)     ->      y = h
    y = Gather (t, two)                         z = Concat <axis = 0> (q, r)
    z = Slice (t, one, three, zero)

An unrolled loop stacks its rows, of which the model often reads the last one alone. A part within
one operand is a part of that; a part that is several operands joins them.

Kept: a part that needs another node besides its own, a part within an operand of a Concat that has
other readers, parts along another axis or of open sizes, and parts of a Split other than whole
operands.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.attribute_or_input import listed_numbers
from ...facts.fact import Fact, integers
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value
from ...ir.io.deserialize import FlatModel
from ...ops.builder import Builder
from ...ops.views import read_slice, unsqueezed
from ..base import Pass, PassContext
from ..utils.replace_all_uses import replace_values

_READ = Message("operands-read", "{parts} parts of a Concat are read from its operands")
_CUTS = ("Gather", "Slice", "Split")
STEPS_ARE_INPUTS = 10
"""From this opset on, Slice has steps, and its lists are inputs."""


class ReadOperands(Pass):
    """Read operands of a Concat in place of its parts."""

    name: ClassVar[str] = "read-operands"
    by_default: ClassVar[bool] = True
    keeps_facts: ClassVar[bool] = True

    def is_idle(self, flat: FlatModel) -> bool:
        """Test for a model without parts of a Concat."""
        return not flat.reads(_CUTS, "Concat")

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit the parts in every graph."""
        count = 0
        for graph in model.graphs():
            # A part that is gone may leave another one alone.
            while parts := _Reading(graph, context.inference(model)).read():
                count += parts
        if count:
            context.remarks.add_on_model(self, model, "rewritten", _READ(parts=count))
        return count > 0


class Part(NamedTuple):
    """Part of a value along one axis, from `start` to before `end`; an element lacks the axis."""

    result: Value
    source: Value
    axis: int
    start: int
    end: int
    is_element: bool = False


class Parts:
    """The parts of values in one graph."""

    def __init__(self, inference: ShapeInference) -> None:
        self.inference = inference

    def of(self, node: Node, elements: bool = False) -> Iterator[Part]:
        """The parts that a node takes along one axis, of a size that is known."""
        source = node.inputs[0]
        if source is None or node.op.references:
            return
        shape = self.inference.fact(source).shape
        if not shape:
            return
        inputs = [Fact() if v is None else self.inference.fact(v) for v in node.inputs]
        if node.is_op("Split"):
            axis, starts = _split(node, inputs)
        else:
            axis, bounds = self._slice(node) if node.is_op("Slice") else _gather(node, inputs)
            starts = [] if bounds is None else [*bounds]
        element = _element(node, inputs) if elements else ()
        starts = [*element] or starts
        if not -len(shape) <= axis < len(shape):
            return
        axis %= len(shape)
        size = shape[axis].value
        if size is None:
            return
        if node.is_op("Slice"):
            # Slice clamps its bounds to the axis; Gather and Split fail beyond it.
            starts = [min(max(s + size if s < 0 else s, 0), size) for s in starts]
        elif element and starts[0] < 0:
            starts = [start + size for start in starts]
        if starts and not 0 <= starts[0] <= starts[-1] <= size:
            return  # it fails
        for result, start, end in zip(node.outputs, starts, starts[1:], strict=False):
            if result is not None and start < end:
                yield Part(result, source, axis, start, end, bool(element))

    def _slice(self, node: Node) -> tuple[int, tuple[int, int] | None]:
        """The axis and the constant bounds of a Slice."""
        view = read_slice(node, self.inference.fact)
        start, end = (None, None) if view is None else view.numbers
        if view is None or start is None or end is None:
            return 0, None
        return view.axis, (start, end)

    def operands(self, concat: Node) -> list[Part]:
        """The operands of a Concat as its parts; none after an open size."""
        operands: list[Part] = []
        start = 0
        for value in concat.inputs:
            shape = None if value is None else self.inference.fact(value).shape
            if value is None or not shape or concat.op.references:
                break
            axis = range(len(shape))[concat.attribute("axis", 1)]
            size = shape[axis].value
            if size is None:
                break
            operands.append(Part(value, concat.output(), axis, start, start + size))
            start += size
        return operands


class _Reading:
    """The parts of Concats in one graph."""

    def __init__(self, graph: Graph, inference: ShapeInference) -> None:
        self._graph = graph
        self._parts = Parts(inference)

    def read(self) -> int:
        """Read operands of a Concat in place of parts, and return their number."""
        same: dict[Value, Value] = {}
        for node in self._graph.nodes_of("Slice", "Gather", "Split"):
            source = node.inputs[0]
            if source is None or source.producer is None or not source.producer.is_op("Concat"):
                continue
            operands = self._parts.operands(source.producer)
            is_alone = len(self._graph.users(source)) == 1
            for part in self._parts.of(node, elements=True):
                around = [o for o in operands if o.start < part.end and part.start < o.end]
                covers = around and around[0].start <= part.start and part.end <= around[-1].end
                is_free = self._graph.is_used(part.result) and not part.result.pinned
                if covers and around[0].axis == part.axis and is_free:
                    new = self._read(node, part, around, is_alone)
                    if new is not None:
                        # The operand may be a part itself, replaced before.
                        same[part.result] = same.get(new, new)
        replace_nodes(self._graph, same)
        return len(same)

    def _read(
        self, node: Node, part: Part, operands: Sequence[Part], is_alone: bool
    ) -> Value | None:
        """Read a part from operands of a Concat; return None where that saves no node.

        `is_alone`: true for the only reader of the Concat, which goes with it.
        """
        values = [operand.result for operand in operands]
        label, build, first = part.result.name, Builder(self._graph), operands[0].start
        start, end = part.start - first, part.end - first
        is_whole = not start and part.end == operands[-1].end
        whole: Value | None = values[0]
        if part.is_element:
            whole = unsqueezed(whole, part.axis, self._parts.inference.fact)
        if is_whole and whole is not None and len(values) == 1:
            is_output = part.result in self._graph.outputs
            return build.add("Identity", [whole], label) if is_output else whole
        if node.is_op("Split") or (len(values) > 1 and not is_whole):
            return None
        if len(values) > 1:
            return build.concat(values, part.axis, label)
        if not is_alone:  # several parts of the Concat may be those of one Split
            return None
        if part.is_element:
            index = build.constant(np.array(start, np.int64), "row")
            return build.add("Gather", [values[0], index], label, axis=part.axis)
        return part_of(build, values[0], part.axis, start, end, label)


def _gather(node: Node, inputs: Sequence[Fact]) -> tuple[int, tuple[int, int] | None]:
    """The axis of a Gather, and its bounds if its indices are consecutive."""
    axis, indices = node.attribute("axis", 0), integers(inputs[1]) if len(inputs) > 1 else None
    if indices is None or indices.ndim != 1 or not len(indices) or indices[0] < 0:
        return axis, None
    first = int(indices[0])
    if not np.array_equal(indices, np.arange(first, first + len(indices))):
        return axis, None
    return axis, (first, first + len(indices))


def _element(node: Node, inputs: Sequence[Fact]) -> tuple[int, ...]:
    """The bounds of a Gather of one element; none for others."""
    index = integers(inputs[1]) if node.is_op("Gather") and len(inputs) > 1 else None
    return () if index is None or index.ndim else (int(index), int(index) + 1)


def _split(node: Node, inputs: Sequence[Fact]) -> tuple[int, list[int]]:
    """The axis of a Split, and the bounds of its parts."""
    sizes = listed_numbers(node, inputs, "split", 1)
    if sizes is None:
        return 0, []
    return node.attribute("axis", 0), [0, *np.cumsum(sizes).tolist()]


def part_of(build: Builder, value: Value, axis: int, start: int, end: int, label: str) -> Value:
    """Slice a value along one axis."""
    if build.opset < STEPS_ARE_INPUTS:
        return build.add("Slice", [value], label, starts=[start], ends=[end], axes=[axis])
    lists = [build.vector((number,), "cut") for number in (start, end, axis, 1)]
    return build.add("Slice", [value, *lists], label)


def replace_nodes(graph: Graph, values: Mapping[Value, Value]) -> None:
    """Replace values by equal ones, and remove nodes that then compute none."""
    replace_values(graph, values)
    for node in {value.producer for value in values if value.producer is not None}:
        if not graph.is_needed(node):
            graph.remove(node)
