"""One iteration as a function of the states, in one normal form.

s -> reset ? fresh : min (max (factor * s + offset, lower), upper)

t = Mul (s, a)                           factor = a
u = Add (t, b)                     ->    offset = b
v = Relu (u)                             lower = 0
r = Where (p, e, v)                      reset = p, fresh = e

Truth values are numbers of which Xor is the sum and And the product, so Not adds true. Of states
that depend on each other, each has a factor for each of them, and no bounds. Functions of this form
are closed under composition (`composed_steps`): max-plus, clamped, decayed, guarded and reset
states are rows of one algebra.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact
from ....ir import Node, Value
from ....ops.schema_queries import takes
from ...utils.select import as_select
from ..weights import Unfit
from .coefficients import ONE, ZERO, Coefficient, Coefficients
from .recurrence import Recurrence

_BOOL = onnx.TensorProto.BOOL


@dataclasses.dataclass(frozen=True)
class Bounded:
    """The function min (max (factors[0] * s[0] + factors[1] * s[1] + ... + offset, lower), upper).

    Attributes:
        factors: the factor of each state.
        offset: the addend.
        lower: the lower bound; None for none.
        upper: the upper bound, which counts where both cross; None for none.
    """

    factors: tuple[Coefficient, ...]
    offset: Coefficient
    lower: Coefficient | None = None
    upper: Coefficient | None = None

    @property
    def is_bounded(self) -> bool:
        """Test for a bound."""
        return self.lower is not None or self.upper is not None

    @property
    def is_independent(self) -> bool:
        """Test for a function that no state changes."""
        return all(factor.number == 0.0 for factor in self.factors)

    @property
    def is_translation(self) -> bool:
        """Test for a sum of the one state and an offset."""
        return not self.is_bounded and [each.number for each in self.factors] == [1.0]


@dataclasses.dataclass(frozen=True)
class Step:
    """A function of states that a condition may replace by a value of the iteration.

    Attributes:
        plain: the function where the condition does not hold.
        reset: the condition, a truth value; the number 0 for never, 1 for always.
        fresh: the value where it holds.
    """

    plain: Bounded
    reset: Coefficient = ZERO
    fresh: Coefficient = ZERO

    @property
    def factor(self) -> Coefficient:
        """The factor of the only state."""
        (factor,) = self.plain.factors
        return factor

    @property
    def is_constant(self) -> bool:
        """Test for a value of the iteration alone."""
        return self.reset.number == 1.0

    @property
    def is_reset(self) -> bool:
        """Test for a condition that may hold."""
        return self.reset.number != 0.0


@dataclasses.dataclass(frozen=True)
class _Comparison:
    """A comparison of a value of the iteration with a function of the state.

    Attributes:
        kind: Max or Min.
        candidate: the value.
        before: the function.
        only: a condition of the iteration that must hold, too; None for none.
    """

    kind: str
    candidate: Value
    before: Value
    only: Coefficient | None = None

    @property
    def sides(self) -> tuple[Value, Value]:
        """The two values compared."""
        return self.candidate, self.before


_COMPARISONS = {"Greater": "Max", "GreaterOrEqual": "Max", "Less": "Min", "LessOrEqual": "Min"}
_OPPOSITE = {"Max": "Min", "Min": "Max"}


class StepReader(Coefficients):
    """The functions that the values of a cycle are of its states.

    Args:
        recurrence: the states, and the nodes between them and their next values.
        fact: the fact of each state.
    """

    def __init__(self, recurrence: Recurrence, fact: Fact) -> None:
        super().__init__(recurrence, fact)
        self._values: dict[Value, Step] = {}
        self._comparisons: dict[Value, _Comparison] = {}
        self._rules: dict[str, Callable[[Node], Step]] = {
            "Identity": lambda node: self._of(node.inputs[0]),
            "Cast": self._cast,
            "Where": self._select,
        }
        self._rules |= self._of_truth() if self._type == _BOOL else self._of_numbers()

    def _of_numbers(self) -> dict[str, Callable[[Node], Step]]:
        return {
            "Add": lambda node: self._fold(node, self._add),
            "Sum": lambda node: self._fold(node, self._add),
            "Sub": self._subtract,
            "Neg": lambda node: self._negate(self._of(node.inputs[0])),
            "Mul": self._mul,
            "Div": self._div,
            "Max": lambda node: self._select(node, self._max),
            "Min": lambda node: self._fold(node, self._min),
            "Relu": lambda node: self._max(self._of(node.inputs[0]), self._constant(ZERO)),
            "Clip": self._clip,
        }

    def _of_truth(self) -> dict[str, Callable[[Node], Step]]:
        """The rules of truth values; And and Or are selects of a constant."""
        return {
            "Not": lambda node: self._negate(self._of(node.inputs[0])),
            "Xor": lambda node: self._fold(node, self._add),
            "And": lambda node: self._gate(node, ZERO),
            "Or": lambda node: self._select(node, lambda *_: self._gate(node, ONE)),
        }

    def read(self) -> list[Step]:
        """The function that an iteration applies, for each state.

        Raises:
            Unfit: no function of the normal form.
        """
        states = self._recurrence.states
        for state in states:
            factors = tuple([ONE if other is state else ZERO for other in states])
            self._values[state.argument] = Step(Bounded(factors, ZERO))
        for node in self._recurrence.nodes:
            rule = None if node.domain or node.op.references else self._rules.get(node.op_type)
            if self._recurrence.fact(node.output()).shape != self._shape:
                raise Unfit(f"{node} may change its shape")
            comparison = self._compare(node)
            if comparison is not None:
                self._comparisons[node.output()] = comparison
            elif rule is None:
                raise Unfit(f"{node} makes the next value")
            else:
                self._values[node.output()] = rule(node)
        steps = [self._of(state.result) for state in states]
        for step in steps:
            self._require_order(step)
        return steps

    def _require_order(self, step: Step) -> None:
        """Require sums that do not wrap between bounds."""
        plain = step.plain
        if not plain.is_bounded or self._dtype.kind == "f":
            return
        if [one.number for one in plain.factors] != [1.0] or plain.offset.number != 0.0:
            raise Unfit("its sums may wrap, and bounds do not")

    # Operands ------------------------------------------------------------------------------------

    def _of(self, value: Value | None) -> Step:
        if value is None:
            raise Unfit("an operand is absent")
        if value not in self._values:
            self._values[value] = self._constant(self._coefficient(value))
        return self._values[value]

    def _constant(self, coefficient: Coefficient) -> Step:
        """The function of one value of the iteration."""
        none = (ZERO,) * len(self._recurrence.states)
        return Step(Bounded(none, coefficient), ONE, coefficient)

    def _fold(self, node: Node, combine: Callable[[Step, Step], Step]) -> Step:
        return functools.reduce(combine, [self._of(value) for value in node.inputs])

    def _map(self, step: Step, function: Callable[[Bounded], Bounded]) -> Step:
        """Apply a function to both cases of a step."""
        if step.is_constant:
            return self._constant(function(step.plain).offset)
        plain = function(step.plain)
        if not step.is_reset:
            return Step(plain)
        return Step(plain, step.reset, function(self._constant(step.fresh).plain).offset)

    def _pair(
        self, one: Step, other: Step, function: Callable[[Bounded, Bounded], Bounded]
    ) -> Step:
        """Apply a commutative function to two steps, of which one may be reset."""
        if one.is_constant:
            one, other = other, one
        if other.is_constant or not (one.is_reset or other.is_reset):
            return self._map(one, lambda plain: function(plain, other.plain))
        raise Unfit("it is joined with itself where a condition may replace it")

    # Numbers -------------------------------------------------------------------------------------

    def _cast(self, node: Node) -> Step:
        if node.attribute("to") != self._type:
            raise Unfit(f"{node} makes the next value")
        return self._of(node.inputs[0])

    def _add(self, one: Step, other: Step) -> Step:
        return self._pair(one, other, self._sum)

    def _sum(self, one: Bounded, other: Bounded) -> Bounded:
        if not other.is_independent and (one.is_bounded or other.is_bounded):
            raise Unfit("a bound of it is added to it")
        pairs = zip(one.factors, other.factors, strict=True)
        factors = tuple([self._plus(*pair) for pair in pairs])
        lower, upper = (
            None if bound is None else self._plus(bound, other.offset)
            for bound in (one.lower, one.upper)
        )
        return Bounded(factors, self._plus(one.offset, other.offset), lower, upper)

    def _negate(self, step: Step) -> Step:
        if self._type == _BOOL:
            return self._add(step, self._constant(ONE))
        return self._map(step, lambda plain: self._scale(plain, Coefficient(-1.0)))

    def _subtract(self, node: Node) -> Step:
        one, other = (self._of(value) for value in node.inputs)
        return self._add(one, self._negate(other))

    def _mul(self, node: Node) -> Step:
        one, other = (self._of(value) for value in node.inputs)
        if one.is_constant:
            one, other = other, one
        if not other.is_constant:
            raise Unfit(f"{node} multiplies it by itself")
        return self._map(one, lambda plain: self._scale(plain, other.fresh))

    def _scale(self, plain: Bounded, by: Coefficient) -> Bounded:
        """Multiply by a value; a negative one swaps the bounds."""
        factors = tuple([self._product(factor, by) for factor in plain.factors])
        offset = self._product(plain.offset, by)
        if not plain.is_bounded:
            return Bounded(factors, offset)
        lower, upper = (
            None if bound is None else self._product(bound, by)
            for bound in (plain.lower, plain.upper)
        )
        if by.positive:
            return Bounded(factors, offset, lower, upper)
        numbers = self.array_of(by)
        if numbers is None or bool(np.any(numbers > 0)):
            raise Unfit("a factor of its bounds may be negative")
        # Of crossing bounds the upper one counts, which is now the lower one.
        if lower is not None and upper is not None:
            lower = self._combine("Max", lower, upper)
        return Bounded(factors, offset, upper, lower)

    def _div(self, node: Node) -> Step:
        one, other = (self._of(value) for value in node.inputs)
        if not other.is_constant or self._dtype.kind != "f":
            raise Unfit(f"{node} divides by it, or rounds")
        divisor = other.fresh
        if divisor.number is not None:
            if not divisor.number:
                raise Unfit(f"{node} divides by 0")
            return self._map(one, lambda plain: self._scale(plain, divisor))
        if one.is_constant:
            return self._constant(self._combine("Div", one.fresh, divisor))
        inverse = self._combine("Div", ONE, divisor)
        inverse = dataclasses.replace(inverse, positive=divisor.positive)

        def divide(plain: Bounded) -> Bounded:
            scale = self._scale(plain, inverse)
            if plain.offset.number == 0.0:
                return scale
            return dataclasses.replace(scale, offset=self._combine("Div", plain.offset, divisor))

        return self._map(one, divide)

    # Bounds --------------------------------------------------------------------------------------

    def _max(self, one: Step, other: Step) -> Step:
        return self._pair(one, other, functools.partial(self._extreme, "Max"))

    def _min(self, one: Step, other: Step) -> Step:
        return self._pair(one, other, functools.partial(self._extreme, "Min"))

    def _extreme(self, kind: str, one: Bounded, other: Bounded) -> Bounded:
        if not takes(kind, 0, self._type, self._emit.opset):
            raise Unfit(f"{kind} has no such element type at opset {self._emit.opset}")
        if one.is_independent and other.is_independent:
            return dataclasses.replace(one, offset=self._combine(kind, one.offset, other.offset))
        if not other.is_independent:
            return self._extreme_of_sums(kind, one, other)
        lower, upper, bound = one.lower, one.upper, other.offset
        if kind == "Min":
            return dataclasses.replace(one, upper=self._tighter("Min", upper, bound))
        upper = None if upper is None else self._combine("Max", upper, bound)
        return dataclasses.replace(one, lower=self._tighter("Max", lower, bound), upper=upper)

    def _extreme_of_sums(self, kind: str, one: Bounded, other: Bounded) -> Bounded:
        """The greater, or smaller, of two sums of the state: that of their addends."""
        factors = [factor.number for factor in (*one.factors, *other.factors)]
        own, crossing = (
            ((one.lower, other.lower), (one.upper, other.upper))
            if kind == "Max"
            else ((one.upper, other.upper), (one.lower, other.lower))
        )
        if factors != [1.0, 1.0] or crossing != (None, None) or self._dtype.kind != "f":
            raise Unfit("it is compared with another function of itself")
        bounds = [bound for bound in own if bound is not None]
        bound = functools.reduce(lambda a, b: self._combine(kind, a, b), bounds) if bounds else None
        offset = self._combine(kind, one.offset, other.offset)
        lower, upper = (bound, None) if kind == "Max" else (None, bound)
        return Bounded(one.factors, offset, lower, upper)

    def _tighter(self, kind: str, bound: Coefficient | None, other: Coefficient) -> Coefficient:
        return other if bound is None else self._combine(kind, bound, other)

    def _clip(self, node: Node) -> Step:
        """Bound a value from below, then from above; bounds are inputs from opset 11 on."""
        step = self._of(node.inputs[0])
        for name, index, bound in (("min", 1, self._max), ("max", 2, self._min)):
            number, value = node.attribute(name), node.input(index)
            if number is not None:
                array = np.array(number, self._dtype)
                constant = Coefficient(
                    None, self._emit.constant(array, name), array=array, positive=number >= 0
                )
                step = bound(step, self._constant(constant))
            elif value is not None:
                step = bound(step, self._of(value))
        return step

    # Choices -------------------------------------------------------------------------------------

    def _flag(self, value: Value | None, node: Node) -> Coefficient:
        """The coefficient of a condition, which no state changes."""
        assert value is not None
        if value in self._values and not self._values[value].is_constant:
            raise Unfit(f"{node} chooses by it")
        if value.producer in self._recurrence.nodes:
            raise Unfit(f"{node} chooses by it")
        return self._coefficient(value)

    def _select(self, node: Node, combine: Callable[[Step, Step], Step] | None = None) -> Step:
        """A select in any form, or else the combination of the operands."""
        match = as_select(node, self._source)
        if match is None:
            assert combine is not None
            return self._fold(node, combine)
        condition, *branches = match
        if condition in self._comparisons:
            return self._better(node, self._comparisons[condition], *branches)
        flag = self._flag(condition, node)
        one, other = (self._of(value) for value in branches)
        return self._choose_step(flag, one, other)

    def _compare(self, node: Node) -> _Comparison | None:
        """Match a comparison of a value of the iteration with a function of the state.

        It may hold under a condition of the iteration as well, by And.
        """
        if len(node.inputs) != 2 or node.domain:
            return None
        inputs = [None if value is None else skip_identities(value) for value in node.inputs]
        if node.op_type == "And":
            for one, other in (inputs, inputs[::-1]):
                if one in self._comparisons and other is not None:
                    flag = self._flag(other, node)
                    comparison = self._comparisons[one]
                    if comparison.only is None:
                        return dataclasses.replace(comparison, only=flag)
        kind = _COMPARISONS.get(node.op_type)
        if kind is None or None in inputs:
            return None
        for (one, other), own in ((inputs, kind), (inputs[::-1], _OPPOSITE[kind])):
            if other in self._values and not self._values[other].is_constant:
                assert one is not None and other is not None
                if one not in self._values or self._values[one].is_constant:
                    return _Comparison(own, one, other)
        return None

    def _better(self, node: Node, comparison: _Comparison, one: Value, other: Value) -> Step:
        """The better of the two sides of a comparison, never NaN."""
        if (skip_identities(one), skip_identities(other)) != comparison.sides:
            raise Unfit(f"{node} chooses by it")
        (candidate, before), kind = (self._of(v) for v in comparison.sides), comparison.kind
        number = self._number_or(candidate.fresh, self._unbounded(kind == "Max", False))
        bound = self._max if kind == "Max" else self._min
        step = bound(before, self._constant(number))
        return step if comparison.only is None else self._choose_step(comparison.only, step, before)

    def _number_or(self, value: Coefficient, other: Coefficient) -> Coefficient:
        """A value with each NaN, which no comparison prefers, replaced."""
        array = self.array_of(value)
        if self._dtype.kind != "f" or (array is not None and not np.isnan(array).any()):
            return value
        assert value.value is not None
        flag = dataclasses.replace(value, value=self._emit.add("IsNaN", [value.value], "nan"))
        return self._choose(dataclasses.replace(flag, array=None), other, value)

    def _gate(self, node: Node, fixed: Coefficient) -> Step:
        """And or Or: one operand chooses between the other and false, or true."""
        one, other = (self._of(value) for value in node.inputs)
        if one.is_constant:
            one, other = other, one
        if not other.is_constant:
            raise Unfit(f"{node} joins it with itself")
        branches = one, self._constant(fixed)
        if fixed is ONE:
            branches = branches[::-1]
        return self._choose_step(other.fresh, *branches)

    def _choose_step(self, flag: Coefficient, one: Step, other: Step) -> Step:
        if flag.number is not None:
            return one if flag.number else other
        if one.is_constant and other.is_constant:
            return self._constant(self._choose(flag, one.fresh, other.fresh))
        reset = self._choose(flag, one.reset, other.reset, truth=True)
        fresh = ZERO
        if reset.number != 0.0:
            fresh = self._either(flag, one, other)
        if one.is_constant or other.is_constant:
            return Step((other if one.is_constant else one).plain, reset, fresh)
        return Step(self._choose_plain(flag, one.plain, other.plain), reset, fresh)

    def _either(self, flag: Coefficient, one: Step, other: Step) -> Coefficient:
        """The value of the branch that is reset."""
        if not one.is_reset:
            return other.fresh
        return self._choose(flag, one.fresh, other.fresh) if other.is_reset else one.fresh

    def _choose_plain(self, flag: Coefficient, one: Bounded, other: Bounded) -> Bounded:
        pairs = zip(one.factors, other.factors, strict=True)
        factors = tuple([self._choose(flag, *pair) for pair in pairs])
        offset = self._choose(flag, one.offset, other.offset)
        scaled = any(factor.number != 1.0 for factor in factors)
        bounds: list[Coefficient | None] = []
        for pair, least in (((one.lower, other.lower), True), ((one.upper, other.upper), False)):
            if pair == (None, None):
                bounds.append(None)
                continue
            first, second = (
                self._unbounded(least, scaled) if bound is None else bound for bound in pair
            )
            bounds.append(self._choose(flag, first, second))
        return Bounded(factors, offset, *bounds)

    def ordered_bounds(self, plain: Bounded) -> dict[str, Coefficient]:
        """Both bounds, which do not cross."""
        lower, upper = (
            self._unbounded(least, True) if bound is None else bound
            for bound, least in ((plain.lower, True), (plain.upper, False))
        )
        return {"lower": self._combine("Min", lower, upper), "upper": upper}
