"""Compute the trip count of a Loop before it, where its condition compares a counter.

less = Less (zero, n)                             y = Loop (n, yes, x) <
y = Loop (, less, zero, x) <                         body = b (i, c, k, a) => (c, j, r) {
   body = b (i, c, k, a) => (d, j, r) {                 j = Add (k, one)
      j = Add (k, one)                    ->            r = Relu (a)
      r = Relu (a)                                   }
      d = Less (j, n)                             >
   }
>
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import onnx

from ...analysis.constants.folding import Folder
from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.body_inputs import condition_tensor
from ...analysis.trips.trip_bound import Part, parts
from ...analysis.trips.trip_count import always_holds
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value, downstream, upstream
from ...ops.builder import Builder
from ...ops.element_types import ElementTypes
from ...ops.schema_queries import takes
from ..base import Pass
from ..context import PassContext
from ..utils.legality import caller_attribute
from ..utils.traversal import inside_out
from .comparisons import EXACT, Comparison, ConditionReader, integer

_INT64, _FLOAT = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
_SPACING = 128
"""The maximum distance of neighbouring float32 numbers in the range of int32.

Integers further apart round to different numbers.
"""
_ENDLESS = 1 << 33
"""A trip count out of reach of a 32-bit counter."""

_COUNTED = Message("counted", "its condition only counts: its trips are computed before it")


@dataclasses.dataclass(frozen=True)
class CountLoops(Pass):
    """Compute the trip counts of Loops before them, where their conditions only count."""

    name: ClassVar[str] = "count-loops"
    by_default: ClassVar[bool] = True
    works_on = ("Loop",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite inner Loops before the ones around them."""
        changed = False
        inference, folder = context.inference(model), Folder(model)
        for graph, node in inside_out(model.graphs(), "Loop"):
            plan = _plan(node, inference)
            if plan is not None:
                _Counting(graph, node, Builder(graph, folder.fold)).write(*plan)
                context.rewritten(self, node, node.path, _COUNTED())
                changed = True
        return changed


class _Exit(NamedTuple):
    """An exit of a Loop.

    Attributes:
        comparison: the counter and its bound.
        before: true if the initial condition makes the same comparison on the start.
        wide: true for a counter of 64 bits.
    """

    comparison: Comparison
    before: bool
    wide: bool


_Plan = tuple[Sequence[_Exit], Value | None]
"""The exits of a Loop, and its initial condition if that compares more."""


def _plan(loop: Node, inference: ShapeInference) -> _Plan | None:
    start = loop.input(1)
    if start is None or caller_attribute(loop) is not None or always_holds(loop.body("body")):
        return None
    body = loop.body("body")
    reader = ConditionReader(loop, inference)
    compared = [reader.inside(part) for part in _deciding(body, body.outputs[0])]
    comparisons = list(dict.fromkeys([one for one in compared if one is not None]))
    if not comparisons or None in compared:
        return None
    firsts = [] if start.constant is not None else list(_deciding(body, start))
    starts = {part: [c for c in comparisons if reader.matches_start(part, c)] for part in firsts}
    # A constant that is false leaves nothing to count.
    complete = all(starts.values()) and (start.constant is None or integer(start) == 1)
    implied = {c for all_of in starts.values() for c in all_of} if complete else set()
    ends = [_Exit(c, c in implied, reader.is_wide(c)) for c in comparisons]
    fits = all(reader.is_exact(end.comparison, end.before) for end in ends)
    opset = body.root.opset()
    sayable = all(takes(op, 0, _INT64, opset) for op in ("Min", "Max"))
    sayable = sayable or _constant_trips(ends, loop.input(0)) is not None
    pays = fits and sayable and _pays(loop, reader)
    return (ends, None if complete else start) if pays else None


def _constant_trips(ends: Sequence[_Exit], most: Value | None) -> int | None:
    """The trip count where each number is a constant that float32 holds; None otherwise."""
    counts = [] if most is None else [integer(most)]
    for end in ends:
        counter, bound = end.comparison.counter, integer(end.comparison.bound)
        start = 0 if counter.start is None else integer(counter.start)
        if start is None or bound is None or max(abs(start), abs(bound)) >= EXACT:
            return None
        count = (bound - start - end.comparison.shift()) * counter.step
        counts.append(max(count, 0 if end.before else 1))
    constant = [count for count in counts if count is not None]
    return min(constant) if len(constant) == len(counts) else None


def _pays(loop: Node, reader: ConditionReader) -> bool:
    """Test for nodes or scan outputs of a body that could be batched.

    Loop-carried computation stays a Loop, whatever its trip count.
    """
    body = loop.body("body")
    outputs = loop.outputs[len(loop.inputs) - 2 :]
    if any(
        output is not None and loop.graph is not None and loop.graph.is_used(output)
        for output in outputs
    ):
        return True
    view, condition = body.view(), body.outputs[0].producer
    deciding = upstream(view, [condition]) if condition is not None else set()
    carried = downstream(view, reader.carried_inputs())
    free = [n for n in body.unordered_nodes() if n not in carried and n not in deciding]
    return any(not node.is_op("Constant", "Identity") for node in free)


