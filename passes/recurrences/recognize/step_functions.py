"""An iteration as functions of the states, in one normal form for each algebra.

s -> reset ? fresh : min (max (weights[0] * s[0] + weights[1] * s[1] + ... + offset, lower), upper)

t = Mul (s, a)                           weights = [a]
u = Add (t, b)                     ->    offset = b
v = Relu (u)                             lower = 0
r = Where (p, e, v)                      reset = p, fresh = e

The sum and the product are those of a row of `semirings`. A single state of numbers has bounds as
well, so that max-plus, clamped, decayed, guarded and reset states are of one form. Truth values
have Xor as the sum and And as the product, so Not adds true.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact, Shape
from ....ir import Node, Value
from ....ir.lazy import lazy_property
from ....ops.schema_queries import takes
from ...utils.select import as_select
from ..weights import Unfit
from .coefficients import ONE, ZERO, Coefficient, Coefficients
from .extents import Extents
from .joined_values import joined_values
from .normal_form import Bounded, Comparison, Part, Step
from .recurrence import Recurrence
from .semirings import COMPARISONS, OPPOSITE, SUMS, Semiring, neutral

_BOOL = onnx.TensorProto.BOOL


class StepReader(Coefficients):
    """The functions that the values of a cycle are of its states.

    Args:
        recurrence: the states, and the nodes between them and their next values.
        semiring: the sum and the product.
        nan_flag: emits the iterations in which a value is NaN.

    Attributes:
        progress: the number of nodes that it has read.
        restored: the values whose NaN the next value takes, and the steps do not; None for none.
        worst: the number that stands for NaN in the steps.
        modulus: the positive divisor of which the next values are rests; None for none.
        fills: true if a condition may leave out a bound.
        drops: true if a bound replaces a NaN.
        numbers: values of such bounds, which are never NaN.
        drops_nans: true if a choice between functions of states drops NaN or takes them.
        rounds: true if a bound stands for a sum that rounds.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        fact: Fact,
        semiring: Semiring = SUMS,
        nan_flag: Callable[[Value], Value | None] = lambda value: None,
    ) -> None:
        super().__init__(recurrence, fact)
        self.semiring = semiring
        self._nan_flag = nan_flag
        self._conditions: dict[Value, Node] = {}  # comparisons, and logic of them
        self.drops_nans = False
        self._width = len(recurrence.states)
        self._has_bounds = semiring is SUMS and self._width == 1
        self._values: dict[Value, Step] = {}
        self.numbers = set[Value]()  # never NaN
        self._obstacles: dict[Value | None, Unfit] = {}
        self.progress = 0
        self.restored: Coefficient | None = None
        self.worst = ZERO
        self.modulus: Coefficient | None = None
        self.fills = False
        self.drops = False
        self.rounds = False

    def read(self) -> list[Step]:
        """The function that an iteration applies, for each state.

        Raises:
            Unfit: no function of the normal form.
        """
        states = self._recurrence.states
        for state in states:
            weights = tuple([self.one if other is state else None for other in states])
            self._values[state.argument] = Step(Bounded(weights))
        self._visit_all()
        steps = [self._of(state.result) for state in states]
        if self.semiring.is_ordered:  # max (a s, b s) is max (a, b) s for s of at least 0 alone
            offsets = [part for step in steps for part in (step.plain.offset, step.fresh) if part]
            extents = Extents(self._recurrence)
            initial = [extents.of(state.initial)[0] >= 0 for state in states]
            if not all(initial) or not all(part.positive for part in offsets):
                raise Unfit("a state may be negative, and the order of products change")
        return steps

    def _visit_all(self) -> None:
        for node in self._recurrence.nodes:
            try:
                self._visit(node)
            except Unfit as reason:  # parts of a select are never read
                self._obstacles |= dict.fromkeys(node.outputs, reason)
            self.progress += not self._obstacles

    def _visit(self, node: Node) -> None:
        joined = joined_values(node, self._recurrence.fact)
        if joined is not None and node.op_type in _REDUCTIONS:
            steps = [self._of(value) for value in joined]
            combine = functools.partial(self._binary, node, _REDUCTIONS[node.op_type])
            self._values[node.output()] = functools.reduce(combine, steps)
            return
        rule = None if node.domain or node.op.references else _RULES.get(node.op_type)
        if (shape := self._recurrence.fact(node.output()).shape) != self._shape:
            is_other = shape is not None and _differ(shape, self._shape)
            what = "has another shape" if is_other else "may change its shape"
            raise self._first_obstacle(node, what)
        if self._type != _BOOL and node.is_op(*COMPARISONS, "And", "Not", "Or"):
            self._conditions[node.output()] = node
        elif rule is None or (node.op_type in _OF_TRUTH) > (self._type == _BOOL):
            raise self._first_obstacle(node, "computes the next value")
        else:
            self._values[node.output()] = rule(self, node)

    def _first_obstacle(self, node: Node, what: str) -> Unfit:
        """The obstacle of an operand, or else of a node."""
        before = [self._obstacles[value] for value in node.inputs if value in self._obstacles]
        return before[0] if before else Unfit(f"{node} {what}")

    # Operands ------------------------------------------------------------------------------------

    @lazy_property
    def one(self) -> Coefficient:
        """The neutral element of products."""
        return self._neutral(self.semiring.act)

    @lazy_property
    def nothing(self) -> Coefficient:
        """The neutral element of sums."""
        return self._neutral(self.semiring.join)

    def _neutral(self, operator: str) -> Coefficient:
        if operator in ("Max", "Min", "LogSumExp", "BitwiseAnd"):
            array = neutral(operator, self._dtype, self.semiring.act == "Add")
            return Coefficient(None, self._emit.constant(array, "nothing"), array=array)
        return ONE if neutral(operator, self._dtype) else ZERO

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that alone decides the next value; None for others."""
        others = [
            node
            for node in self._recurrence.nodes
            if not node.is_op("Identity") and self._obstacles.keys().isdisjoint(node.outputs)
        ]
        matches = [self._compare(node) for node in self._conditions.values() if len(others) == 2]
        return next((match for match in matches if match is not None), None)

    def _present(self, value: Value | None) -> Value:
        """An operand that is there and has a function; raises Unfit otherwise."""
        if value is None:
            raise Unfit("an operand is absent")
        if value in self._obstacles:
            raise self._obstacles[value]
        return value

    def _of(self, operand: Value | None) -> Step:
        value = self._present(operand)
        if value not in self._values:
            if value.producer in self._recurrence.nodes:
                raise Unfit(f"{value.producer} computes the next value")
            self._values[value] = self._constant(self._coefficient(value))
        return self._values[value]

    def _operands(self, node: Node) -> list[Step]:
        return [self._of(value) for value in node.inputs]

    def _constant(self, coefficient: Part) -> Step:
        """The function of one value of the iteration."""
        own = self.nothing if coefficient is None else coefficient
        return Step(Bounded((None,) * self._width, coefficient), ONE, own)

    def _map(self, step: Step, function: Callable[[Bounded], Bounded]) -> Step:
        """Apply a function to both cases of a step."""
        if step.is_constant:
            return self._constant(function(step.plain).offset)
        plain = function(step.plain)
        if plain.is_independent and not plain.is_bounded and not step.is_reset:
            return self._constant(plain.offset)
        if not step.is_reset:
            return Step(plain)
        return Step(plain, step.reset, self._value(function(self._constant(step.fresh).plain)))

    def _value(self, plain: Bounded) -> Coefficient:
        """The value of a function that reads no state, between its bounds."""
        value = self.nothing if plain.offset is None else plain.offset
        if plain.lower is not None:
            value = self._combine("Max", value, plain.lower)
        return value if plain.upper is None else self._combine("Min", value, plain.upper)

    def _pair(
        self, one: Step, other: Step, function: Callable[[Bounded, Bounded], Bounded]
    ) -> Step:
        """Apply a commutative function to two steps, each of which a condition may replace."""
        if one.is_constant:
            one, other = other, one
        if other.is_constant or not (one.is_reset or other.is_reset):
            return self._map(one, lambda plain: function(plain, other.plain))
        plain = function(one.plain, other.plain)
        first, second = (self._constant(step.fresh).plain for step in (one, other))
        fresh = self._value(function(first, second))
        if (one.reset.number, one.reset.value) == (other.reset.number, other.reset.value):
            return Step(plain, one.reset, fresh)
        # A function of the state stays where one condition holds, so that no weight is an added 0.
        if other.is_reset:
            plain = self._choose_plain(other.reset, function(one.plain, second), plain)
        if one.is_reset:
            plain = self._choose_plain(one.reset, function(other.plain, first), plain)
        return Step(plain, self._choose(one.reset, other.reset, ZERO, truth=True), fresh)

    # Sums and products ---------------------------------------------------------------------------

    def _fold(self, node: Node, kind: str) -> Step:
        """A node that applies an operation to its operands from left to right."""
        combine = functools.partial(self._binary, node, kind)
        return functools.reduce(combine, self._operands(node))

    def _binary(self, node: Node, kind: str, one: Step, other: Step) -> Step:
        """A sum, a product or a bound.

        Raises:
            Unfit: another operation.
        """
        if kind not in OPPOSITE and not takes(kind, 0, self._type, self._emit.opset):
            raise Unfit(f"{kind} has no such element type at opset {self._emit.opset}")
        if one.is_constant and other.is_constant:
            return self._constant(self._combine(kind, one.fresh, other.fresh))
        if kind == self.semiring.join:
            return self._pair(one, other, self._join)
        if kind == self.semiring.act:
            if one.is_constant:
                one, other = other, one
            if not other.is_constant:
                raise Unfit(f"{node} multiplies it by itself")
            return self._map(one, lambda plain: self._scale(plain, other.fresh))
        if self._has_bounds and kind in OPPOSITE:
            return self._pair(one, other, functools.partial(self._extreme, kind))
        raise Unfit(f"{node} computes the next value")

    def _join(self, one: Bounded, other: Bounded) -> Bounded:
        if not other.is_independent and (one.is_bounded or other.is_bounded):
            return self._join_bounded(*((one, other) if one.is_bounded else (other, one)))
        pairs = zip(one.weights, other.weights, strict=True)
        lower, upper = (
            None if bound is None else self._plus(bound, other.offset or ZERO)
            for bound in (one.lower, one.upper)
        )
        weights = tuple([self._sum(*pair) for pair in pairs])
        return Bounded(weights, self._sum(one.offset, other.offset), lower, upper)

    def _join_bounded(self, one: Bounded, other: Bounded) -> Bounded:
        """A bounded function and one that cancels its weight: max (c - s, l) + s = max (s + l, c).

        An infinite s makes NaN of the left side, and a large one rounds it.
        """
        ends = [bound for bound in (one.lower, one.upper) if bound is not None]
        inner = dataclasses.replace(one, lower=None, upper=None)
        if other.is_bounded or len(ends) > 1 or not self.is_float:
            raise Unfit("a bound of it is added to it")
        total = self._join(inner, other)
        if not total.is_independent:
            raise Unfit("a bound of it is added to it")
        self.rounds = True
        moved = self._join(other, Bounded((None,), ends[0]))
        return self._extreme("Min" if one.lower is None else "Max", moved, total)

    def _sum(self, one: Part, other: Part) -> Part:
        if one is None or other is None:
            return other if one is None else one
        join, present = self.semiring.join, None
        if one.present is not None or other.present is not None:
            one, other = self._cleared(one), self._cleared(other)
            if one.present is not None and other.present is not None:
                present = self._choose(one.present, ONE, other.present, truth=True)
        if join not in ("Add", "Xor"):
            return dataclasses.replace(self._combine(join, one, other), present=present)
        total = self._plus(one, other)
        array = self.array_of(total)
        is_gone = array is not None and not np.any(array)
        return None if is_gone else dataclasses.replace(total, present=present)

    def _cleared(self, part: Coefficient) -> Coefficient:
        """A coefficient that is neutral where it is absent."""
        if part.present is None:
            return part
        plain = dataclasses.replace(part, present=None)
        return dataclasses.replace(
            self._choose(part.present, plain, self.nothing), present=part.present
        )

    def _scale(self, plain: Bounded, by: Coefficient) -> Bounded:
        """Multiply by a value; a negative one swaps the bounds."""
        if self.semiring.is_ordered and not by.positive:
            raise Unfit("a factor of a compared value may be negative")
        weights = tuple([self._product_of(weight, by) for weight in plain.weights])
        offset = self._product_of(plain.offset, by)
        numbers = self.array_of(by)
        keeps = numbers is not None and bool(np.all(numbers)) and bool(np.isfinite(numbers).all())
        lower, upper = (
            None if bound is None else self._product(bound if keeps else self._finite(bound), by)
            for bound in (plain.lower, plain.upper)
        )
        if not plain.is_bounded or by.positive:
            return Bounded(weights, offset, lower, upper)
        # Of crossing bounds the upper one counts, which a negative factor makes the lower one.
        crossing = lower if lower is None or upper is None else self._combine("Max", lower, upper)
        flag = self._is_negative(by)
        if flag is ONE and keeps:  # an infinite bound stays one
            return Bounded(weights, offset, upper, crossing)
        ends = [
            None if pair == (None, None) else self._choose(flag, *self._both(pair, least))
            for pair, least in (((upper, lower), True), ((crossing, upper), False))
        ]
        return Bounded(weights, offset, *ends)

    def _finite(self, bound: Coefficient) -> Coefficient:
        """A bound without the infinities that stand for an absent one; 0 times them is NaN."""
        if not self.fills or not self.is_float:
            return bound
        least, most = (self._unbounded(end, True) for end in (True, False))
        return self._combine("Min", self._combine("Max", bound, least), most)

    def _is_negative(self, by: Coefficient) -> Coefficient:
        numbers = self.array_of(by)
        if numbers is not None and not bool(np.any(numbers > 0)):
            return ONE
        sign = self._emit.add("Less", [self.value_of(by), self.value_of(ZERO)], "negative")
        return dataclasses.replace(by, number=None, value=sign, array=None, rows=None)

    def _both(self, pair: tuple[Part, Part], least: bool) -> tuple[Coefficient, Coefficient]:
        """Two bounds, of which one may be absent: then a finite one that changes nothing."""
        one, other = pair
        return one or self._unbounded(least, True), other or self._unbounded(least, True)

    def _product_of(self, part: Part, by: Coefficient) -> Part:
        act = self.semiring.act
        if part is None or part is self.one:
            return None if part is None or self._is_nothing(by) else by
        if act in ("Mul", "And"):
            product = self._product(part, by)
            return None if self._is_nothing(product) else self._with(product, part)
        product = self._plus(part, by) if act == "Add" else self._combine(act, part, by)
        return self._with(product, part)

    def _is_nothing(self, part: Coefficient) -> bool:
        return part.number == 0.0 and self.semiring.join in _ADDING

    @staticmethod
    def _with(product: Coefficient, part: Coefficient) -> Coefficient:
        return dataclasses.replace(product, present=part.present)

    def _subtract(self, node: Node) -> Step:
        one, other = self._operands(node)
        if self.semiring.join != "Add" and not other.is_constant:
            raise Unfit(f"{node} subtracts it")
        return self._binary(node, "Add", one, self._negative(other))

    def _negative(self, step: Step) -> Step:
        if self._dtype.kind == "u":
            raise Unfit("a number without a sign is subtracted or negated")
        minus = Coefficient(-1.0)
        if step.is_constant:
            return self._constant(self._product(step.fresh, minus))
        return self._map(step, lambda plain: self._scale(plain, minus))

    def _negate(self, node: Node) -> Step:
        step = self._of(node.inputs[0])
        if self._type == _BOOL:
            return self._binary(node, "Xor", step, self._constant(ONE))
        if self.semiring.act != "Mul" and not step.is_constant:
            raise Unfit(f"{node} computes the next value")
        return self._negative(step)

    def _complement(self, node: Node) -> Step:
        ones = np.invert(np.array(0, self._dtype))
        own = Coefficient(None, self._emit.constant(ones, "ones"), array=ones)
        return self._binary(node, "BitwiseXor", self._of(node.inputs[0]), self._constant(own))

    def _divide(self, node: Node) -> Step:
        one, other = self._operands(node)
        if not other.is_constant or self._dtype.kind != "f":
            raise Unfit(f"{node} divides by it, or rounds")
        divisor = other.fresh
        if divisor.number is not None:
            if not divisor.number:
                raise Unfit(f"{node} divides by 0")
            return self._binary(node, "Mul", one, other)
        if one.is_constant:
            return self._constant(self._combine("Div", one.fresh, divisor))
        if not Extents(self._recurrence).have_inverses(node.inputs[1]):
            raise Unfit(f"{node} divides by a number so small that its inverse may be infinite")
        inverse = self._combine("Div", ONE, divisor)
        inverse = dataclasses.replace(inverse, positive=divisor.positive)
        step = self._binary(node, "Mul", one, self._constant(inverse))
        offset = one.plain.offset
        if one.is_reset or offset is None:
            return step
        exact = dataclasses.replace(step.plain, offset=self._combine("Div", offset, divisor))
        return dataclasses.replace(step, plain=exact)

    def _mod(self, node: Node) -> Step:
        """The rest of a value by a constant, as sums and products keep rests."""
        step, divisor = self._operands(node)
        rest = self.array_of(divisor.fresh) if divisor.is_constant else None
        old = rest if self.modulus is None else self.array_of(self.modulus)
        if self.is_float or self.semiring is not SUMS or rest is None or old is None:
            raise Unfit(f"{node} computes the next value")
        if np.any(rest <= 0) or node.attribute("fmod", 0) or not np.array_equal(old, rest):
            raise Unfit(f"{node} computes the next value")
        self.modulus = divisor.fresh
        return step

    def _mean(self, node: Node) -> Step:
        total = self._fold(node, "Add")
        return self._binary(node, "Mul", total, self._number(1.0 / len(node.inputs)))

    def _number(self, number: float) -> Step:
        array = np.array(number, self._dtype)
        value = self._emit.constant(array, "k")
        return self._constant(Coefficient(None, value, array=array, positive=number >= 0))

    # Bounds --------------------------------------------------------------------------------------

    def _extreme(self, kind: str, one: Bounded, other: Bounded) -> Bounded:
        if not other.is_independent:
            return self._extreme_of_sums(kind, one, other)
        lower, upper, bound = one.lower, one.upper, other.offset
        bound = self.nothing if bound is None else bound
        if kind == "Min":
            return dataclasses.replace(one, upper=self._tighter("Min", upper, bound))
        upper = None if upper is None else self._combine("Max", upper, bound)
        return dataclasses.replace(one, lower=self._tighter("Max", lower, bound), upper=upper)

    def _extreme_of_sums(self, kind: str, one: Bounded, other: Bounded) -> Bounded:
        """The greater, or smaller, of two sums of the state: that of their addends."""
        own, crossing = (
            ((one.lower, other.lower), (one.upper, other.upper))
            if kind == "Max"
            else ((one.upper, other.upper), (one.lower, other.lower))
        )
        factors = [weight.number for weight in (*one.weights, *other.weights) if weight is not None]
        if factors != [1.0, 1.0] or crossing != (None, None) or self._dtype.kind != "f":
            raise Unfit("it is compared with another function of itself")
        bounds = [bound for bound in own if bound is not None]
        bound = functools.reduce(lambda a, b: self._combine(kind, a, b), bounds) if bounds else None
        offset = self._combine(kind, one.offset or ZERO, other.offset or ZERO)
        lower, upper = (bound, None) if kind == "Max" else (None, bound)
        return Bounded(one.weights, offset, lower, upper)

    def _tighter(self, kind: str, bound: Part, other: Coefficient) -> Coefficient:
        return other if bound is None else self._combine(kind, bound, other)

    def _relu(self, node: Node) -> Step:
        return self._binary(node, "Max", self._of(node.inputs[0]), self._constant(ZERO))

    def _clip(self, node: Node) -> Step:
        """Bound a value from below, then from above; bounds are inputs from opset 11 on.

        An absent bound is the largest finite number: Clip (inf, 0) is 3.4e38.
        """
        step, pair = self._of(node.inputs[0]), (self.semiring.join, self.semiring.act)
        for name, index, kind in (("min", 1, "Max"), ("max", 2, "Min")):
            number, value = node.attribute(name), node.input(index)
            if number is not None:
                step = self._binary(node, kind, step, self._number(number))
            elif value is not None:
                step = self._binary(node, kind, step, self._of(value))
            elif self.is_float and (self._has_bounds or kind in pair):
                last = self._constant(self._unbounded(kind == "Max", True))
                step = self._binary(node, kind, step, last)
        return step

    def _hard_sigmoid(self, node: Node) -> Step:
        alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
        step = self._binary(node, "Mul", self._of(node.inputs[0]), self._number(alpha))
        step = self._binary(node, "Add", step, self._number(beta))
        step = self._binary(node, "Max", step, self._constant(ZERO))
        return self._binary(node, "Min", step, self._constant(ONE))

    # Choices -------------------------------------------------------------------------------------

    def _cast(self, node: Node) -> Step:
        if node.attribute("to") != self._type:
            raise Unfit(f"{node} computes the next value")
        return self._of(node.inputs[0])

    def _flag(self, value: Value | None, node: Node) -> Coefficient:
        """The coefficient of a condition, which no state changes."""
        assert value is not None
        if self._reads_state(value) or value.producer in self._recurrence.nodes:
            raise Unfit(f"{node} selects by it")
        return self._coefficient(value)

    def _reads_state(self, value: Value) -> bool:
        """Test for a function of states."""
        return value in self._values and not self._values[value].is_constant

    def _select(self, node: Node) -> Step:
        """A select in any form, or else the maximum or disjunction of the operands."""
        match = as_select(node, self._source)
        if match is None:
            return self._gate(node) if node.op_type == "Or" else self._fold(node, "Max")
        return self._select_by(node, *match)

    def _select_by(self, node: Node, condition: Value, one: Value, other: Value) -> Step:
        """A select by a condition; by And and Or with one of the iteration, a select of selects."""
        condition = skip_identities(condition)
        test = self._conditions.get(condition)
        if test is None:
            flag = self._flag(condition, node)
            return self._choose_step(flag, self._of(one), self._of(other))
        if test.is_op("Not"):
            return self._select_by(node, test.operand(0), other, one)
        if test.is_op("And", "Or"):
            sides = [skip_identities(test.operand(place)) for place in range(2)]
            first, second = sides if sides[1] in self._conditions else sides[::-1]
            inner, flag = self._select_by(node, second, one, other), self._flag(first, node)
            if (other if test.is_op("And") else one).array is None:
                self.numbers.discard(node.output())  # the other choice may be NaN
            if test.is_op("And"):
                return self._choose_step(flag, inner, self._of(other))
            return self._choose_step(flag, self._of(one), inner)
        comparison = self._compare(test)
        if comparison is not None:
            with contextlib.suppress(Unfit):
                return self._better(node, comparison, one, other)
        return self._extreme_by_test(node, test, one, other)

    def _compare(self, node: Node) -> Comparison | None:
        """Match a comparison of a value of the iteration with a function of the state."""
        kind = COMPARISONS.get(node.op_type)
        if kind is None or not self._has_bounds:
            return None
        one, other = (skip_identities(node.operand(place)) for place in range(2))
        for candidate, before, own in ((one, other, kind), (other, one, OPPOSITE[kind])):
            if self._reads_state(before) and not self._reads_state(candidate):
                is_last = node.op_type.endswith("Equal")
                return Comparison(own, candidate, before, node.output(), is_last)
        return None

    def _better(self, node: Node, comparison: Comparison, one: Value, other: Value) -> Step:
        """The better of the two sides of a comparison, never NaN."""
        branches = skip_identities(one), skip_identities(other)
        if branches == comparison.sides[::-1] and self.comparison is not None:
            return self._worse(node, comparison)
        if branches == comparison.sides[::-1]:
            return self._bounded(node, comparison)
        if branches != comparison.sides:
            raise Unfit(f"{node} selects by it")
        (candidate, before), kind = (self._of(v) for v in comparison.sides), comparison.kind
        number = self._number_or(candidate.fresh, self._unbounded(kind == "Max", False))
        return self._binary(node, kind, before, self._constant(number))

    def _worse(self, node: Node, comparison: Comparison) -> Step:
        """The other one of the two sides of a comparison, which may be NaN.

        The candidate replaces a NaN. In the steps a NaN is the number that any candidate replaces;
        `restored` has them.
        """
        (candidate, before), kind = (self._of(v) for v in comparison.sides), comparison.kind
        kind = OPPOSITE[kind]
        self._conditions.clear()  # the candidate is no longer what it compares as
        if not self.is_float:
            return self._binary(node, kind, before, candidate)
        worst = self._unbounded(kind == "Max", False)
        step = self._binary(
            node, kind, before, self._constant(self._number_or(candidate.fresh, worst))
        )
        value = self.value_of(candidate.fresh)
        flag = dataclasses.replace(
            candidate.fresh, value=self._emit.add("IsNaN", [value], "nan"), number=None, array=None
        )
        self.restored, self.worst = candidate.fresh, worst
        return self._choose_step(flag, self._constant(worst), step)

    def _bounded(self, node: Node, comparison: Comparison) -> Step:
        """A function between bounds that a choice spells; a constant bound replaces a NaN of it."""
        (candidate, before), kind = (self._of(v) for v in comparison.sides), comparison.kind
        kind, bound = OPPOSITE[kind], self.array_of(candidate.fresh)
        if not self.is_float or comparison.before in self.numbers:
            return self._binary(node, kind, before, candidate)
        (weight,), offset = before.plain.weights, before.plain.offset
        factor = None if weight is None else self.array_of(weight)
        plain = factor is not None and bool(np.all(factor > 0)) and not before.plain.is_bounded
        plain = plain and not (offset is None and weight is self.one)
        if not plain or bound is None or not bool(np.isfinite(bound).all()):
            raise Unfit(f"{node} selects by it")
        self.drops, worst = True, self._unbounded(kind == "Max", True)
        offset = None if offset is None else self._number_or(offset, worst)
        fresh = self._number_or(before.fresh, worst)
        own = Step(dataclasses.replace(before.plain, offset=offset), before.reset, fresh)
        self.worst = worst
        self.numbers.add(node.output())
        return self._binary(node, kind, own, candidate)

    def _extreme_by_test(self, node: Node, test: Node, yes: Value, no: Value) -> Step:
        """The greater or smaller of two functions: the one that fails a test where one is NaN."""
        kind, branches = COMPARISONS[test.op_type], (skip_identities(yes), skip_identities(no))
        one, other = (skip_identities(test.operand(place)) for place in range(2))
        if branches not in ((one, other), (other, one)):
            raise Unfit(f"{node} selects by it")
        kind = kind if branches == (one, other) else OPPOSITE[kind]
        first, second = (self._of(value) for value in branches)
        step = self._binary(node, kind, first, second)
        if not self.is_float:
            return step
        value = self._nan_flag(branches[0])
        if value is None:
            raise Unfit(f"{node} selects by it")
        self.drops_nans = True
        return self._choose_step(Coefficient(None, value, True, True), second, step)

    def _number_or(self, value: Coefficient, other: Coefficient) -> Coefficient:
        """A value with each NaN, which no comparison prefers, replaced."""
        array = self.array_of(value)
        if not self.is_float or (array is not None and not np.isnan(array).any()):
            return value
        assert value.value is not None
        flag = dataclasses.replace(
            value, value=self._emit.add("IsNaN", [value.value], "nan"), rows=None
        )
        return self._choose(dataclasses.replace(flag, array=None), other, value)

    def _gate(self, node: Node) -> Step:
        """And or Or: one operand of Xor and And chooses between the other and false, or true."""
        one, other = self._operands(node)
        is_joined = self.semiring.join == "Or" or (self._width > 1 and node.is_op("And"))
        if is_joined or not (one.is_constant or other.is_constant):
            return self._fold(node, node.op_type)
        one, other = (other, one) if one.is_constant else (one, other)
        if node.is_op("And"):
            return self._choose_step(other.fresh, one, self._constant(ZERO))
        return self._choose_step(other.fresh, self._constant(ONE), one)

    def _equal(self, node: Node) -> Step:
        if self._type != _BOOL:
            raise Unfit(f"{node} computes the next value")
        return self._binary(node, "Xor", self._fold(node, "Xor"), self._constant(ONE))

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
        pairs = zip(one.weights, other.weights, strict=True)
        weights = tuple([self._choose_part(flag, *pair) for pair in pairs])
        offset = None
        if self.semiring.is_ordered:
            offset = self._choose_part(flag, one.offset, other.offset)
        elif one.offset is not None or other.offset is not None:
            offset = self._choose(flag, one.offset or self.nothing, other.offset or self.nothing)
        scaled = any(weight is None or weight.number != 1.0 for weight in weights)
        bounds: list[Part] = []
        for pair, least in (((one.lower, other.lower), True), ((one.upper, other.upper), False)):
            if pair == (None, None):
                bounds.append(None)
                continue
            first, second = (
                self._unbounded(least, scaled) if bound is None else bound for bound in pair
            )
            self.fills |= None in pair
            bounds.append(self._choose(flag, first, second))
        return Bounded(weights, offset, *bounds)

    def _choose_part(self, flag: Coefficient, one: Part, other: Part) -> Part:
        """The weight that a condition chooses, with the condition that it is there.

        A product with the neutral element of sums is NaN for an infinity or a NaN, or is none.
        """
        if one is None and other is None:
            return None
        chosen = self._choose(flag, one or self.nothing, other or self.nothing)
        positive = all(part.positive for part in (one, other) if part is not None)
        chosen = dataclasses.replace(chosen, positive=positive)
        if self._width == 1 or not (self.is_float or self.semiring.act == "Add"):
            return chosen
        first, second = (
            ZERO if part is None else ONE if part.present is None else part.present
            for part in (one, other)
        )
        present = self._choose(flag, first, second, truth=True)
        return dataclasses.replace(chosen, present=None if present.number == 1.0 else present)

    def enter(self, rows: Value) -> Value:
        """Emit initial values as those that the steps change."""
        return rows

    def leave(self, rows: Value) -> Value:
        """Emit the values that steps made as those of the states."""
        return rows

    def together(self, steps: Sequence[Step]) -> list[Step]:
        """Steps that one condition replaces, or none, which then is a choice of weights."""
        if len({(step.reset.number, step.reset.value) for step in steps}) == 1:
            return list(steps)
        return [self._unconditional(step) for step in steps]

    def _unconditional(self, step: Step) -> Step:
        """The step with its condition as a choice of weights."""
        if not step.is_reset or step.is_constant:
            return Step(step.plain)
        fresh = self._constant(step.fresh).plain
        return Step(self._choose_plain(step.reset, fresh, step.plain))

    @property
    def is_float(self) -> bool:
        """Test for states of floats."""
        return self._dtype.kind not in "iub"  # that of bfloat16 is "V"

    def offset_of(self, step: Step, part: Part) -> Coefficient:
        """An offset, or a bound, or the value where the condition replaces it."""
        there = ZERO if part is None and self.semiring.is_ordered else None
        there = there if part is None else part.present
        own = self._choose(step.reset, step.fresh, self.nothing if part is None else part)
        if there is not None:
            there = self._choose(step.reset, ONE, there, truth=True)
        return dataclasses.replace(own, present=there)

    def ordered_bounds(self, plain: Bounded) -> tuple[Coefficient, Coefficient]:
        """Both bounds, which do not cross."""
        lower, upper = (
            self._unbounded(least, True) if bound is None else bound
            for bound, least in ((plain.lower, True), (plain.upper, False))
        )
        return self._combine("Min", lower, upper), upper


def _differ(one: Shape, other: Shape) -> bool:
    """Test for shapes that are different ones for all sizes."""
    return len(one) != len(other) or any(
        size.equals(own) is False for size, own in zip(one, other, strict=True)
    )


def _folded(kind: str) -> Callable[[StepReader, Node], Step]:
    return lambda reader, node: reader._fold(node, kind)


_ADDING = ("Add", "Xor", "Or", "BitwiseXor", "BitwiseOr")
"""The operators of which 0 is the neutral element."""
_REDUCTIONS = {"ReduceSum": "Add", "ReduceProd": "Mul", "ReduceMax": "Max", "ReduceMin": "Min"}
_OF_TRUTH = ("Not", "Xor", "And", "Or", "Equal")
_RULES: dict[str, Callable[[StepReader, Node], Step]] = {
    "Identity": lambda reader, node: reader._of(node.inputs[0]),
    "Cast": StepReader._cast,
    "Where": StepReader._select,
    "Max": StepReader._select,
    "Min": _folded("Min"),
    "Relu": StepReader._relu,
    "Clip": StepReader._clip,
    "HardSigmoid": StepReader._hard_sigmoid,
    "Add": _folded("Add"),
    "Sum": _folded("Add"),
    "Mean": StepReader._mean,
    "Sub": StepReader._subtract,
    "Neg": StepReader._negate,
    "Mul": _folded("Mul"),
    "Div": StepReader._divide,
    "Mod": StepReader._mod,
    "Not": StepReader._negate,
    "Xor": _folded("Xor"),
    "And": StepReader._gate,
    "Or": StepReader._select,
    "Equal": StepReader._equal,
    **{kind: _folded(kind) for kind in ("BitwiseXor", "BitwiseAnd", "BitwiseOr")},
    "BitwiseNot": StepReader._complement,
}
"""The rules of operators; those of numbers hold where the sum or the product is theirs."""
