"""Trip counts of Loops as nodes before them, from counters and their bounds.

while i < n, i += 3             iterations = (max(n - start, 0) + 2) / 3
while i != n, i += 1            iterations = n - start if n >= start, else more than a machine makes

A condition compares a counter with a loop-invariant bound.

Nothing overflows where the Loop does not: sums of 64 bits saturate, and a counter of 32 bits that
passes its bound and wraps is followed through all its laps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.iterations.trip_count_bound import Part
from ...analysis.shapes.inference import ShapeInference
from ...facts.magnitudes import LAST_OF_32_BITS
from ...ir import Node, Value
from ...ops.builder import Builder
from ...ops.schema_queries import ElementTypes

_INT64, _FLOAT = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
_ENDLESS = np.iinfo(np.int64).max
"""The trip count of a Loop that does not end."""
_LEAST_32, _MOST_32 = np.iinfo(np.int32).min, np.iinfo(np.int32).max
_LAP = 1 << 32
"""The distance after which a counter of 32 bits repeats a value."""
_SPACING = 128
"""The maximum distance of neighbouring float32 numbers in the range of int32.

Integers further apart round to different numbers.
"""
_OUT_OF_REACH = 1 << 33
"""A trip count out of reach of a 32-bit counter."""


class Exit(NamedTuple):
    """An exit of a Loop.

    Attributes:
        before: true if the initial condition makes the same comparison on the start.
        wide: true for a counter of 64 bits.
    """

    comparison: Comparison
    before: bool
    wide: bool


def constant_iterations(ends: Sequence[Exit], most: Value | None) -> int | None:
    """The trip count where each number is a constant that float32 holds; None otherwise."""
    counts = [end.comparison.constant_iterations(end.before) for end in ends]
    counts += [] if most is None else [integer(most)]
    constant = [count for count in counts if count is not None]
    return min(constant) if len(constant) == len(counts) else None


class TripCountFormulas:
    """Emitter of the trip count of one Loop.

    Args:
        emitter: the builder of the graph around the Loop.
    """

    def __init__(self, emitter: Builder) -> None:
        self.emit = emitter
        self.types = ElementTypes()
        self.constants: dict[int, Value] = {}
        self.bounds: dict[tuple[Value, bool], Value] = {}

    def least(
        self, ends: Sequence[Exit], flags: Sequence[tuple[Part, bool]], most: Value | None
    ) -> Value:
        """Emit the trip count of the exit that comes first.

        Args:
            ends: the exits by counters, at least one or a flag.
            flags: the exits by truth values; true with each that is tested before the Loop.
            most: the maximum trip count; None without one.
        """
        number = None if flags else constant_iterations(ends, most)
        if number is not None:
            return self.emit.integer(number, "iterations")
        iterations = [self._iterations(end) for end in ends]
        iterations += [self._iterations_of_flag(flag, before) for flag, before in flags]
        # A 32-bit counter ends before 2^33 iterations, or never: no machine reaches such a maximum.
        narrow = any(not end.wide for end in ends)
        if most is not None and not (narrow and (integer(most) or 0) >= _OUT_OF_REACH):
            iterations.insert(0, most)
        iterations = list(dict.fromkeys(iterations))
        return (
            iterations[0]
            if len(iterations) == 1
            else self.emit.add("Min", iterations, "iterations")
        )

    def _iterations_of_flag(self, flag: Part, before: bool) -> Value:
        """Emit the trip count of a loop-invariant condition."""
        choice = [self._number(_ENDLESS), self._number(0 if before else 1)]
        return self._choose(flag.value, choice if flag.holds else choice[::-1])

    def _iterations(self, end: Exit) -> Value:
        """Emit the trip count of one exit.

        It is at least 1 where the initial condition does not make the comparison.
        """
        comparison = end.comparison
        if not end.wide and comparison.may_wrap:
            iterations = self._laps(comparison, self._distance(comparison))
        elif comparison.unequal:
            iterations = self._meeting(comparison, self._reach(comparison, -1))
        elif comparison.stride > 1:
            iterations = self._strides(comparison.stride, self._remainder(end))
        else:
            iterations = self._single_steps(end)
        return iterations if end.before else self._at_least(iterations, 1)

    def _single_steps(self, end: Exit) -> Value:
        """Emit the distance of a start and a bound, without the iterations that are none."""
        comparison, number = end.comparison, _start(end.comparison)
        if end.wide and (comparison.sign == -1 or comparison.equal):
            return self._reach(comparison, None)
        if end.wide and number is not None:
            # No less than the start, so that nothing can overflow.
            shift = comparison.shift() + number
            bound = self._bound(comparison)
            return self._plus(self._at_least(bound, shift) if shift else bound, -shift)
        return self._distance(comparison)

    def _remainder(self, end: Exit) -> Value:
        """Emit the distance that the iterations cover, at least 0."""
        if end.wide:
            return self._reach(end.comparison, 0)
        return self._at_least(self._distance(end.comparison), 0)

    def _distance(self, comparison: Comparison) -> Value:
        """Emit the distance of a start and a bound of 32 bits each."""
        first, shift = comparison.counter.start, comparison.shift()
        bound, number = self._bound(comparison), _start(comparison)
        if comparison.sign == 1 and number is not None:
            return self._plus(bound, -shift - number)
        assert first is not None
        start = self._plus(self._wide(first), shift)
        pair = [bound, start] if comparison.sign == 1 else [start, bound]
        return self.emit.once("Sub", pair, "iterations")

    def _reach(self, comparison: Comparison, least: int | None) -> Value:
        """Emit the distance of a start and a bound of 64 bits.

        One of them is a number.

        Args:
            least: the result for every smaller distance; None for any number below 1.
        """
        shift, first = comparison.shift(), comparison.counter.start
        if comparison.sign == 1:
            distance = -shift - (_start(comparison) or 0)
            return self._saturated(self._bound(comparison), distance, least)
        assert first is not None
        return self._saturated(self._wide(first), shift - (integer(comparison.bound) or 0), least)

    def _saturated(self, value: Value, distance: int, least: int | None) -> Value:
        """Emit a sum without overflow, and no less than a number."""
        if least is not None or distance < 0:
            value = self._at_least(value, (least or 0) - distance)
        if distance > 0:
            # Their sum is the largest int64 at most.
            value = self._plus(value, _ENDLESS - distance, "Min")
        return self._plus(value, distance)

    def _strides(self, stride: int, distance: Value) -> Value:
        """Emit the number of steps that cover a distance of at least 0."""
        # So that rounding up cannot overflow.
        distance = self._plus(distance, _ENDLESS - stride + 1, "Min")
        return self._plus(self._plus(distance, stride - 1), stride, "Div")

    def _meeting(self, comparison: Comparison, distance: Value) -> Value:
        """Emit the number of steps of exactly a distance; endless without one."""
        endless, stride = self._number(_ENDLESS), comparison.stride
        if stride == 1:
            beyond = self.emit.add("Less", [distance, self._number(0)], "beyond")
            return self._choose(beyond, [endless, distance])
        steps = self._plus(distance, stride, "Div")
        meets = self.emit.add("Equal", [self._plus(steps, stride, "Mul"), distance], "meets")
        return self._choose(meets, [steps, endless])

    def _laps(self, comparison: Comparison, distance: Value) -> Value:
        """Emit the number of steps that a counter of 32 bits takes to its bound.

        A counter that passes all numbers beyond the bound wraps, and returns in a later lap.
        """
        stride, laps = comparison.stride, comparison.laps
        if comparison.unequal:
            distance, width = self._plus(distance, _LAP, "Mod"), self._number(0)
        else:
            distance, width = self._at_least(distance, 0), self._beyond(comparison)
        if laps > 1:
            starts = self.emit.constant(np.arange(laps, dtype=np.int64) * _LAP, "laps")
            distance = self.emit.add("Add", [distance, starts], "distance")
        steps = self._plus(self._plus(distance, stride - 1), stride, "Div")
        past = self.emit.add("Sub", [self._plus(steps, stride, "Mul"), distance], "past")
        ends = self.emit.add("LessOrEqual", [past, width], "ends")
        steps = self._choose(ends, [steps, self._number(_ENDLESS)])
        return self.emit.reduce("ReduceMin", steps, (0,), "iterations") if laps > 1 else steps

    def _beyond(self, comparison: Comparison) -> Value:
        """Emit the number of 32-bit integers beyond the first end of a Loop."""
        bound, equal = self._bound(comparison), 1 if comparison.equal else 0
        if comparison.sign == -1:
            return self._plus(bound, -equal - _LEAST_32)
        return self.emit.add("Sub", [self._number(_MOST_32 - equal), bound], "width")

    def _bound(self, comparison: Comparison) -> Value:
        """Emit the bound, as 64 bits; for rounded numbers, the nearest integer that fails."""
        bound, rising = self._wide(comparison.bound), comparison.sign == 1
        number = integer(comparison.bound)
        if not comparison.rounded or (number is not None and abs(number) < EXACT):
            return bound
        key = comparison.bound, rising
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

    def _choose(self, condition: Value, pair: Sequence[Value]) -> Value:
        return self.emit.add("Where", [condition, *pair], "iterations")

    def _number(self, number: int) -> Value:
        if number not in self.constants:
            self.constants[number] = self.emit.integer(number, "number")
        return self.constants[number]

    def _plus(self, value: Value, number: int, op_type: str = "Add") -> Value:
        """Emit a value with a number, added by default."""
        if not number and op_type == "Add":
            return value
        return self.emit.once(op_type, [value, self._number(number)], "iterations")

    def _at_least(self, value: Value, number: int) -> Value:
        return self._plus(value, number, "Max")


def _start(comparison: Comparison) -> int | None:
    """The start of a counter if it is a number."""
    first = comparison.counter.start
    return 0 if first is None else integer(first)


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
        if not (before or small or self._is_near(counter)) or (test.unequal and test.rounded):
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
            before = before or self._is_near(counter)
            return near and before and not test.rounded and not (test.unequal and narrow)
        if first is None or not small:
            return False
        if narrow and (test.unequal or not near):
            return False  # wraps before the bound
        if test.stride > 1 or test.equal or test.unequal:
            return near or not test.rounded
        return near or (not test.rounded and first >= 0 and first + test.shift() >= 0)

    def _is_near(self, counter: Counter) -> bool:
        """Test for a falling counter from a size or the like, not far below 0."""
        start = self.inference.number(counter.start)
        low = start is not None and (start + LAST_OF_32_BITS).less(0) is False
        return counter.step < 0 and low

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
