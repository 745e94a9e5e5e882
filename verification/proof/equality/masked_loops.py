"""Loops of other lengths: n iterations are m of them, of which a mask keeps the first n.

    s' = f (s), n times          s' = Where (j < n, f (s), s), m times, for m of at least n

The longer one runs all rows of an outer loop at once: m is the maximum of their trip counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ....facts.fact import element
from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..arithmetic.inequalities import is_never_negative
from ..arithmetic.trip_counts import not_negative, number_of
from ..terms.free_variables import binding
from ..terms.term import Pair, Term, below_view, descendants
from .induction import Induction
from .new_recurrences import new_recurrence
from .substitution import Substitution

_OPSET = 13


class MaskedLoops:
    """Rule of comparison for final states of loops whose trip counts differ.

    Args:
        induction: rules for the states of recurrences.
    """

    def __init__(self, induction: Induction) -> None:
        self._induction, self._terms = induction, induction.terms
        self._pushdown = induction.pushdown

    def equal(self, one: Term, other: Term) -> list[Pair] | None:
        """Final state of the shorter loop as that of a longer one."""
        a, b = below_view(one), below_view(other)
        if a.head.name != "final" or b.head.name != "final" or one.fact.shape != other.fact.shape:
            return None
        count, other_count = (self._induction.iterations(each.operands[0]) for each in (a, b))
        if count is None or other_count is None or count == other_count:
            return None
        if self._is_at_most(count, other_count):
            masked = self._lengthened(a, self._limit(count, b.operands[0]), other_count)
            return masked and [(self._terms.view(masked, one.shape), other)]
        if self._is_at_most(other_count, count):
            masked = self._lengthened(b, self._limit(other_count, a.operands[0]), count)
            return masked and [(one, self._terms.view(masked, one.shape))]
        return None

    def _limit(self, count: Dimension, masked: Term) -> Term:
        """Trip count max(n, 0), or n where the mask of the other loop compares that.

        No iteration is less than either where n is negative."""
        number = number_of(self._terms, count)
        compared = (term for term in descendants(masked.head.parts) if term.is_op("Less"))
        forms = (self._pushdown.settled(each.operands[1]) for each in compared)
        is_long = number is not None and number.fact.elem_type == onnx.TensorProto.INT64
        if not is_long or any(element(form.fact) == count for form in forms):
            return self._terms.size(count)
        assert number is not None
        return self._terms.view(number, ())

    def _lengthened(self, final: Term, limit: Term, longer: Dimension) -> Term | None:
        """Final state of the same loop with more iterations, in which states stay."""
        recurrence, terms = final.operands[0], self._terms
        bound = binding(recurrence)
        if bound is None or None in recurrence.args[2:]:
            return None
        updates = recurrence.head.parts[: len(bound.states)]
        triples = zip(bound.states, recurrence.operands[2:], updates, strict=True)
        shapes = [{each.fact.shape for each in triple} for triple in triples]
        if any(len(alike) > 1 or None in alike for alike in shapes):
            return None

        def update(states: Sequence[Term], index: Dimension) -> list[Term]:
            leaves = dict(zip(bound.states, states, strict=True))
            step = Substitution(terms, leaves, {bound.index: index})
            runs = terms.op("Less", _OPSET, terms.size(index), limit)
            return [
                terms.op("Where", _OPSET, terms.view(runs, (ONE,) * len(s.shape)), step.of(u), s)
                for s, u in zip(states, updates, strict=True)
            ]

        inits = recurrence.operands[2:]
        longer_loop = new_recurrence(terms, longer, inits, update, (recurrence, limit))
        return longer_loop.final(final.head.key)

    def _is_at_most(self, count: Dimension, longer: Dimension) -> bool:
        """Test whether a trip count never exceeds another one."""
        if is_never_negative(self._terms, longer - count):
            # Of equal trip counts other rules take care.
            return not is_never_negative(self._terms, count - longer)
        most, number = (number_of(self._terms, each) for each in (longer, count))
        if most is None or number is None or not most.is_op("ReduceMax") or len(most.args) != 1:
            return False
        (all_of,) = most.operands
        if number.head.name != "narrow" or number.head.key != 0 or not all_of.fact.shape:
            return False
        whole, start, _ = number.operands
        if product(all_of.shape) != all_of.shape[0] or len(whole.shape) != 1:
            return False
        # The position is one of the shorter axis.
        if not is_never_negative(self._terms, all_of.shape[0] - whole.shape[0]):
            return False
        part = self._pushdown.of(all_of, 0, element(start.fact), ONE)
        return not_negative(self._terms, self._terms.view(part, ())) == count