def _deciding(body: Graph, condition: Value) -> Iterator[Part]:
    """Yield the parts of a condition that may be false; a body's own condition input is true."""
    for part in parts(condition):
        own_input = part.value is body.inputs[1] and part.holds
        constant = integer(part.value)
        if not own_input and (constant is None or bool(constant) is not part.holds):
            yield part


class _Counting:
    """Emitter of the trip count of one Loop."""

    def __init__(self, graph: Graph, loop: Node, emitter: Builder) -> None:
        self.graph = graph
        self.loop = loop
        self.emit = emitter
        self.types = ElementTypes()
        self.constants: dict[int, Value] = {}
        self.bounds: dict[tuple[Value, bool], Value] = {}

    def write(self, ends: Sequence[_Exit], start: Value | None) -> None:
        """Make the trip count the only exit of the Loop."""
        body = self.loop.body("body")
        self.graph.set_input(self.loop, 0, self._least(ends))
        if start is None:
            holds = self.graph.add_initializer("holds", condition_tensor(body, True))
            self.graph.set_input(self.loop, 1, holds)
        infos = list(body.output_infos)
        if body.inputs[1].info is not None:
            infos[0] = onnx.ValueInfoProto()
            infos[0].CopyFrom(body.inputs[1].info)
        body.set_outputs([body.inputs[1], *body.outputs[1:]], infos)

    def _least(self, ends: Sequence[_Exit]) -> Value:
        """Emit the trip count of the exit that comes first."""
        most = self.loop.input(0)
        number = _constant_trips(ends, most)
        if number is not None:
            return self.emit.constant(np.array(number, np.int64), "trips")
        trips = [self._trips(end) for end in ends]
        narrow = any(not end.wide for end in ends)
        if most is not None and not (narrow and (integer(most) or 0) >= _ENDLESS):
            trips.insert(0, most)
        trips = list(dict.fromkeys(trips))
        return trips[0] if len(trips) == 1 else self.emit.add("Min", trips, "trips")

    def _trips(self, end: _Exit) -> Value:
        """Emit the trip count of one exit.

        It is at least 1 where the initial condition does not make the comparison.
        """
        counter, bound = end.comparison.counter, self._bound(end)
        first, shift = counter.start, end.comparison.shift()
        number = 0 if first is None else integer(first)
        if counter.step == 1 and number is not None:
            # No less than the start, so that nothing can overflow.
            shift += number
            least = self._at_least(bound, shift) if end.wide else bound
            trips = self._plus(least, -shift)
        elif end.wide:
            assert first is not None
            trips = self._falling(self._wide(first), shift - (integer(bound) or 0))
        else:
            assert first is not None
            start = self._plus(self._wide(first), shift)
            pair = [bound, start] if counter.step == 1 else [start, bound]
            trips = self.emit.once("Sub", pair, "trips")
        return trips if end.before else self._at_least(trips, 1)

    def _falling(self, start: Value, distance: int) -> Value:
        """Emit a start plus a number, at least 0, without overflow."""
        least = self._at_least(start, -distance)
        if distance > 0:
            least = self._plus(least, np.iinfo(np.int64).max - distance, "Min")
        return self._plus(least, distance)

    def _bound(self, end: _Exit) -> Value:
        """Emit the bound, as 64 bits; for rounded numbers, the nearest integer that fails."""
        bound, rising = self._wide(end.comparison.bound), end.comparison.counter.step == 1
        number = integer(end.comparison.bound)
        if not end.comparison.rounded or (number is not None and abs(number) < EXACT):
            return bound
        key = end.comparison.bound, rising
        if key not in self.bounds:
            self.bounds[key] = self._round_bound(bound, rising)
        return self.bounds[key]

    def _round_bound(self, bound: Value, rising: bool) -> Value:
        away = np.arange(1, _SPACING + 1, dtype=np.int64) * (-1 if rising else 1)
        near = self.emit.add("Add", [bound, self.emit.constant(away, "away")], "near")
        pair = [self.emit.add("Cast", [v], "rounded", to=_FLOAT) for v in (near, bound)]
        passed = self.emit.add("Less", pair if rising else pair[::-1], "passed")
        counts = self.emit.add("Cast", [passed], "passed", to=_INT64)
        others = self._plus(self.emit.reduce("ReduceSum", counts, (0,), "others"), -_SPACING)
        return self.emit.add("Add" if rising else "Sub", [bound, others], "bound")

    def _wide(self, value: Value) -> Value:
        tensor = value.constant
        if tensor is not None:
            return self.emit.constant(tensor.numpy().astype(np.int64), value.name)
        if self.types.of(value) == _INT64:
            return value
        return self.emit.once("Cast", [value], value.name, to=_INT64)

    def _plus(self, value: Value, number: int, op_type: str = "Add") -> Value:
        if not number:
            return value
        if number not in self.constants:
            self.constants[number] = self.emit.constant(np.array(number, np.int64), "number")
        return self.emit.once(op_type, [value, self.constants[number]], "trips")

    def _at_least(self, value: Value, number: int) -> Value:
        return self._plus(value, number, "Max")
