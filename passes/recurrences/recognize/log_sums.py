"""States as logarithms of sums of exponentials: s' = f log (exp (s / f + d) + exp (x) + ...).

Each value of an iteration is a sum of exponentials, or the logarithm of one, times a factor:

a = Exp (s)                    sum {s}
b = Exp (e)                    sum {e}
c = Add (a, b)                 sum {s, e}
t = Log (c)                    log {s, e}         s + Softplus (e - s) is log {s, e}, too

What is added to a logarithm is added to all exponents. The scale m of m + log (exp (s - m) + ...)
is an atom that vanishes, whatever it is; max (s, e) is e + relu (s - e), so that |s - e| and
min (s, e) are known by it. What is left is an iteration over a row of `semirings`: the sum
log (exp (a) + exp (b)), and the product +.
"""

import functools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....ir import Node, Value
from ....records import record
from ...iteration.loop_view import State
from ..layers import required_input
from ..weights import Unfit
from .coefficients import ZERO, Coefficient
from .extents import number_of
from .joined_values import joined_values
from .normal_form import Bounded, Step
from .polynomials import Activation, Atoms, Free, StateAtom, Sum, number
from .recurrence import Recurrence
from .semirings import COMPARISONS, LOGARITHMS
from .step_functions import StepReader

_ZERO = number(0.0)
_NO_LOG = "it is not a logarithm of a sum"


@record(frozen=True)
class Logs:
    """A logarithm of a sum of exponentials, times a factor, or the sum itself.

    Attributes:
        exponents: the exponents; a single one has no other factor than 1.
        is_sum: true for the sum itself.
    """

    exponents: tuple[Sum, ...]
    factor: float = 1.0
    is_sum: bool = False

    @property
    def alone(self) -> Sum | None:
        """The only exponent of a logarithm, which is the value; None for others."""
        return self.exponents[0] if len(self.exponents) == 1 and not self.is_sum else None


