"""Trip counts of Loops as nodes before them, from counters and their bounds.

while i < n, i += 3             iterations = (max(n - start, 0) + 2) / 3
while i != n, i += 1            iterations = n - start if n >= start, else more than a machine makes

Nothing overflows where the Loop does not: sums of 64 bits saturate, and a counter of 32 bits that
passes its bound and wraps is followed through all its laps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ...analysis.iterations.trip_count_bound import Part
from ...ir import Value
from ...ops.builder import Builder
from ...ops.element_types import ElementTypes
from .comparisons import EXACT, Comparison, integer

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
        comparison: the counter and its bound.
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
            comparison: the comparison.
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
