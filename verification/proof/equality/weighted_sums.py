"""States s' = a * s + b with a fixed factor: their last one is a sum weighted by powers.

    s[n] = a^n * s[0] + sum of a^(n - 1 - t) * b[t]

That holds for every a, with a^0 = 1, also for 0. It is the sum of what each iteration adds, so that
it suffices that each state is `a * s + b` of the one before. Floats are added in another order: the
rule is one of the reals.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from ....facts.fact import Shape, element
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ..reals.real_terms import FLOATS, strip
from ..terms.free_variables import binding
from ..terms.term import Pair, Term, descendants
from .induction import Induction
from .substitution import instantiate_iteration

_OPSET = 13
_EXPONENTS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64)


class WeightedSums:
    """Rule of comparison for weighted sums.

    Args:
        induction: rules for the states of recurrences.
        over_reals: whether floats that are equal over the reals are equal.
    """

    def __init__(self, induction: Induction, over_reals: bool) -> None:
        self._terms, self._pushdown = induction.terms, induction.pushdown
        self._induction, self._over_reals = induction, over_reals

    def equal(self, one: Term, other: Term) -> list[Pair] | None:
        """State after all iterations, and a weighted sum."""
        for final, whole in ((one, other), (other, one)):
            if not self._over_reals or final.head.name != "final":
                continue
            pairs = self._pairs(final, whole)
            if pairs is not None:
                return pairs if final is one else [(b, a) for a, b in pairs]
        return None

    def _pairs(self, final: Term, whole: Term) -> list[Pair] | None:
        recurrence, k = final.operands[0], final.head.key
        bound, iterations = binding(recurrence), self._induction.iterations(recurrence)
        init, shape = recurrence.args[2 + k], final.fact.shape
        if (
            bound is None
            or iterations is None
            or init is None
            or final.fact.elem_type not in FLOATS
        ):
            return None
        if shape is None or init.fact.shape != shape or bound.states[k].fact.shape != shape:
            return None
        for added, start in _both_ways(_bare(whole), "Add"):
            begin_and_base = self._start(start, iterations, shape)
            if begin_and_base is None or not _are_aligned(added, start):
                continue
            begin, base = begin_and_base
            index = self._induction.symbol(iterations)
            row = self._row(added, iterations, index)
            if row is None or row.fact.shape != (ONE, *shape) or not _are_aligned(_bare(row), row):
                continue
            for power, value in _both_ways(_bare(row), "Mul"):
                own = self._base(power, iterations - 1 - index)
                if own is None or own is not base or depends_on(own, index):
                    continue
                state = instantiate_iteration(self._terms, recurrence, bound.states[k], index)
                update = recurrence.head.parts[k]
                after = instantiate_iteration(self._terms, recurrence, update, index)
                scaled = self._terms.op("Mul", _OPSET, own, self._terms.view(state, row.shape))
                expected = self._terms.op("Add", _OPSET, scaled, value)
                if expected.fact.shape == row.shape:
                    return [(init, begin), (after, self._terms.view(expected, shape))]
        return None

    def _start(self, start: Term, iterations: Dimension, shape: Shape) -> Pair | None:
        """Initial state and base of a^n * s[0]; None for another term."""
        scaled = _bare(start)
        for power, begin in _both_ways(scaled, "Mul"):
            base = self._base(power, iterations)
            if base is not None and begin.fact.shape == shape and _are_aligned(scaled, begin):
                return begin, base
        return None

    def _base(self, power: Term, exponent: Dimension) -> Term | None:
        """Base of a power with an exponent, a number of iterations; None for another term.

        It has the shape of the power but for leading axes of size 1.
        """
        whole, power = power, _bare(power)
        if not power.is_op("Pow") or not _are_aligned(whole, power):
            return None
        base, number = power.operands
        if not _are_aligned(base, power) or number.fact.shape is None or strip(number.shape):
            return None
        number = self._pushdown.settled(number)
        while number.head.name == "view" or number.is_op("Cast"):
            if number.fact.elem_type not in _EXPONENTS:
                return None
            number = number.operands[0]
        content = None if number.fact.content is None else element(number.fact)
        if content != exponent or base.fact.shape is None:
            return None
        return self._pushdown.settled(self._terms.view(base, strip(base.shape)))

    def _row(self, added: Term, iterations: Dimension, index: Dimension) -> Term | None:
        """Row of the summands of a sum along the first axis."""
        total = _bare(added)
        if not total.is_op("ReduceSum") or list(total.head.attribute("axes") or ()) != [0]:
            return None
        values = total.operands[0]
        if len(total.args) != 1 or not values.fact.shape or values.shape[0] != iterations:
            return None
        return self._pushdown.of(values, 0, index, ONE)


def _both_ways(term: Term, op_type: str) -> Iterator[Pair]:
    """Operands of a commutative operator in both orders; none for another term."""
    if term.is_op(op_type) and len(term.args) == 2:
        one, other = term.operands
        yield one, other
        yield other, one


def _are_aligned(one: Term, other: Term) -> bool:
    """Test for equal shapes but for leading axes of size 1."""
    if one.fact.shape is None or other.fact.shape is None:
        return False
    return strip(one.shape) == strip(other.shape)


def _bare(term: Term) -> Term:
    """Term below its views."""
    while term.head.name == "view":
        term = term.operands[0]
    return term


def depends_on(term: Term, index: Dimension) -> bool:
    """Test whether a size in a term holds the symbol of an iteration."""
    (name,) = index.symbols
    for part in descendants([term]):
        sizes = list(part.fact.shape or ())
        if part.fact.content is not None:
            sizes += list(part.fact.content.reshape(-1))
        if any(isinstance(size, Dimension) and name in size.symbols for size in sizes):
            return True
    return False
