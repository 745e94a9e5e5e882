"""Forward what a Loop writes to a buffer to the reads of it (store-to-load forwarding).

y = Loop (n, , y0) <                        y = Loop (n, , y0, r0) <
   body = b (i, c, s) => (c2, t) {             body = b (i, c, s, r) => (c2, t, v) {
      k = Sub (i, one)
      r = Gather (s, k)               ->
      v = Add (r, e)                              v = Add (r, e)
      t = ScatterND (s, [[i]], [v])               t = ScatterND (s, [[i]], [v])
   }                                           }
>                                           >

A read of a place that is not written yet reads the buffer before the loop. A read of the place
that the iteration before wrote reads a new state. Then the buffer is only written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ops.batching import Unbatchable
from ...ops.builder import Builder
from ..iteration.affine_reads import Index, moving_indices
from ..iteration.batched_inputs import Feeding
from ..iteration.injective_indices import InjectiveIndices
from ..iteration.loop_view import LoopView, State, read
from ..iteration.scan_layout import declaration
from ..utils.sites import Site, SitePass

_FORWARDED = Message("stores-forwarded", "{count} reads of '{state}' need no buffer")


@dataclasses.dataclass(frozen=True)
class ForwardStores(SitePass):
    """Forward what a Loop writes to a buffer to the reads of it."""

    name: ClassVar[str] = "forward-stores"
    works_on: ClassVar[tuple[str, ...]] = ("ScatterND", "ScatterElements")
    sites: ClassVar[tuple[str, ...]] = ("Loop",)
    keeps_facts_of_others: ClassVar[bool] = False

    def visit(self, site: Site) -> None:
        """Forward the stores to one buffer; the next run finds others."""
        if not site.holds(*self.works_on):
            return
        loop_view, inference = read(site.node), site.inference
        forwarding = next(_Buffers(loop_view, inference, site.is_certain).forwardings(), None)
        if forwarding is not None:
            _forward(site.graph, loop_view, forwarding, inference)
            count, name = len(forwarding.loads), forwarding.state.argument.name
            site.rewritten(_FORWARDED(count=count, state=name))


@dataclasses.dataclass(frozen=True)
class _Forwarding:
    """Reads of a buffer that need not read it.

    Attributes:
        state: the buffer.
        store: the Scatter that writes it.
        loads: the Gathers, all of the same distance.
        before: true if they read what the iteration before wrote; false if nothing was written.
        start: the place that the first iteration reads.
    """

    state: State
    store: Node
    loads: tuple[Node, ...]
    before: bool
    start: int


class _Buffers:
    """The buffers that a Loop writes at one place in each iteration.

    Args:
        loop_view: the Loop.
        inference: the facts of the model's values.
        certain: true if there is a first iteration for all inputs.
    """

    def __init__(self, loop_view: LoopView, inference: ShapeInference, certain: bool) -> None:
        self._loop_view = loop_view
        self._inference = inference
        self._certain = certain

    def forwardings(self) -> Iterator[_Forwarding]:
        """Yield the reads that may be forwarded, by buffer."""
        indices = moving_indices(self._loop_view, self._inference)
        for state in self._loop_view.states if indices else ():
            store = state.result.producer
            if store is not None and store.graph is self._loop_view.body:
                index = self._written(state, store, indices)
                forwarding = index and self._forwarding(state, store, index, indices)
                if forwarding:
                    yield forwarding

    def _written(self, state: State, store: Node, indices: dict[Value, Index]) -> Index | None:
        """The place that a node writes, one row in each iteration."""
        if not store.is_op("ScatterND", "ScatterElements") or store.op.references:
            return None
        at, shape = store.input(1), self._inference.fact(state.initial).shape
        if store.input(0) is not state.argument or at is None or not shape:
            return None
        if store.attribute("reduction", b"none") not in (b"none", "none"):
            return None
        by_element = store.is_op("ScatterElements")
        if by_element and (len(shape) != 1 or store.attribute("axis", 0) not in (0, -1)):
            return None
        own = self._inference.fact(at).shape
        if own is None or len(own) != (1 if by_element else 2) or any(dim != 1 for dim in own):
            return None
        body = self._loop_view.body
        pinned = state.argument.pinned or state.result.pinned
        return None if pinned or len(body.uses(state.result)) != 1 else indices.get(at)

    def _forwarding(
        self, state: State, store: Node, index: Index, indices: dict[Value, Index]
    ) -> _Forwarding | None:
        groups: dict[int, list[tuple[Node, Index]]] = {0: [], -1: []}
        for user in self._loop_view.body.users(state.argument):
            if user is store:
                continue
            at = user.input(1) if isinstance(user, Node) and user.is_op("Gather") else None
            place = None if at is None else indices.get(at)
            if not isinstance(user, Node) or place is None or user.graph is not store.graph:
                return None
            distance = self._distance(user, place, index)
            if distance is None:
                return None
            if distance < 0 or self._is_unwritten(at, store.input(1)):
                groups[min(distance, 0)].append((user, place))
        for distance, loads in groups.items():
            if loads and (not distance or self._has_place(state, loads[0][1])):
                nodes = tuple([node for node, _ in loads])
                start = loads[0][1].start.value or 0
                return _Forwarding(state, store, nodes, distance < 0, start)
        return None

    def _distance(self, load: Node, place: Index, index: Index) -> int | None:
        """The number of iterations from a read to the write of its place."""
        at = load.input(1)
        own = None if at is None else self._inference.fact(at).shape
        if load.attribute("axis", 0) != 0 or own is None or len(own) > 1:
            return None
        offset = (place.start - index.start).value
        if place.step != index.step or offset is None or offset % index.step:
            return None
        return max(offset // index.step, -1) if offset // index.step >= -1 else None

    def _is_unwritten(self, at: Value | None, target: Value | None) -> bool:
        """Test for indices of one sign, so that other indices are other places."""
        try:
            feeding = Feeding(self._loop_view, self._inference)
        except Unbatchable:
            return False
        signs = InjectiveIndices(self._loop_view, feeding, self._certain)
        pair = [None if value is None else signs.sign(value) for value in (at, target)]
        return pair[0] is not None and pair[0] == pair[1]

    def _has_place(self, state: State, place: Index) -> bool:
        """Test for a place that the buffer certainly has."""
        start = place.start.value
        if start is None:
            return False
        shape = self._inference.fact(state.initial).shape
        needed = start + 1 if start >= 0 else -start
        return self._certain or (shape is not None and shape[0].less(needed) is False)


def _forward(
    graph: Graph, loop_view: LoopView, forwarding: _Forwarding, inference: ShapeInference
) -> None:
    """Replace reads by a state, or by the buffer before the loop."""
    if not forwarding.before:
        for load in forwarding.loads:
            loop_view.body.set_input(load, 0, forwarding.state.initial)
        return
    register = _add_register(graph, loop_view, forwarding, inference)
    inside = Builder(loop_view.body)
    for load in forwarding.loads:
        at = load.input(1)
        value = register
        if at is not None and inference.fact(at).shape:
            value = inside.unsqueeze(value, 0, load.output().name)
        loop_view.body.replace_uses(load.output(), value)
        loop_view.body.remove(load)


def _add_register(
    graph: Graph, loop_view: LoopView, forwarding: _Forwarding, inference: ShapeInference
) -> Value:
    """Add a state that holds the row that the iteration before wrote."""
    node, body, state = loop_view.node, loop_view.body, forwarding.state
    outside, inside = Builder(graph), Builder(body)
    place = outside.constant(np.array(forwarding.start, np.int64), "place")
    first = outside.add("Gather", [state.initial, place], f"{state.argument.name}_first", axis=0)
    update = forwarding.store.input(2)
    assert update is not None
    row = inside.squeeze(update, 0, f"{state.argument.name}_written")
    fact = inference.fact(forwarding.loads[0].output())
    shape = inference.fact(state.initial).shape or ()
    info = declaration(
        f"{state.argument.name}_before",
        dataclasses.replace(fact, shape=shape[1:], content=None).type_proto(private=False),
    )
    register = body.add_input(info.name, info)
    count = len(loop_view.states)
    results, infos = list(body.outputs), list(body.output_infos)
    body.set_outputs(
        [*results[: 1 + count], row, *results[1 + count :]],
        [*infos[: 1 + count], info, *infos[1 + count :]],
    )
    graph.resize_inputs(node, len(node.inputs) + 1)
    graph.set_input(node, len(node.inputs) - 1, first)
    outputs = [*node.outputs, *[None] * (count - len(node.outputs))]
    label = f"{state.argument.name}_row"
    graph.set_node_outputs(node, [*outputs[:count], label, *outputs[count:]])
    return register
