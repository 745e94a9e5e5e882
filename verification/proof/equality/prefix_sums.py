"""Prefix sums: a state to which each iteration adds is an element of a CumSum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx

from ....facts.fact import Shape, element
from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ir import Array
from ....ops.axes import ONE
from ..simplify.slices import backward
from ..terms.free_variables import binding
from ..terms.term import Pair, Term, rank_of
from .induction import Induction, State
from .substitution import instantiate_iteration

ZERO = Dimension.constant(0)

_SUM = 80
"""Steps of a state that is compared with an element of a CumSum, whose slices are computed."""


def start_of(elem_type: int, inclusive: bool) -> Array:
    """Number that a CumSum begins with: -0 for floats, whose first sum is the first summand. Before
    that it is 0."""
    kind = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    return np.array(-0.0 if inclusive and elem_type not in INTEGER_BITS else 0, kind)


class Place(NamedTuple):
    """Element of a CumSum along the first axis.

    Attributes:
        total: the CumSum.
        values: summands.
        at: index.
        shape: shape of the view of it.
    """

    total: Term
    values: Term
    at: Dimension
    shape: Shape


class PrefixSums:
    """Rule of comparison for prefix sums.

    Args:
        induction: rules for the states of recurrences.
    """

    def __init__(self, induction: Induction) -> None:
        self._terms, self._pushdown = induction.terms, induction.pushdown
        self._induction = induction

    def summed(self, one: Term, other: Term) -> list[Pair] | None:
        """State that accumulates some values as an element of their CumSum. The state begins with
        the first of the values. An Add to it, or to an element, is the next element."""
        for term, read in ((one, other), (other, one)):
            place = self.place(read)
            if place is None:
                continue
            whole, inner = term, term.args[0] if term.head.name == "view" else None
            if inner is not None and inner.fact.shape is not None:
                term, place = inner, place._replace(shape=inner.fact.shape)
            state = self._induction.before_iteration(term)
            pairs = None
            if state is not None and state.iteration == place.at:
                pairs = self._is_sum(state, place.values)
            elif term.is_op("Add") and (place.at - 1).less(0) is False:
                pairs = self._operands_of_add(term, place)
            if pairs is not None:
                return pairs if whole is one else [(b, a) for a, b in pairs]
        return None

    def turned(self, one: Term, other: Term) -> list[Pair] | None:
        """CumSum along any axis, and a Transpose: the sums of the transposed values."""
        for total, transposed in ((one, other), (other, one)):
            values = transposed.args[0] if transposed.is_op("Transpose") else None
            sums = None if values is None else self._turned(total, transposed)
            if sums is not None and values is not None:
                return [(sums, values) if total is one else (values, sums)]
        return None

    def _turned(self, total: Term, transposed: Term) -> Term | None:
        """CumSum that a Transpose turns into another one; None for other terms."""
        terms, rank = self._terms, rank_of(total)
        whole, total = total, total.operands[0] if total.head.name == "reversed" else total
        axes = terms.numbers(total.args[1]) if total.is_op("CumSum") else None
        if rank is None or axes is None:
            return None
        perm = list(transposed.head.attribute("perm", range(rank)[::-1]))
        back, values = [perm.index(axis) for axis in range(rank)], total.args[0]
        turned = terms.op("Transpose", transposed.head, values, perm=back)
        axis = terms.constant(np.array(perm[axes[0] % rank]))
        sums = terms.with_attributes(total.head, turned, axis)
        return sums if total is whole else backward(terms, sums, perm[whole.head.key])

    def place(self, read: Term, inclusive: bool | None = True) -> Place | None:
        """Element of a forward CumSum along the first axis; None for any other term.

        Args:
            read: the term.
            inclusive: whether the element counts itself; None for both.
        """
        part = read.args[0] if read.head.name == "view" else read
        if part is None or part.head.name != "narrow" or part.head.key != 0:
            return None
        total, start, size = part.args
        assert total is not None and start is not None and size is not None
        if not total.is_op("CumSum") or self._terms.numbers(total.args[1]) != [0]:
            return None
        if total.head.attribute("reverse", 0):
            return None
        if inclusive is not None and inclusive is bool(total.head.attribute("exclusive", 0)):
            return None
        values = total.args[0]
        if values is None or read.fact.shape is None or element(size.fact) != 1:
            return None
        return Place(total, values, element(start.fact), read.fact.shape)

    def _operands_of_add(self, total: Term, place: Place) -> list[Pair] | None:
        """Operands of an Add: the element before, and the summand."""
        x, y = total.args
        assert x is not None and y is not None
        terms, added = self._terms, self._value(place)
        is_sum = y.is_op("Add") or self._induction.before_iteration(y) is not None
        if x is added or (y is not added and is_sum):
            x, y = y, x
        if place.at.value is None and self._induction.before_iteration(x) is None:
            return None
        before = terms.view(terms.narrow(place.total, 0, place.at - 1, ONE), place.shape)
        return [(x, before), (y, added)]

    def _value(self, place: Place) -> Term:
        """Summand at an index."""
        value = self._pushdown.of(place.values, 0, place.at, ONE)
        return self._terms.view(value, place.shape)

    def _is_sum(self, state: State, values: Term) -> list[Pair] | None:
        recurrence, k, _ = state
        iterations, before = self._induction.iterations(recurrence), recurrence.args[2 + k]
        bound, shape = binding(recurrence), values.fact.shape
        if iterations is None or bound is None or before is None or before.fact.shape is None:
            return None
        update = recurrence.head.parts[k]
        if not shape or shape[0] != iterations + 1 or not update.is_op("Add"):
            return None
        others = [arg for arg in update.args if arg is not bound.states[k]]
        if len(others) != 1 or others[0] is None:
            return None
        self._terms.budget.step(_SUM)
        index, own = self._induction.symbol(iterations), before.fact.shape
        first = self._pushdown.of(values, 0, ZERO, ONE)
        rest = self._pushdown.of(values, 0, index + 1, ONE)
        return [
            (before, self._terms.view(first, own)),
            (
                instantiate_iteration(self._terms, recurrence, others[0], index),
                self._terms.view(rest, own),
            ),
        ]
