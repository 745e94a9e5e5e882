"""Scatters that join updates with elements, as loops that write one index after the other."""

from __future__ import annotations

from ....facts.polynomial import Dimension, product
from ....facts.types import INTEGER_BITS
from ....ops.axes import ONE
from ..definitions.opening import Definitions
from ..terms.free_variables import binding
from ..terms.term import Pair, Term
from .induction import Induction
from .substitution import instantiate_iteration

_OPSET = 18
_JOINS = {"add": "Add", "mul": "Mul", "max": "Greater", "min": "Less"}
"""By reduction: the operator that joins or compares an element and its update."""


class ScatterLoops:
    """Rule of comparison for scatters with a reduction.

    Several updates of an element are joined in the order of their indices, as kernels do.

    Args:
        induction: rules for the states of recurrences.
        longer_forms: definitions, which record assumptions.
        over_reals: whether floats that are equal over the reals are equal.
    """

    def __init__(self, induction: Induction, longer_forms: Definitions, over_reals: bool) -> None:
        self._terms, self._induction = induction.terms, induction
        self._longer_forms, self._over_reals = longer_forms, over_reals

    def written(self, one: Term, other: Term) -> list[Pair] | None:
        """Scatter with a reduction, and the state after a loop that writes each index."""
        for final, scatter in ((one, other), (other, one)):
            pairs = self._pairs(final, scatter) if final.head.name == "final" else None
            if pairs is not None:
                if scatter.fact.elem_type not in INTEGER_BITS:
                    self._longer_forms.assumed.add(scatter.head.name)
                return pairs if final is one else [(b, a) for a, b in pairs]
        return None

    def _pairs(self, final: Term, scatter: Term) -> list[Pair] | None:
        """Initial states, and states after any iteration; None for other terms."""
        (recurrence, *_), number = final.args, final.head.key
        join = self._join(scatter)
        bound = None if recurrence is None else binding(recurrence)
        rows = None if join is None else self._rows(scatter)
        if recurrence is None or join is None or bound is None or rows is None:
            return None
        trips, init = self._induction.trips(recurrence), recurrence.args[2 + number]
        indices, updates, axis = rows
        if trips is None or init is None or indices.shape[axis] != trips:
            return None
        index = self._induction.symbol(trips)
        before = instantiate_iteration(self._terms, recurrence, bound.states[number], index)
        update = recurrence.head.parts[number]
        after = instantiate_iteration(self._terms, recurrence, update, index)
        one, new = (self._terms.narrow(each, axis, index, ONE) for each in (indices, updates))
        step = self._step(scatter, join, (before, one, new), axis)
        return [(init, scatter.operands[0]), (after, step)]

    def _join(self, scatter: Term) -> str | None:
        """Operator that joins elements; None if kernels differ, on the maximum of NaN."""
        if scatter.head.name not in ("ScatterElements", "ScatterND"):
            return None
        join = _JOINS.get(scatter.head.text("reduction"))
        is_whole = scatter.fact.elem_type in INTEGER_BITS
        return join if join in ("Add", "Mul") or is_whole or self._over_reals else None

    def _rows(self, scatter: Term) -> tuple[Term, Term, int] | None:
        """Indices, updates and the axis along which one index follows the other."""
        data, indices, updates = scatter.operands
        shape, places, new = data.fact.shape, indices.fact.shape, updates.fact.shape
        if shape is None or not places or new is None:
            return None
        if scatter.is_op("ScatterElements"):
            return indices, updates, scatter.head.attribute("axis", 0) % len(shape)
        count: Dimension = product(places[:-1])
        rest = new[len(places) - 1 :]
        row = self._terms.view(indices, (count, places[-1]))
        return row, self._terms.view(updates, (count, *rest)), 0

    def _step(self, scatter: Term, join: str, operands: tuple[Term, Term, Term], axis: int) -> Term:
        """State after one index is written."""
        terms, (data, index, update) = self._terms, operands
        along = {"axis": axis} if scatter.is_op("ScatterElements") else {}
        gather = "GatherElements" if along else "GatherND"
        old = terms.op(gather, _OPSET, data, index, **along)
        joined = terms.op(join, _OPSET, old, update)
        if join in ("Greater", "Less"):
            joined = terms.op("Where", _OPSET, joined, old, update)
        return terms.op(scatter.head.name, _OPSET, data, index, joined, **along)
