"""Compute before a Loop how many trips it makes, where its condition compares a counter.

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
from ...analysis.trips.body_inputs import given_condition
from ...analysis.trips.trip_bound import Part, parts
from ...analysis.trips.trip_count import always_holds
from ...ir import Graph, Model, Node, Value, downstream, upstream
from ...ops.builder import Builder
from ...ops.element_types import ElementTypes
from ...ops.schema_queries import takes
from ..base import Pass
from ..context import PassContext
from ..utils.legality import given_by_caller
from .comparisons import EXACT, Comparison, ConditionReader, integer

_INT64, _FLOAT = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
_SPACING = 128
"""So far apart float32 numbers lie that are made of integers of 32 bits, at most; no integer
further away from another one is rounded to the same."""
_ENDLESS = 1 << 33
"""What counts with 32 bits never makes so many trips."""


@dataclasses.dataclass(frozen=True)
class CountLoops(Pass):
    """Compute the trips of Loops before them, where their conditions only count."""

    name: ClassVar[str] = "count-loops"
    by_default: ClassVar[bool] = True
    works_on = ("Loop",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite inner Loops before the ones around them."""
        changed = False
        inference, folder = context.inference(model), Folder(model)
        for graph in reversed(list(model.graphs())):
            for node in graph.nodes_of("Loop"):
                plan = _planned(node, inference)
                if plan is not None:
                    _Counting(graph, node, Builder(graph, folder.fold)).write(plan)
                    what = "its condition only counts: its trips are computed before it"
                    context.rewritten(self, node, node.path, what)
                    changed = True
        return changed


class _Ended(NamedTuple):
    """What ends a Loop.

    Attributes:
        found: the counter and its bound.
        before: whether the initial condition says the same of the start.
        wide: whether it counts with 64 bits.
    """

    found: Comparison
    before: bool
    wide: bool


class _Plan(NamedTuple):
    """How a Loop ends; `start` where the initial condition says more than that."""

    ends: Sequence[_Ended]
    start: Value | None


def _planned(loop: Node, inference: ShapeInference) -> _Plan | None:
    start = loop.input(1)
    if start is None or given_by_caller(loop) is not None or always_holds(loop.body("body")):
        return None
    body = loop.body("body")
    reader = ConditionReader(loop, inference)
    compared = [reader.inside(part) for part in _deciding(body, body.outputs[0])]
    found = list(dict.fromkeys([one for one in compared if one is not None]))
    if not found or None in compared:
        return None
    firsts = [] if start.constant is not None else list(_deciding(body, start))
    says = {part: [c for c in found if reader.says_before(part, c)] for part in firsts}
    # A constant that is false leaves nothing to count.
    told = all(says.values()) and (start.constant is None or integer(start) == 1)
    known = {c for all_of in says.values() for c in all_of} if told else set()
    ends = [_Ended(c, c in known, reader.is_wide(c)) for c in found]
    fits = all(reader.is_exact(end.found, end.before) for end in ends)
    opset = body.root.opset()
    sayable = all(takes(op, 0, _INT64, opset) for op in ("Min", "Max"))
    pays = fits and sayable and _pays(loop, reader)
    return _Plan(ends, None if told else start) if pays else None


def _pays(loop: Node, reader: ConditionReader) -> bool:
    """Whether a body computes or collects what could be computed for all trips at once: what each
    trip makes of what the one before made stays a Loop, however its trips are counted."""
    body = loop.body("body")
    outputs = loop.outputs[len(loop.inputs) - 2 :]
    if any(
        output is not None and loop.graph is not None and loop.graph.is_used(output)
        for output in outputs
    ):
        return True
    view, condition = body.view(), body.outputs[0].producer
    told = upstream(view, [condition]) if condition is not None else set()
    carried = downstream(view, reader.carried())
    free = [n for n in body.unordered_nodes() if n not in carried and n not in told]
    return any(not node.is_op("Constant", "Identity") for node in free)


def _deciding(body: Graph, condition: Value) -> Iterator[Part]:
    """The parts of a condition that may be false; what a body was given is not, in the body."""
    for part in parts(condition):
        given = part.value is body.inputs[1] and part.holds
        constant = integer(part.value)
        if not given and (constant is None or bool(constant) is not part.holds):
            yield part


class _Counting:
    """Writes the trips of one Loop."""

    def __init__(self, graph: Graph, loop: Node, emitter: Builder) -> None:
        self.graph = graph
        self.loop = loop
        self.emit = emitter
        self.types = ElementTypes()
        self.constants: dict[int, Value] = {}
        self.bounds: dict[tuple[Value, bool], Value] = {}

    def write(self, plan: _Plan) -> None:
        """Let the maximum alone end the Loop."""
        body, trips = self.loop.body("body"), [self._trips(end) for end in plan.ends]
        most = self.loop.input(0)
        narrow = any(not end.wide for end in plan.ends)
        if most is not None and not (narrow and (integer(most) or 0) >= _ENDLESS):
            trips.insert(0, most)
        trips = list(dict.fromkeys(trips))
        least = trips[0] if len(trips) == 1 else self.emit.add("Min", trips, "trips")
        self.graph.set_input(self.loop, 0, least)
        if plan.start is None:
            holds = self.graph.add_initializer("holds", given_condition(body, True))
            self.graph.set_input(self.loop, 1, holds)
        infos = list(body.output_infos)
        if body.inputs[1].info is not None:
            infos[0] = onnx.ValueInfoProto()
            infos[0].CopyFrom(body.inputs[1].info)
        body.set_outputs([body.inputs[1], *body.outputs[1:]], infos)

    def _trips(self, end: _Ended) -> Value:
        """How many trips a comparison allows: what the first trip is not asked about is made, if
        the initial condition does not say the same."""
        counter, bound = end.found.counter, self._bound(end)
        first, shift = counter.start, end.found.shift()
        known = 0 if first is None else integer(first)
        if counter.step == 1 and known is not None:
            # No less than the start, so that nothing can overflow.
            shift += known
            least = self._at_least(bound, shift) if end.wide else bound
            trips = self._plus(least, -shift)
        else:
            assert first is not None
            start = self._plus(self._wide(first), shift)
            pair = [bound, start] if counter.step == 1 else [start, bound]
            trips = self.emit.once("Sub", pair, "trips")
        return trips if end.before else self._at_least(trips, 1)

    def _bound(self, end: _Ended) -> Value:
        """The bound, as 64 bits. Of rounded numbers it is the first one that is not passed: that is
        found among those near it."""
        bound, rising = self._wide(end.found.bound), end.found.counter.step == 1
        known = integer(end.found.bound)
        if not end.found.rounded or (known is not None and abs(known) < EXACT):
            return bound
        key = end.found.bound, rising
        if key not in self.bounds:
            self.bounds[key] = self._rounded(bound, rising)
        return self.bounds[key]

    def _rounded(self, bound: Value, rising: bool) -> Value:
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

    def _plus(self, value: Value, number: int) -> Value:
        return self.emit.once("Add", [value, self._number(number)], "trips") if number else value

    def _at_least(self, value: Value, number: int) -> Value:
        return self.emit.once("Max", [value, self._number(number)], "trips") if number else value

    def _number(self, number: int) -> Value:
        if number not in self.constants:
            self.constants[number] = self.emit.constant(np.array(number, np.int64), "number")
        return self.constants[number]
