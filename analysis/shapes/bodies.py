"""Facts across the borders of bodies: what If, Loop and Scan take in and give out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx

from ...facts.dimension import Dimension
from ...facts.fact import UNKNOWN, Fact, Shape, Symbols, is_named
from ...ir import Graph, Node, Value

if TYPE_CHECKING:
    from .inference import ShapeInference

_MOST_ROUNDS = 4

_ITERATION, _CONDITION = onnx.TensorProto.INT64, onnx.TensorProto.BOOL


def enter_body(inference: ShapeInference, value: Value) -> None:
    """Assume what holds for every input of a body on every trip."""
    body = value.owner
    assert body is not None and body.holder is not None
    node = body.holder
    if node.op.references:
        facts = [_of_type_only(inference.symbols.fact(v.type)) for v in body.inputs]
    elif node.is_op("Loop"):
        facts = _loop_inputs(inference, node)
    elif node.is_op("Scan") and node.graph.root.opset() >= 9:  # type: ignore[union-attr]
        facts = _scan_inputs(inference, node)
    else:
        facts = [_of_type_only(inference.symbols.fact(v.type)) for v in body.inputs]
    for given, fact in zip(body.inputs, facts, strict=True):
        inference.assume(given, fact)


def leave_bodies(inference: ShapeInference, node: Node) -> list[Fact]:
    """What a node that holds bodies gives out."""
    if node.op.references:
        return [UNKNOWN] * len(node.outputs)
    if node.is_op("If"):
        return _if_outputs(inference, node)
    body = node.body("body") if "body" in node.bodies else None
    if body is None:
        return [UNKNOWN] * len(node.outputs)
    results = [inference.fact(value).without_content() for value in body.outputs]
    if node.is_op("Loop"):
        states = len(node.inputs) - 2
        initial = [_fact_of(inference, value) for value in node.inputs[2:]]
        carried = _after_any_trips(inference.symbols, initial, results[1 : 1 + states])
        rows = [_stacked(inference.symbols, fact, 0, None) for fact in results[1 + states :]]
        return [*carried, *rows]
    if node.graph.root.opset() < 9:  # type: ignore[union-attr]
        return [_of_type_only(fact) for fact in results]
    return _scan_outputs(inference, node, results)


def _fact_of(inference: ShapeInference, value: Value | None) -> Fact:
    return UNKNOWN if value is None else inference.fact(value)


def _of_type_only(fact: Fact) -> Fact:
    return Fact(fact.elem_type, None, None, fact.other)


def _loop_inputs(inference: ShapeInference, node: Node) -> list[Fact]:
    """The iteration number, the condition, and carried values as they are on every trip: the
    weakest facts that the initial values imply and the body preserves."""
    body = node.body("body")
    initial = [_fact_of(inference, value).without_content() for value in node.inputs[2:]]
    fixed = [
        Fact(elem_type, tuple([Dimension.constant(1)] * len(v.shape or ())))
        for elem_type, v in zip((_ITERATION, _CONDITION), body.inputs[:2], strict=True)
    ]
    states = _invariant(inference, body, fixed, initial, 1)
    return [*fixed, *states]


def _scan_inputs(inference: ShapeInference, node: Node) -> list[Fact]:
    body = node.body("body")
    scanned = node.attribute("num_scan_inputs")
    count = len(node.inputs) - scanned
    initial = [_fact_of(inference, value).without_content() for value in node.inputs[:count]]
    axes = node.attribute("scan_input_axes") or [0] * scanned
    rows = [
        _element(_fact_of(inference, value), axis)
        for value, axis in zip(node.inputs[count:], axes, strict=True)
    ]
    for position, fact in enumerate(rows, count):
        inference.assume(body.inputs[position], fact)
    # The specification forbids a state of Scan to change its shape, yet runtimes allow it.
    return [*_invariant(inference, body, [], initial, 0, rows), *rows]


def _element(fact: Fact, axis: int) -> Fact:
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        return Fact(fact.elem_type)
    axis %= len(fact.shape)
    return Fact(fact.elem_type, fact.shape[:axis] + fact.shape[axis + 1 :])


def _invariant(
    inference: ShapeInference,
    body: Graph,
    before: Sequence[Fact],
    initial: Sequence[Fact],
    first_output: int,
    after: Sequence[Fact] = (),
) -> list[Fact]:
    """Weaken the facts of carried values until the body preserves them."""
    own = [_Slot(inference.symbols) for _ in initial]
    facts = list(initial)
    for _ in range(_MOST_ROUNDS):
        trial = inference.trial()
        for value, fact in zip(body.inputs, [*before, *facts, *after], strict=True):
            trial.assume(value, fact)
        results = [trial.fact(v) for v in body.outputs[first_output : first_output + len(facts)]]
        joined = [slot.join(a, b) for slot, a, b in zip(own, facts, results, strict=True)]
        if all(_same(a, b) for a, b in zip(facts, joined, strict=True)):
            inference.adopt(trial)
            return facts
        facts = joined
    return [_of_type_only(fact) for fact in facts]


class _Slot:
    """One carried value; a size that varies is always called by the same symbol."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.varying: dict[int, Dimension] = {}

    def join(self, one: Fact, other: Fact) -> Fact:
        """What holds for both."""
        if one.other is not None or other.other is not None:
            same = one.other is not None and one.other == other.other
            count = one.count if one.count == other.count else None
            return Fact(other=one.other if same else None, count=count)
        elem_type = one.elem_type if one.elem_type == other.elem_type else 0
        if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
            return Fact(elem_type)
        dims = [
            self._dim(i, a, b) for i, (a, b) in enumerate(zip(one.shape, other.shape, strict=True))
        ]
        return Fact(elem_type, tuple(dims))

    def _dim(self, axis: int, one: Dimension, other: Dimension) -> Dimension:
        if one == other:
            return one
        if axis not in self.varying:
            self.varying[axis] = self.symbols.fresh()
        return self.varying[axis]