class LogReader(StepReader):
    """The functions that an iteration applies to states, as logarithms of sums.

    Attributes:
        is_plain: true if exponentials are added without a scale, so that they may overflow.
    """

    def __init__(self, recurrence: Recurrence, fact: Fact) -> None:
        super().__init__(recurrence, fact, LOGARITHMS)
        self._atoms = Atoms()
        self._own = recurrence.inside
        self._symbols: dict[Value, Logs] = {}
        self._tests: dict[Value, Sum] = {}
        self._choices: dict[Value, tuple[Coefficient, Value, Value]] = {}
        self.factor = 1.0
        self.is_plain = True

    def read(self) -> list[Step]:
        """The function that an iteration applies, for each state.

        Raises:
            Unfit: no function of the normal form.
        """
        states = self._recurrence.states
        for state in states:
            self._symbols[state.argument] = Logs((self._atoms.of(StateAtom(state)),))
        self._visit_all()
        self.progress = 0  # any node has a symbol, which explains nothing
        ends = [skip_identities(state.result) for state in states]
        factors = {one.factor for end in ends for one in self._leaves(end) if one.alone is None}
        if len(factors) != 1:
            raise Unfit(_NO_LOG)
        (self.factor,) = factors
        return [self._step(end) for end in ends]

    def enter(self, rows: Value) -> Value:
        """Emit initial values without the factor."""
        return rows if self.factor == 1.0 else self._scale_rows(rows, 1.0 / self.factor)

    def leave(self, rows: Value) -> Value:
        """Emit values with the factor."""
        return rows if self.factor == 1.0 else self._scale_rows(rows, self.factor)

    def _scale_rows(self, rows: Value, factor: float) -> Value:
        return self._emit.add("Mul", [rows, self._emit.number(factor, self._type, "k")], "scaled")

    # Symbols -------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        self._symbols[node.output()] = self._interpret(node)

    def _symbol(self, operand: Value | None) -> Logs:
        value = self._present(operand)
        if value not in self._symbols:
            self._symbols[value] = self._outside(value)
        return self._symbols[value]

    def _outside(self, value: Value) -> Logs:
        """The symbol of a value that no state changes."""
        own, node = number_of(value), value.producer
        if own is not None and math.isfinite(own):
            return Logs((number(own),))
        inside = node is not None and node.graph is self._recurrence.iterations.loop_view.body
        if node is not None and inside and node.is_op("Exp"):
            return Logs((self._free(required_input(node, 0)),), is_sum=True)
        return Logs((self._free(value),))

    def _free(self, value: Value) -> Sum:
        return self._atoms.of(Free(value, 0))

    def _interpret(self, node: Node) -> Logs:
        joined = joined_values(node, self._recurrence.fact)
        if joined is not None and node.op_type in _REDUCTIONS:
            return self._apply(_REDUCTIONS[node.op_type], joined)
        if self._recurrence.fact(node.output()).shape != self._shape:
            raise Unfit(f"{node} may change its shape")
        plain = not node.domain and not node.op.references
        test = COMPARISONS.get(node.op_type) if plain else None
        if test is not None:
            one, other = (_alone(self._symbol(value)) for value in node.inputs)
            self._tests[node.output()] = one - other if test == "Max" else other - one
            raise Unfit(f"{node} selects by it")
        if plain and node.is_op("Where"):
            return self._choice(node)
        rule = _RULES.get(node.op_type) if plain else None
        if rule is None or (node.is_op("Cast") and node.attribute("to") != self._type):
            return Logs((self._free(node.output()),))
        return self._apply(rule, node.inputs)

    def _apply(self, rule: "Rule", values: Sequence[Value | None]) -> Logs:
        """Apply an operation to one operand, or to several from left to right."""
        symbols = [self._symbol(value) for value in values]
        if len(symbols) == 1:
            return rule(self, *symbols)
        return functools.reduce(functools.partial(rule, self), symbols)

    def _choice(self, node: Node) -> Logs:
        """The greater or smaller of two values; the step has choices by the iteration."""
        condition, one, other = (skip_identities(node.operand(place)) for place in range(3))
        if condition not in self._tests:
            self._choices[node.output()] = (self._flag(condition, node), one, other)
            raise Unfit(f"{node} computes the next value")
        first, second = (_alone(self._symbol(value)) for value in (one, other))
        test = self._tests[condition]
        if first - second == test:
            return Logs((second + self._positive_part(test),))
        if second - first == test:
            return Logs((second - self._positive_part(test),))
        raise Unfit(f"{node} selects by it")

    # Bounds as atoms -----------------------------------------------------------------------------

    def _positive_part(self, total: Sum) -> Sum:
        """max (total, 0), as an atom of which the first factor is positive."""
        first = min((monomial for monomial in total.terms if monomial), default=None)
        if first is None:
            return number(max(total.terms.get((), 0.0), 0.0))
        self.is_plain = False
        if total.terms[first] < 0:
            return total + self._positive_part(total.times(-1.0))
        return self._atoms.of(Activation("Relu", 0.0, 0.0, total))

    def maximum(self, one: Logs, other: Logs) -> Logs:
        """The greater of two values."""
        first, second = _alone(one), _alone(other)
        return Logs((second + self._positive_part(first - second),))

    def minimum(self, one: Logs, other: Logs) -> Logs:
        """The smaller of two values."""
        first, second = _alone(one), _alone(other)
        return Logs((first - self._positive_part(first - second),))

    def magnitude(self, one: Logs) -> Logs:
        """The magnitude of a value."""
        total = _alone(one)
        return Logs((self._positive_part(total).times(2.0) - total,))

    def softplus(self, one: Logs) -> Logs:
        """log (exp (x) + 1)."""
        return self.logarithm(one, Logs((_ZERO,)))

    def logarithm(self, one: Logs, other: Logs) -> Logs:
        """log (exp (x) + exp (y)), with a scale of its own."""
        self.is_plain = False
        return _logs([*_exponential(one).exponents, *_exponential(other).exponents])

    # Steps ---------------------------------------------------------------------------------------

    def _leaves(self, value: Value) -> list[Logs]:
        """The values between which the iteration chooses."""
        if value not in self._choices:
            return [self._symbol(value)]
        return [leaf for branch in self._choices[value][1:] for leaf in self._leaves(branch)]

    def _step(self, value: Value) -> Step:
        if value in self._choices:
            flag, *branches = self._choices[value]
            return self._choose_step(flag, *[self._step(branch) for branch in branches])
        symbol = self._symbol(value)
        if symbol.is_sum:
            raise Unfit(_NO_LOG)
        exponents = symbol.exponents
        if symbol.alone is not None:
            exponents = (symbol.alone.times(1.0 / self.factor),)
        weights: list[Coefficient | None] = [None] * len(self._recurrence.states)
        offset: Coefficient | None = None
        for exponent in _without_scales(self._atoms, exponents):
            state, addend = self._split(exponent)
            if state is None:
                offset = self._sum(offset, addend)
            else:
                index = self._recurrence.states.index(state)
                weights[index] = self._sum(weights[index], addend)
        if all(weight is None for weight in weights):
            return self._constant(offset)
        return Step(Bounded(tuple(weights), offset))

    def _split(self, exponent: Sum) -> tuple[State | None, Coefficient]:
        """The state in an exponent, and the sum of the other terms."""
        state, total = None, ZERO
        for monomial, factor in exponent.terms.items():
            atom, own = self._atoms.alone(monomial), Coefficient(1.0)
            if isinstance(atom, StateAtom) and state is None and _near(factor * self.factor):
                state = atom.state
                continue
            if isinstance(atom, Free) and atom.value not in self._own:
                own = self._coefficient(atom.value)
            elif monomial:
                raise Unfit(_NO_LOG)
            if not _near(factor):
                own = self._product(own, self._number(factor).fresh)
            total = self._plus(total, own)
        return state, total


