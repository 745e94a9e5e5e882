"""Rules of comparison for folds: a state of a loop, and what joins the same rows at once.

A state is a fold if it begins with the first state of the fold, and if each iteration changes it as
the fold does (induction). Two folds are compared as states of the recurrences that they compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....facts.polynomial import Dimension
from ..terms.free_variables import binding
from ..terms.term import Pair, Term, descendants
from .fold_forms import Fold, FoldForms, bare
from .induction import Induction, State
from .new_recurrences import new_recurrence
from .substitution import instantiate_iteration

_STATES = ("state", "fresh", "final")
_FOLD = 16
"""Steps of a fold that is compared with a state, whose rows are read."""


class _Match(NamedTuple):
    """Fold that a recurrence computes.

    Attributes:
        fold: the fold, with as many rows as there are iterations.
        numbers: index of the state of the recurrence for each state of the fold.
        pairs: pairs that must be equal.
    """

    fold: Fold
    numbers: Sequence[int]
    pairs: list[Pair]


class Folds:
    """Rule of comparison for folds.

    Args:
        induction: rules for the states of recurrences.
        over_reals: whether floats are real numbers.
    """

    def __init__(self, induction: Induction, over_reals: bool) -> None:
        self._terms, self._induction = induction.terms, induction
        self._forms = FoldForms(induction.pushdown, over_reals)

    def equal(self, one: Term, other: Term) -> list[Pair] | None:
        """State of a recurrence, or what an iteration makes of one, and a fold; or two folds."""
        for term, whole in ((one, other), (other, one)):
            for fold in self._forms.of(whole):
                self._terms.budget.step(_FOLD)
                pairs = self._of_state(term, fold) or self._of_next(term, fold)
                if pairs is not None:
                    return pairs if term is one else [(b, a) for a, b in pairs]
        return self._of_folds(one, other)

    def _of_state(self, term: Term, fold: Fold) -> list[Pair] | None:
        """Pairs for a state after as many iterations as the fold has rows."""
        state = self._induction.before_iteration(bare(term))
        match = None if state is None else self._match(state, state.iteration, fold)
        return None if match is None else match.pairs

    def _of_next(self, term: Term, fold: Fold) -> list[Pair] | None:
        """Pairs for a term that joins the last row (law: peel the last row)."""
        term = bare(term)
        if term.head.name in _STATES:
            return None
        if fold.shorter is not None and fold.joined.value is not None and term.is_op(fold.join):
            before = self._terms.view(fold.shorter, fold.starts[0].shape)
            (last,) = fold.step([before], fold.joined - 1)
            if last.fact.shape == term.fact.shape:
                return [] if last is term else [(term, last)]
        for each in descendants([term]):
            if each.head.name not in _STATES or each.fact.shape != term.fact.shape:
                continue
            state = self._induction.before_iteration(each)
            match = None if state is None else self._match(state, state.iteration + 1, fold)
            if state is not None and match is not None:
                states = self._before(state.recurrence, match.numbers, state.iteration)
                shape = states[fold.number].shape
                after = [self._terms.view(term, shape)] * len(states)
                pairs = match.fold.pairs(states, state.iteration, after)
                return [*match.pairs, pairs[fold.number]]
        return None

    def _match(self, state: State, iterations: Dimension, fold: Fold) -> _Match | None:
        """Fold that a recurrence computes if some pairs are equal.

        The first states are initial states then, and the step is an iteration.

        Args:
            state: a state of the recurrence.
            iterations: number of iterations, as many as the fold joins rows.
            fold: the fold; it may have one row more.
        """
        recurrence, count = state.recurrence, self._induction.iterations(state.recurrence)
        if count is None:
            return None
        if fold.joined == iterations + 1:
            fold = fold.without_first()
        if fold.joined != iterations or (fold.rows - count).less(0) is not False:
            return None
        lacks_row = fold.needs_rows and (iterations - 1).less(0) is not False
        if lacks_row and iterations != count:
            return None
        numbers, index = self._numbers(state, fold), self._induction.symbol(count)
        if not numbers:
            return None
        parts = [recurrence.head.parts[number] for number in numbers]
        after = [instantiate_iteration(self._terms, recurrence, p, index) for p in parts]
        pairs = fold.pairs(self._before(recurrence, numbers, index), index, after)
        if not pairs or any(a.fact.shape != b.fact.shape for a, b in pairs):
            return None
        if lacks_row:
            self._induction.positive.add(count)
        inits = [recurrence.operands[2 + number] for number in numbers]
        return _Match(fold, numbers, [*zip(inits, fold.starts, strict=True), *pairs])

    def _numbers(self, state: State, fold: Fold) -> list[int]:
        """Index of the state of a recurrence for each state of a fold; empty if there is none.

        Beside the one that is asked for, those that have the initial values of the fold.
        """
        recurrence, numbers = state.recurrence, list[int]()
        bound = binding(recurrence)
        assert bound is not None
        for place, start in enumerate(fold.starts):
            choices = [state.number] if place == fold.number else range(len(bound.states))
            alike = [
                number
                for number in choices
                if self._is_like(recurrence, number, start)
                and (place == fold.number or recurrence.args[2 + number] is start)
            ]
            if not alike:
                return []
            numbers.append(alike[0])
        return numbers

    def _is_like(self, recurrence: Term, number: int, start: Term) -> bool:
        init = recurrence.args[2 + number]
        update = recurrence.head.parts[number]
        if init is None or init.fact.shape != start.fact.shape:
            return False
        types = {init.fact.elem_type, update.fact.elem_type, start.fact.elem_type}
        return len(types) == 1 and update.fact.shape == init.fact.shape

    def _before(self, recurrence: Term, numbers: Sequence[int], index: Dimension) -> list[Term]:
        """States before an iteration."""
        bound = binding(recurrence)
        assert bound is not None
        states = [bound.states[number] for number in numbers]
        return [instantiate_iteration(self._terms, recurrence, each, index) for each in states]

    def _of_folds(self, one: Term, other: Term) -> list[Pair] | None:
        """Two folds, the first one as a state of the recurrence that it computes."""
        if bare(one).head.name == bare(other).head.name:
            return None
        for term, whole in ((one, other), (other, one)):
            for fold in self._forms.of(term):
                for another in self._forms.of(whole):
                    if fold.joined != another.joined or fold.rows != another.rows:
                        continue
                    opened = self._opened(term, fold)
                    if opened is not None:
                        return [(opened, whole) if term is one else (whole, opened)]
        return None

    def _opened(self, term: Term, fold: Fold) -> Term | None:
        """Fold as a state of a recurrence; None if its rows are not known."""
        if fold.needs_rows:
            if (fold.joined - 1).less(0) is not False:
                return None
            fold = fold.without_first()
        if not fold.step(fold.starts, self._induction.symbol(fold.rows)):
            return None
        operands = [arg for arg in bare(term).operands if arg.head.name != "sizes"]
        recurrence = new_recurrence(
            self._terms,
            fold.rows,
            fold.starts,
            fold.step,
            operands,
        )
        return self._terms.view(recurrence.before(fold.number, fold.joined), term.shape)