def _same(one: Fact, other: Fact) -> bool:
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("elem_type", "shape", "other", "count")
    )


def _if_outputs(inference: ShapeInference, node: Node) -> list[Fact]:
    branches = [
        [inference.fact(value) for value in node.body(name).outputs]
        for name in ("then_branch", "else_branch")
    ]
    facts = []
    for one, other in zip(*branches, strict=False):
        joined = _Slot(inference.symbols).join(one, other)
        if one.content is not None and other.content is not None and _equal(one, other):
            joined = Fact(joined.elem_type, joined.shape, one.content)
        facts.append(joined)
    return facts


def _equal(one: Fact, other: Fact) -> bool:
    assert one.content is not None and other.content is not None
    if one.content.shape != other.content.shape:
        return False
    pairs = zip(one.content.reshape(-1), other.content.reshape(-1), strict=True)
    return all(a is not None and a == b for a, b in pairs)


def _after_any_trips(
    symbols: Symbols, initial: Sequence[Fact], results: Sequence[Fact]
) -> list[Fact]:
    """Carried values when a loop ends: the initial ones, or what the last trip gave."""
    return [
        _outside(symbols, _Slot(symbols).join(a, b), (a,))
        for a, b in zip(initial, results, strict=True)
    ]


def _outside(symbols: Symbols, fact: Fact, visible: Sequence[Fact]) -> Fact:
    """A fact of a body as seen around it: sizes that differ from trip to trip become new ones."""
    if fact.shape is None:
        return fact
    known = {dim for other in visible for dim in other.shape or ()}
    dims = [dim if dim in known or is_named(dim) else symbols.fresh() for dim in fact.shape]
    return Fact(fact.elem_type, tuple(dims), None, fact.other)


def _stacked(symbols: Symbols, element: Fact, axis: int, length: Dimension | None) -> Fact:
    outside = _outside(symbols, element, ())
    if outside.shape is None:
        return Fact(element.elem_type)
    dims = list(outside.shape)
    axis += len(dims) + 1 if axis < 0 else 0
    dims.insert(axis, length or symbols.fresh())
    return Fact(element.elem_type, tuple(dims))


def _scan_outputs(inference: ShapeInference, node: Node, results: Sequence[Fact]) -> list[Fact]:
    scanned = node.attribute("num_scan_inputs")
    count = len(node.inputs) - scanned
    initial = [_fact_of(inference, value) for value in node.inputs[:count]]
    carried = _after_any_trips(inference.symbols, initial, results[:count])
    in_axes = node.attribute("scan_input_axes") or [0] * scanned
    shape: Shape | None = _fact_of(inference, node.inputs[count]).shape
    # An axis that the value does not have is an error of the model, which only running it shows.
    length = shape[in_axes[0]] if shape and -len(shape) <= in_axes[0] < len(shape) else None
    rows = results[count:]
    axes = node.attribute("scan_output_axes") or [0] * len(rows)
    return [
        *carried,
        *(_stacked(inference.symbols, f, axis, length) for f, axis in zip(rows, axes, strict=True)),
    ]
