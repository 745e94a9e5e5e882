"""States of which an iteration makes a fraction with constant coefficients, as Kalman filters do.

k = Div (s, Add (s, r))
s' = Mul (Sub (1, k), s) + q             s' = (a s + b) / (c s + d)

Fractions compose as matrices [[a, b], [c, d]] do. The powers of a positive matrix are, up to a
factor, P + w^k Q with its two projections, where w is the ratio of its eigenvalues; so all values
follow from that of the first iteration, which the nodes of the loop compute. Numbers of at least 0
stay finite, as in the loop; below, the first iteration may divide by 0, and the next ones must make
NaN of the infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....facts.types import PLAIN_FLOATS
from ....ir import Value
from ...utils.select import select
from ..weights import Unfit
from .extents import Extents, number_of
from .recurrence import Recurrence, Replacement
from .reductions import describe

_OTHER = "it is not a fraction with constant coefficients"
_MOST_RATIO = 0.98
"""The largest ratio of eigenvalues: beyond, the projections cancel."""
_NEAR = 1e-12
"""The relative size of a coefficient that cancels."""


_Polynomial = npt.NDArray[np.floating[Any]]


class _Fraction(NamedTuple):
    """A fraction of polynomials in the state, the highest power first."""

    top: _Polynomial
    bottom: _Polynomial

    def plus(self, other: _Fraction, sign: float = 1.0) -> _Fraction:
        """The sum, or the difference."""
        if np.array_equal(self.bottom, other.bottom):
            return _Fraction(_sum(self.top, sign * other.top), self.bottom)
        return _Fraction(
            _sum(np.polymul(self.top, other.bottom), sign * np.polymul(other.top, self.bottom)),
            np.polymul(self.bottom, other.bottom),
        )

    def times(self, other: _Fraction) -> _Fraction:
        """The product, in which equal factors cancel."""
        top, bottom = self.top, self.bottom
        if np.array_equal(top, other.bottom):
            return _Fraction(other.top, bottom)
        if np.array_equal(bottom, other.top):
            return _Fraction(top, other.bottom)
        return _Fraction(np.polymul(top, other.top), np.polymul(bottom, other.bottom))

    def inverse(self) -> _Fraction:
        """The fraction with its sides exchanged.

        Raises:
            Unfit: the divisor may be 0 for a positive number.
        """
        if np.any(self.top < 0) or not self.top.any():
            raise Unfit(_OTHER)
        return _Fraction(self.bottom, self.top)


def _sum(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    total = np.polyadd(one, other)
    size = np.polyadd(np.abs(one), np.abs(other))
    return np.trim_zeros(np.where(np.abs(total) <= _NEAR * size, 0.0, total), "f")


_Rule = tuple[Callable[..., _Fraction], Callable[..., npt.NDArray[np.float64]]]
"""A function of fractions, and the same of numbers."""
_RULES: dict[str, _Rule] = {
    "Identity": (lambda one: one, np.positive),
    "Reciprocal": (lambda one: one.inverse(), np.reciprocal),
    "Add": (lambda one, other: one.plus(other), np.add),
    "Sub": (lambda one, other: one.plus(other, -1.0), np.subtract),
    "Mul": (lambda one, other: one.times(other), np.multiply),
    "Div": (lambda one, other: one.times(other.inverse()), np.divide),
}


def raise_fraction(recurrence: Recurrence) -> Replacement:
    """Replace a state of which each iteration makes the same fraction."""
    (state, *others), emit, feeding = recurrence.states, recurrence.emit, recurrence.feeding
    fact = recurrence.state_fact
    if others or fact.elem_type not in PLAIN_FLOATS or fact.shape is None:
        raise Unfit(_OTHER)
    matrix, divides = _matrix(recurrence)
    least = Extents(recurrence).of(state.initial)[0]
    is_open = not least >= 0
    if (divides and not (least > 0 and matrix[0, 1] > 0)) or (is_open and _recovers(recurrence)):
        raise Unfit("it is a fraction, whose denominator may be 0 for its initial value")
    recurrence.require_room(fact)
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-np.abs(values))
    ratio = float(values[order[1]] / values[order[0]])
    if not abs(ratio) <= _MOST_RATIO:
        raise Unfit("it is a fraction that converges too slowly")
    inverse = np.linalg.inv(vectors)
    stays, fades = (np.outer(vectors[:, at], inverse[at]) for at in order)
    (first,) = recurrence.again()
    places = feeding.numbers(feeding.iterations)
    exponents = emit.add("Cast", [places], "exponents", to=fact.elem_type)
    exponents = emit.lift(exponents, len(fact.shape), "exponents")

    def combine(op_type: str, number: float, other: Value, label: str) -> Value:
        return emit.add(op_type, [emit.number(number, fact.elem_type, "k"), other], label)

    powers, sides = combine("Pow", ratio, exponents, "powers"), []
    for row in range(2):
        fading = [combine("Mul", fades[row, at], powers, "w") for at in range(2)]
        factor, addend = (combine("Add", stays[row, at], fading[at], "power") for at in range(2))
        sides.append(emit.add("Add", [emit.add("Mul", [factor, first], "p"), addend], "side"))
    every = emit.add("Div", sides, state.result.name)
    if is_open:  # of an infinity the quotient is NaN
        start = emit.add("Equal", [places, emit.integer(0, "k")], "start")
        start = emit.lift(start, len(fact.shape), "start")
        every = select(emit, start, first, every, fact.elem_type, state.result.name, state.result)
    return Replacement(describe("powers of a fraction", False), False, {state: every})


def _recovers(recurrence: Recurrence) -> bool:
    """Test for an iteration that makes a number of an infinity."""
    own = {recurrence.states[0].argument: np.array([np.inf, -np.inf])}
    with np.errstate(all="ignore"):
        for node in recurrence.nodes:
            operands = [own[v] if v in own else number_of(v) for v in node.inputs if v is not None]
            own[node.output()] = _RULES[node.op_type][1](*operands)
    return not np.isnan(own[recurrence.states[0].result]).all()


def _matrix(recurrence: Recurrence) -> tuple[_Polynomial, bool]:
    """The coefficients of an iteration: those above, then those below.

    The flag is true if it divides by a multiple of the state.

    Raises:
        Unfit: no fraction of positive numbers.
    """
    (state,) = recurrence.states
    one = np.ones(1)
    own = {state.argument: _Fraction(np.array([1.0, 0.0]), one)}

    def fraction(value: Value | None) -> _Fraction:
        if value in own:
            return own[value]
        number = None if value is None else number_of(value)
        if number is None:
            raise Unfit(_OTHER)
        return _Fraction(np.array([number]), one)

    shape, divides = recurrence.fact(state.argument).shape, False
    for node in recurrence.nodes:
        rule = None if node.domain or node.op.references else _RULES.get(node.op_type)
        if rule is None or recurrence.fact(node.output()).shape != shape:
            raise Unfit(_OTHER)
        operands = [fraction(value) for value in node.inputs]
        divides |= node.is_op("Div", "Reciprocal") and not operands[-1].top[-1]
        own[node.output()] = rule[0](*operands)
    sides = own[state.result]
    if any(len(side) > 2 or not np.isfinite(side).all() for side in sides):
        raise Unfit(_OTHER)
    matrix = np.array([np.pad(side, (2 - len(side), 0)) for side in sides])
    scale = float(np.abs(matrix).max())
    matrix = matrix / scale * (1.0 if matrix[1, 1] >= 0 else -1.0) if scale else matrix
    # Below there is no 0, and all values lie between both quotients.
    if np.any(matrix < 0) or not matrix[1].all():
        raise Unfit(_OTHER)
    return matrix, divides
