"""States that accumulate: their last one is a reduction, the others are elements of a CumSum.

Floats round in the order of their sums: a CumSum adds one after the other, from the first one on. A
reduction of floats, or one more summand, holds over the reals only. Rules of integers hold bit for
bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import onnx

from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ir import Array
from ....ops.axes import ONE
from ..terms.free_variables import binding
from ..terms.term import Pair, Term, descendants
from .induction import Induction
from .prefix_sums import Place, PrefixSums, start_of
from .substitution import instantiate_iteration

_REDUCTIONS = {"Add": "ReduceSum", "Mul": "ReduceProd", "Max": "ReduceMax", "Min": "ReduceMin"}
_NEUTRAL = {"Add": 0, "Mul": 1}


class _Accumulator(NamedTuple):
    """State to which each iteration applies an operator.

    Attributes:
        recurrence: the recurrence.
        number: index of the state.
        op_type: the operator.
        operand: other operand of the operator, over the variables.
        iterations: trip count.
        init: initial state.
    """

    recurrence: Term
    number: int
    op_type: str
    operand: Term
    iterations: Dimension
    init: Term


def _is_choice(term: Term) -> bool:
    """Test for a Where, or an output of an If."""
    return term.is_op("Where") or term.head.name == "choose"


class Accumulation:
    """Rules of comparison for states that accumulate.

    Args:
        induction: rules for the states of recurrences.
        prefixes: rules for elements of a CumSum.
        over_reals: whether floats may be added in any order.
    """

    def __init__(self, induction: Induction, prefixes: PrefixSums, over_reals: bool) -> None:
        self._terms, self._pushdown = induction.terms, induction.pushdown
        self._induction, self._prefixes = induction, prefixes
        self._over_reals = over_reals

    def reduced(self, one: Term, other: Term) -> list[Pair] | None:
        """State after all iterations and a reduction of all operands and the initial state."""
        for final, whole in ((one, other), (other, one)):
            recurrence = final.args[0] if final.head.name == "final" else None
            state = None if recurrence is None else self._accumulator(recurrence, final.head.key)
            if state is None:
                continue
            begin_and_values = self._reduction(whole, state)
            if begin_and_values is None:
                continue
            begin, values = begin_and_values
            index = self._induction.symbol(state.iterations)
            pairs = [(state.init, begin), self._operands(state, values, index)]
            return pairs if final is one else [(b, a) for a, b in pairs]
        return None

    def prefix(self, one: Term, other: Term) -> list[Pair] | None:
        """Sum after an iteration, or before it, and an element of a CumSum."""
        for term, read in ((one, other), (other, one)):
            for begin, element in self._places(read):
                pairs = self._prefix(term, begin, element)
                if pairs is not None:
                    return pairs if term is one else [(b, a) for a, b in pairs]
        return None

    def _places(self, read: Term) -> Iterator[tuple[Term | None, Place]]:
        """Elements of a CumSum in a term, each with the initial state that it adds."""
        place = self._prefixes.place(read, inclusive=None)
        if place is not None:
            yield None, place
        if read.is_op("Add"):
            for begin, element in (read.operands, read.operands[::-1]):
                place = self._prefixes.place(element, inclusive=None)
                if place is not None and begin.fact.shape == element.fact.shape:
                    yield begin, place

    def _prefix(self, term: Term, begin: Term | None, place: Place) -> list[Pair] | None:
        """Pairs that make a term the element of a CumSum."""
        added = self._state_at(term, place.at, in_order=begin is None)
        exclusive = bool(place.total.head.attribute("exclusive", 0))
        if added is None or (added[1] is None) is not exclusive:
            return None
        state, operand = added
        if state.op_type != "Add" or place.values.shape[0] != state.iterations:
            return None
        if place.shape != state.init.fact.shape:
            return None
        index = self._induction.symbol(state.iterations)
        start = start_of(state.init.fact.elem_type, not exclusive)
        first = self._expanded(start, state.init) if begin is None else begin
        pairs = [(state.init, first), self._operands(state, place.values, index)]
        if operand is not None:
            pairs.append((operand, self._row(place.values, place.at, operand)))
        return pairs

    def _state_at(
        self, term: Term, at: Dimension, in_order: bool
    ) -> tuple[_Accumulator, Term | None] | None:
        """State before an iteration, and what is added to it; None for the state itself."""
        operands = [term, *(term.args if term.is_op("Add") else ())]
        for place, operand in enumerate(operands):
            before = None if operand is None else self._induction.before_iteration(operand)
            if before is None or before.iteration != at:
                continue
            state = self._accumulator(before.recurrence, before.number, in_order)
            if state is not None:
                return state, (operands[3 - place] if place else None)
        return None

    def _accumulator(
        self, recurrence: Term, number: int, in_order: bool = False
    ) -> _Accumulator | None:
        bound, iterations = binding(recurrence), self._induction.iterations(recurrence)
        init = recurrence.args[2 + number]
        if bound is None or iterations is None or init is None:
            return None
        variable, update = bound.states[number], recurrence.head.parts[number]
        is_exact = update.fact.elem_type in INTEGER_BITS
        if not (is_exact or in_order or self._over_reals) or update.fact.shape != init.fact.shape:
            return None
        is_chosen = _is_choice(update)
        if is_chosen and not (is_exact or self._over_reals):
            return None  # one more sum may turn -0 to 0
        for op_type in _NEUTRAL if is_chosen else (update.head.name,):
            operand = self._operand(update, variable, op_type)
            if operand is not None:
                return _Accumulator(recurrence, number, op_type, operand, iterations, init)
        return None

    def _operand(self, update: Term, variable: Term, op_type: str) -> Term | None:
        """Operand that an operator joins with a state, or that a condition chooses for it.

        Where a condition keeps the state, the operand is the neutral element.
        """
        if op_type not in _REDUCTIONS:
            return None
        if update is variable and op_type in _NEUTRAL:
            kind = onnx.helper.tensor_dtype_to_np_dtype(update.fact.elem_type)
            return self._expanded(np.array(_NEUTRAL[op_type], kind), update)
        if _is_choice(update) and update.fact.shape == variable.fact.shape:
            condition, *branches = update.operands
            if any(term is variable for term in descendants([condition])):
                return None
            chosen = [self._operand(branch, variable, op_type) for branch in branches]
            if chosen[0] is None or chosen[1] is None:
                return None
            return self._terms.op("Where", 16, condition, chosen[0], chosen[1])
        if not update.is_op(op_type) or len(update.args) != 2:
            return None
        others = [arg for arg in update.args if arg is not variable]
        if len(others) != 1 or others[0] is None or others[0].fact.shape != update.fact.shape:
            return None
        return None if any(term is variable for term in descendants(others)) else others[0]

    def _operands(self, state: _Accumulator, values: Term, index: Dimension) -> Pair:
        """Operand on any iteration, and that of a reduction."""
        own = instantiate_iteration(self._terms, state.recurrence, state.operand, index)
        return own, self._row(values, index, own)

    def _row(self, values: Term, index: Dimension, like: Term) -> Term:
        return self._terms.view(self._pushdown.of(values, 0, index, ONE), like.shape)

    def _reduction(self, whole: Term, state: _Accumulator) -> Pair | None:
        """Initial state and operands [iterations, ...] of a reduction along the first axis."""
        name = state.op_type
        if whole.is_op(name) and len(whole.args) == 2:
            for part, rest in (whole.operands, whole.operands[::-1]):
                values = self._values(part, state)
                if values is not None and values.shape[0] == state.iterations:
                    return rest, values
        values = self._values(whole, state)
        if values is None:
            return None
        if values.shape[0] == state.iterations and name in _NEUTRAL:
            kind = onnx.helper.tensor_dtype_to_np_dtype(state.init.fact.elem_type)
            return self._expanded(np.array(_NEUTRAL[name], kind), state.init), values
        if values.is_op("Concat") and len(values.args) == 2:
            begin, rest = values.operands
            if begin.shape[0].value == 1 and rest.shape[0] == state.iterations:
                return self._terms.view(begin, state.init.shape), rest
        return None

    def _values(self, whole: Term, state: _Accumulator) -> Term | None:
        """Operands of a reduction along the first axis alone."""
        if whole.head.name == "view" and whole.args[0] is not None:
            whole = whole.args[0]
        if not whole.is_op(_REDUCTIONS[state.op_type]) or len(whole.args) != 1:
            return None
        (values,) = whole.args
        axes = whole.head.attribute("axes")
        if values is None or not values.fact.shape or list(axes or ()) != [0]:
            return None
        fits = values.fact.shape[1:] == state.init.fact.shape
        if values.is_op("Concat") and values.head.attribute("axis") != 0:
            return None
        return values if fits else None

    def _expanded(self, number: Array, like: Term) -> Term:
        """Number expanded to the shape of a term."""
        scalar = self._terms.constant(number)
        return self._terms.op("Expand", 13, scalar, self._terms.sizes(like.shape))
