"""Comparisons of a counter with a loop-invariant bound in a Loop's condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import onnx

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.iterations.trip_count_bound import Part
from ...analysis.shapes.inference import ShapeInference
from ...ir import Node, Value

_UP = {"Less": False, "LessOrEqual": True}
_DOWN = {"Greater": False, "GreaterOrEqual": True}
_SWAPPED = {"Less": "Greater", "Greater": "Less"}
_SWAPPED |= {name + "OrEqual": other + "OrEqual" for name, other in _SWAPPED.items()}
# Counters are integers, also where both sides are cast to floats: no operand is a NaN.
_NEGATED = {"Less": "GreaterOrEqual", "Greater": "LessOrEqual"}
_NEGATED |= {other: name for name, other in _NEGATED.items()}

_MOST_STEP = 1 << 16
"""The limit of steps; a counter of 64 bits then wraps after more iterations than a machine
makes."""
_MOST_LAPS = 1 << 10
"""The limit of rounds in which a counter of 32 bits that wraps is followed."""

_INT32, _INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64
_FLOAT, _DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
_WIDER: dict[int, tuple[int, ...]] = {
    _INT32: (_INT32, _INT64, _FLOAT, _DOUBLE),
    _INT64: (_INT64, _FLOAT),
}
"""The types of a cast before a comparison. Only float32 rounds some integers."""
EXACT = 1 << 24
"""The limit of integers that float32 holds exactly, far from an overflow."""


class Counter(NamedTuple):
    """An induction variable: `start + offset` first, then `step` more each iteration.

    Attributes:
        start: a value outside of the body; None for 0.
        offset: 0 for a comparison of the body's input, the step for one of the body's output.
    """

    start: Value | None
    step: int
    offset: int


class Comparison(NamedTuple):
    """`counter < bound` of a rising counter, `counter > bound` of a falling one.

    Attributes:
        equal: true if it also holds for the bound itself.
        rounded: true if both were cast to float32.
        unequal: true for `counter != bound`.
        closing: true if the bound moves as well, one step towards the counter; the counter has the
            steps and offsets of both.
    """

    counter: Counter
    bound: Value
    equal: bool
    rounded: bool
    unequal: bool = False
    closing: bool = False

    @property
    def sign(self) -> int:
        """1 for a rising counter, -1 for a falling one."""
        return 1 if self.counter.step > 0 else -1

    @property
    def stride(self) -> int:
        """The distance that an iteration covers."""
        return abs(self.counter.step)

    @property
    def laps(self) -> int:
        """The rounds of 32 bits after which a counter repeats its values."""
        return self.stride // (self.stride & -self.stride)

    @property
    def may_wrap(self) -> bool:
        """Test for a counter of 32 bits that may pass its bound and wrap."""
        passes = self.unequal or self.equal or self.stride > 1
        return passes and not self.closing and (self.unequal or not is_small(self.bound))

    def shift(self) -> int:
        """The offset of the start whose distance from the bound the iterations cover.

        It holds for a Loop that makes a first iteration.
        """
        return self.counter.offset - self.counter.step - (self.sign if self.equal else 0)

    def constant_iterations(self, before: bool) -> int | None:
        """The trip count where start and bound are constants that float32 holds; None otherwise.

        Args:
            before: true if the initial condition compares the start.
        """
        start = 0 if self.counter.start is None else integer(self.counter.start)
        bound = integer(self.bound)
        if start is None or bound is None or max(abs(start), abs(bound)) >= EXACT:
            return None
        away, least = (bound - start - self.shift()) * self.sign, 0 if before else 1
        if self.unequal and (away % self.stride or away // self.stride < least):
            return None
        return max(-(-away // self.stride), least)


class ConditionReader:
    """Reader of the parts of one Loop's conditions."""

    def __init__(self, loop: Node, inference: ShapeInference) -> None:
        body = loop.body("body")
        self.body = body
        self.inference = inference
        results = [skip_identities(value) for value in body.outputs[1 : len(loop.inputs) - 1]]
        states = zip(results, loop.inputs[2:], strict=True)
        self.states = dict(zip(body.inputs[2:], states, strict=False))

    def carried_inputs(self) -> list[Value]:
        """The loop-carried inputs of the body, except counters and invariants."""
        changing = [slot for slot, (result, _) in self.states.items() if result is not slot]
        return [slot for slot in changing if self.counter(slot) is None]

    def flag(self, part: Part) -> Part | None:
        """A loop-invariant part of the body's condition, outside; None for another part."""
        value = self._invariant(skip_identities(part.value))
        if value is None or value.constant is not None:
            return None
        if self._elem_type(value) != onnx.TensorProto.BOOL:
            return None
        shape = self.inference.fact(value).shape
        return Part(value, part.holds) if shape is not None and shape in ((), (1,)) else None

    def _invariant(self, value: Value) -> Value | None:
        """The outside value of a loop-invariant value, or a constant; None for others."""
        result, initial = self.states.get(value, (None, None))
        if initial is not None and result is value:
            return initial
        return None if value.graph is self.body and value.constant is None else value

    def inside(self, part: Part) -> Comparison | None:
        """The comparison in a part of the body's condition; None for another part."""
        return self._read(part, self.counter, self._bound)

    def matches_start(self, part: Part, other: Comparison) -> bool:
        """Test whether a part of the initial condition is the body's comparison, on the start."""
        counter = other.counter
        if counter.offset != counter.step:
            return False
        read = self._read(
            part,
            lambda value: counter if _same(value, counter.start) else None,
            lambda value: other.bound if _same(value, other.bound) else None,
        )
        if read is None or (read.equal, read.unequal) != (other.equal, other.unequal):
            return False
        # float32 holds small integers exactly.
        return read.rounded == other.rounded or is_small(counter.start) or is_small(other.bound)

    def is_exact(self, test: Comparison, before: bool) -> bool:
        """Test for a comparison without overflow, and without rounding but that of a 32-bit bound.

        `before` is true if the initial condition compares the start.
        """
        if test.unequal and not before:
            return test.constant_iterations(before) is not None
        counter, near = test.counter, is_small(test.bound)
        small = counter.start is None or is_small(counter.start)
        if not (before or small) or (test.unequal and test.rounded):
            return False
        if test.closing and (test.rounded or not before or (test.equal and not (near or small))):
            return False
        if self.is_wide(test):
            return self._is_wide_exact(test, before)
        return not test.may_wrap or (not test.rounded and test.laps <= _MOST_LAPS)

    def _is_wide_exact(self, test: Comparison, before: bool) -> bool:
        """Test for a comparison of 64 bits without overflow."""
        counter, near = test.counter, is_small(test.bound)
        first = 0 if counter.start is None else integer(counter.start)
        small = counter.start is None or is_small(counter.start)
        narrow = counter.start is not None and self._elem_type(counter.start) == _INT32
        if test.sign == -1:  # down to a number, which a counter of 64 bits meets
            return near and before and not test.rounded and not (test.unequal and narrow)
        if first is None or not small:
            return False
        if narrow and (test.unequal or not near):
            return False  # wraps before the bound
        if test.stride > 1 or test.equal or test.unequal:
            return near or not test.rounded
        return near or (not test.rounded and first >= 0 and first + test.shift() >= 0)

    def is_wide(self, comparison: Comparison) -> bool:
        """Test for a bound or counter that is no int32, so that int64 may overflow."""
        start = comparison.counter.start
        values = [comparison.bound] if start is None else [comparison.bound, start]
        return any(self._elem_type(value) != _INT32 for value in values)

    def _elem_type(self, value: Value) -> int:
        return self.inference.fact(value).elem_type

    def counter(self, value: Value) -> Counter | None:
        """The induction variable that a value of the body is; None for another value."""
        added = self._addition(value)
        slot, offset = (value, 0) if added is None else added
        if slot is self.body.inputs[0]:
            return Counter(None, 1, offset) if offset in (0, 1) else None
        result, start = self.states.get(slot, (None, None))
        step = None if result is None else self._addition(result)
        if start is None or step is None or step[0] is not slot or not self._is_whole(start):
            return None
        fits = 0 < abs(step[1]) <= _MOST_STEP and offset in (0, step[1])
        return Counter(start, step[1], offset) if fits else None

    def _addition(self, value: Value) -> tuple[Value, int] | None:
        """The operand and the constant of an addition or subtraction in the body."""
        node = value.producer
        if node is None or node.graph is not self.body or not node.is_op("Add", "Sub"):
            return None
        one, other = node.inputs
        if node.is_op("Add") and integer(other) is None:
            one, other = other, one
        number = integer(other)
        if one is None or number is None:
            return None
        return skip_identities(one), number if node.is_op("Add") else -number

    def _bound(self, value: Value) -> Value | None:
        """The outside value of a loop-invariant bound: integers, or a small float constant.

        tf2onnx casts both sides to float32 in old opsets, and folds the cast of a constant.
        """
        outside = self._invariant(value)
        if outside is None:
            return None
        return outside if self._is_whole(outside) or is_small(outside) else None

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
        if node is None or not node.is_op(*_UP, *_DOWN, "Equal"):
            return None
        unequal = node.is_op("Equal")
        # A Loop that goes on while two integers are equal does not count.
        if unequal and part.holds:
            return None
        relation = node.op_type if part.holds or unequal else _NEGATED[node.op_type]
        one, other = node.inputs
        for first, second, op_type in (
            (one, other, relation),
            (other, one, _SWAPPED.get(relation, relation)),
        ):
            if first is None or second is None:
                continue
            (value, rounded), (limit, also) = self._strip_casts(first), self._strip_casts(second)
            counted, limit_value = counter(value), bound(limit)
            if counted is None:
                continue
            closing = limit_value is None and not unequal
            if closing:
                counted, limit_value = self._closing(counted, counter(limit))
            signs = _UP if counted.step > 0 else _DOWN
            if limit_value is not None and (unequal or op_type in signs):
                equal = not unequal and signs[op_type]
                return Comparison(counted, limit_value, equal, rounded or also, unequal, closing)
        return None

    def _closing(self, counted: Counter, bound: Counter | None) -> tuple[Counter, Value | None]:
        """A counter with the steps of its bound, and the bound's start; None for other bounds."""
        if bound is None or bound.start is None or counted.start is None:
            return counted, None
        kinds = self._elem_type(counted.start), self._elem_type(bound.start)
        if abs(counted.step) != 1 or bound.step != -counted.step or kinds[0] != kinds[1]:
            return counted, None
        step, offset = counted.step - bound.step, counted.offset - bound.offset
        return Counter(counted.start, step, offset), bound.start

    def _strip_casts(self, value: Value) -> tuple[Value, bool]:
        """Strip casts off an integer: the source, and true if a cast may round it."""
        rounded, value = False, skip_identities(value)
        while value.producer is not None and value.producer.is_op("Cast"):
            source, to = value.producer.inputs[0], value.producer.op.attributes["to"].i
            if source is None:
                break
            if to not in _WIDER.get(self._elem_type(source), ()):
                break
            rounded |= to == _FLOAT
            value = skip_identities(source)
        return value, rounded


def integer(value: Value | None) -> int | None:
    """The integer value of a constant of one element; None for other values."""
    if value is None or value.constant is None or value.constant.size != 1:
        return None
    array = value.constant.numpy()
    if array.dtype.kind not in "iuf":
        return None
    number = array.reshape(())[()]
    return int(number) if float(number).is_integer() else None


def is_small(value: Value | None) -> bool:
    """Test for a constant that float32 holds exactly, with its neighbours."""
    number = integer(value)
    return number is not None and abs(number) < EXACT


def _same(value: Value, other: Value | None) -> bool:
    """Test whether two values are one, or equal integers; None stands for 0."""
    number = integer(value)
    return value is other or (
        number is not None and number == (0 if other is None else integer(other))
    )
