"""Parts of a Loop's condition that compare a counter with a number that stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.trip_bound import Part
from ...analysis.trips.trip_count import behind_identities
from ...ir import Node, Value

_UP = {"Less": False, "LessOrEqual": True}
_DOWN = {"Greater": False, "GreaterOrEqual": True}
_TURNED = {"Less": "Greater", "Greater": "Less"}
_TURNED |= {name + "OrEqual": other + "OrEqual" for name, other in _TURNED.items()}
_NEGATED = {"Less": "GreaterOrEqual", "Greater": "LessOrEqual"}
_NEGATED |= {other: name for name, other in _NEGATED.items()}

_INT32, _INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64
_FLOAT, _DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
_WIDER: dict[int, tuple[int, ...]] = {
    _INT32: (_INT32, _INT64, _FLOAT, _DOUBLE),
    _INT64: (_INT64, _FLOAT),
}
"""To which types a number is cast before it is compared. Only float32 rounds some."""
EXACT = 1 << 24
"""Whole numbers up to this one are float32 numbers, too, and far from an overflow."""


class Counter(NamedTuple):
    """What is `start + offset` on the first trip and `step`, 1 or -1, more on each.

    Attributes:
        start: outside; None for 0.
        offset: 0 where it is compared as a trip is given it, the step as the trip gives it on.
    """

    start: Value | None
    step: int
    offset: int


class Comparison(NamedTuple):
    """`counter < bound` for a counter that counts up, `counter > bound` for one that counts down.

    Attributes:
        equal: it also holds for the bound itself.
        rounded: float32 numbers are compared that were made of both.
    """

    counter: Counter
    bound: Value
    equal: bool
    rounded: bool

    def shift(self) -> int:
        """What is to be added to the start so that its distance from the bound is the number of
        trips that are made if the first one is."""
        step = self.counter.step
        return self.counter.offset - step - (step if self.equal else 0)


class ConditionReader:
    """Reads parts of the conditions of one Loop.

    Args:
        loop: the Loop.
        inference: tells types and shapes.
    """

    def __init__(self, loop: Node, inference: ShapeInference) -> None:
        body = loop.body("body")
        self.body = body
        self.inference = inference
        results = [behind_identities(value) for value in body.outputs[1 : len(loop.inputs) - 1]]
        states = zip(results, loop.inputs[2:], strict=True)
        self.states = dict(zip(body.inputs[2:], states, strict=False))

    def carried(self) -> list[Value]:
        """What the body is given by the trip before, but for counters and what stays the same."""
        counters = (self._counter(given) is not None for given in self.states)
        pairs = zip(self.states.items(), counters, strict=True)
        return [g for (g, (result, _)), counts in pairs if result is not g and not counts]

    def inside(self, part: Part) -> Comparison | None:
        """What a part of the body's condition compares, if that is a counter and a bound."""
        return self._read(part, self._counter, self._bound)

    def says_before(self, part: Part, found: Comparison) -> bool:
        """Whether a part of the initial condition says of the start of a counter what the body
        says of the counter after each trip."""
        counter = found.counter
        if counter.offset != counter.step:
            return False

        def started(value: Value) -> Counter | None:
            return counter if _same(value, counter.start) else None

        def bounded(value: Value) -> Value | None:
            return found.bound if _same(value, found.bound) else None

        read = self._read(part, started, bounded)
        if read is None or read.equal != found.equal:
            return False
        # Whole numbers that are small are compared as float32 as they are otherwise.
        return read.rounded == found.rounded or _is_small(counter.start) or _is_small(found.bound)

    def is_exact(self, found: Comparison, before: bool) -> bool:
        """Whether no overflow can be felt, and no rounding but that of a bound of 32 bits.

        Args:
            found: the comparison.
            before: whether the initial condition says the same of the start.
        """
        counter, near = found.counter, _is_small(found.bound)
        first = 0 if counter.start is None else integer(counter.start)
        known = counter.start is None or _is_small(counter.start)
        if (found.equal and not near) or not (before or known):
            return False
        if self.is_wide(found):
            if counter.step != 1 or first is None or not known:
                return False
            if not near and self._is_narrow(counter):
                return False  # it would wrap before it is at the bound
            return near or (not found.rounded and first >= 0 and first + found.shift() >= 0)
        return True

    def is_wide(self, found: Comparison) -> bool:
        """Whether the bound or the counter has more than 32 bits, so that 64 may overflow."""
        start = found.counter.start
        values = [found.bound] if start is None else [found.bound, start]
        return any(self.inference.fact(v).elem_type != _INT32 for v in values)

    def _is_narrow(self, counter: Counter) -> bool:
        start = counter.start
        return start is not None and self.inference.fact(start).elem_type == _INT32

    def _counter(self, value: Value) -> Counter | None:
        added = self._added(value)
        given, offset = (value, 0) if added is None else added
        if given is self.body.inputs[0]:
            return Counter(None, 1, offset) if offset in (0, 1) else None
        result, start = self.states.get(given, (None, None))
        step = None if result is None else self._added(result)
        if start is None or step is None or step[0] is not given or not self._is_whole(start):
            return None
        fits = step[1] in (1, -1) and offset in (0, step[1])
        return Counter(start, step[1], offset) if fits else None

    def _added(self, value: Value) -> tuple[Value, int] | None:
        """What a node of the body adds a constant to or subtracts it from, and that constant."""
        node = value.producer
        if node is None or node.graph is not self.body or not node.is_op("Add", "Sub"):
            return None
        one, other = node.inputs
        if node.is_op("Add") and integer(other) is None:
            one, other = other, one
        number = integer(other)
        if one is None or number is None:
            return None
        return behind_identities(one), number if node.is_op("Add") else -number

    def _bound(self, value: Value) -> Value | None:
        """The number outside the body that a value is on every trip."""
        result, initial = self.states.get(value, (None, None))
        if initial is not None and result is value:
            value = initial
        elif value.graph is self.body and value.constant is None:
            return None
        return value if self._is_whole(value) else None

    def _is_whole(self, value: Value) -> bool:
        fact = self.inference.fact(value)
        return fact.elem_type in _WIDER and fact.shape is not None and fact.shape in ((), (1,))

    def _read(
        self,
        part: Part,
        counter: Callable[[Value], Counter | None],
        bound: Callable[[Value], Value | None],
    ) -> Comparison | None:
        node = part.value.producer
        if node is None or not node.is_op(*_UP, *_DOWN):
            return None
        relation = node.op_type if part.holds else _NEGATED[node.op_type]
        one, other = node.inputs
        for first, second, says in ((one, other, relation), (other, one, _TURNED[relation])):
            if first is None or second is None:
                continue
            (value, rounded), (limit, also) = self._behind_casts(first), self._behind_casts(second)
            counted, bounded = counter(value), bound(limit)
            signs = _UP if counted is not None and counted.step == 1 else _DOWN
            if counted is not None and bounded is not None and says in signs:
                return Comparison(counted, bounded, signs[says], rounded or also)
        return None

    def _behind_casts(self, value: Value) -> tuple[Value, bool]:
        """What a whole number was before it was cast, and whether that may have rounded it."""
        rounded, value = False, behind_identities(value)
        while value.producer is not None and value.producer.is_op("Cast"):
            source, to = value.producer.inputs[0], value.producer.op.attributes["to"].i
            if source is None:
                break
            if to not in _WIDER.get(self.inference.fact(source).elem_type or 0, ()):
                break
            rounded |= to == _FLOAT
            value = behind_identities(source)
        return value, rounded


def integer(value: Value | None) -> int | None:
    """The whole number that a constant of one element is; None for another one."""
    if value is None or value.constant is None or value.constant.size != 1:
        return None
    array = value.constant.numpy()
    if array.dtype.kind not in "iuf":
        return None
    number = array.reshape(())[()]
    return int(number) if float(number).is_integer() else None


def _is_small(value: Value | None) -> bool:
    """Whether it is a constant that float32 holds, as it holds the numbers next to it."""
    number = integer(value)
    return number is not None and abs(number) < EXACT


def _same(value: Value, known: Value | None) -> bool:
    """Whether a value is another one, or the same whole number; None stands for 0."""
    number = integer(value)
    return value is known or (
        number is not None and number == (0 if known is None else integer(known))
    )