def _near(one: float) -> bool:
    """Test for the number 1, up to rounding."""
    return math.isclose(one, 1.0, rel_tol=1e-6)


def _without_scales(atoms: Atoms, exponents: Sequence[Sum]) -> list[Sum]:
    """Exponents, of which {max (d, 0), min (d, 0)} are {d, 0}."""
    own = list(exponents)
    for one in exponents:
        for monomial, factor in one.terms.items():
            atom, scale = atoms.alone(monomial), Sum({monomial: 1.0})
            if not isinstance(atom, Activation) or factor != 1.0:
                continue
            other = one - scale - scale + atom.argument
            if one in own and other in own:
                own = [each for each in own if each not in (one, other)]
                own += [one - scale, one - scale + atom.argument]
    return own


# Operations --------------------------------------------------------------------------------------


def _logs(exponents: Iterable[Sum], factor: float = 1.0, is_sum: bool = False) -> Logs:
    """A normal form: equal exponents become one, and a single one takes the factor."""
    own: dict[Sum, float] = {}
    for exponent in exponents:
        constant = exponent.terms.get((), 0.0)
        rest = exponent - number(constant)
        own[rest] = float(np.logaddexp(own[rest], constant)) if rest in own else constant
    joined = tuple(rest + number(constant) for rest, constant in own.items())
    if len(joined) == 1 and not is_sum:
        return Logs((joined[0].times(factor),))
    return Logs(joined, factor, is_sum)


def _alone(one: Logs) -> Sum:
    """The value of a logarithm of one exponential.

    Raises:
        Unfit: another sum.
    """
    if one.alone is None:
        raise Unfit("a sum of exponentials is compared or subtracted")
    return one.alone


def _as_sum(one: Logs) -> Logs:
    """A sum of exponentials, or a positive number."""
    value = None if one.alone is None else one.alone.number
    if one.is_sum:
        return one
    if value is None or value <= 0:
        raise Unfit("a sum of exponentials has another addend or factor")
    return Logs((number(math.log(value)),), is_sum=True)


def _exponential(one: Logs) -> Logs:
    if one.is_sum or one.factor != 1.0:
        raise Unfit("a sum of exponentials is not an exponent")
    return Logs(one.exponents, is_sum=True)


def _times(one: Logs, factor: float) -> Logs:
    if one.is_sum:
        raise Unfit("a sum of exponentials is compared or subtracted")
    return _logs(one.exponents, one.factor * factor)


def _added(one: Logs, other: Logs) -> Logs:
    if one.is_sum or other.is_sum:
        return _logs([*_as_sum(one).exponents, *_as_sum(other).exponents], is_sum=True)
    if other.alone is None:
        one, other = other, one
    moved = _alone(other).times(1.0 / one.factor)
    return _logs([exponent + moved for exponent in one.exponents], one.factor)


def _multiplied(one: Logs, other: Logs) -> Logs:
    if one.is_sum or other.is_sum:
        pairs = [a + b for a in _as_sum(one).exponents for b in _as_sum(other).exponents]
        return _logs(pairs, is_sum=True)
    if other.alone is None or not other.alone.number:
        one, other = other, one
    factor = _alone(other).number
    if not factor:
        raise Unfit("a logarithm has a factor that is not a number")
    return _times(one, factor)


def _divided(one: Logs, other: Logs) -> Logs:
    if other.is_sum and len(other.exponents) == 1:
        return _multiplied(one, Logs((other.exponents[0].times(-1.0),), is_sum=True))
    divisor = _alone(other).number
    if not divisor:
        raise Unfit("a logarithm has a divisor that is not a number")
    return _multiplied(one, Logs((number(1.0 / divisor),)))


Rule = Callable[..., Logs]
"""The operation of a reader on operands."""
_REDUCTIONS: dict[str, Rule] = {
    "ReduceSum": lambda reader, one, other: _added(one, other),
    "ReduceMax": LogReader.maximum,
    "ReduceMin": LogReader.minimum,
    "ReduceLogSumExp": LogReader.logarithm,
}
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("Identity", "Cast"), lambda reader, one: one),
    "Exp": lambda reader, one: _exponential(one),
    "Log": lambda reader, one: _logs(_as_sum(one).exponents),
    "Softplus": LogReader.softplus,
    "Neg": lambda reader, one: _times(one, -1.0),
    **dict.fromkeys(("Add", "Sum"), lambda reader, one, other: _added(one, other)),
    "Sub": lambda reader, one, other: _added(one, _times(other, -1.0)),
    "Mul": lambda reader, one, other: _multiplied(one, other),
    "Div": lambda reader, one, other: _divided(one, other),
    "Max": LogReader.maximum,
    "Min": LogReader.minimum,
    "Relu": lambda reader, one: reader.maximum(one, Logs((_ZERO,))),
    "Abs": LogReader.magnitude,
}
"""The rules of operators; another operator makes an atom, which must vanish."""
