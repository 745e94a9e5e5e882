"""Rules of comparison for folds: a state of a loop, and what joins the same rows at once.

A state is a fold if it begins with the first state of the fold, and if each iteration changes it as
the fold does (induction). Two folds are compared as states of the recurrences that they compute.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ....facts.polynomial import Dimension, product
from ..terms.free_variables import binding
from ..terms.term import Head, Pair, Term, bare, descendants
from ..terms.term_manager import Terms
from .fold_forms import JOINS, Fold, FoldForms, both_ways, reduced
from .induction import Induction, State
from .new_recurrences import new_recurrence
from .substitution import instantiate_iteration

_OPSET = 13
_AXES_AS_ATTRIBUTE = 11
"""Opset of a ReduceSum whose axes are an attribute."""
_STATES = ("state", "fresh", "final")
_FEW_ROWS = 4
_FOLD = 80
"""Steps of a fold that is compared with a state, whose rows are read."""


class _Image(NamedTuple):
    """State of a recurrence, or a function of it.

    Attributes:
        function: operator of one operand; None for the state itself.
    """

    state: State
    function: Head | None

    def of(self, terms: Terms, term: Term) -> Term:
        """Function of a term."""
        if self.function is None:
            return term
        (result,) = terms.apply(self.function, (term,))
        assert result is not None
        return result


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
        rest = self._without_common(one, other)
        if rest is not None:
            return [rest]
        for term, whole in ((one, other), (other, one)):
            for fold in self._forms.of(whole):
                self._terms.budget.step(_FOLD)
                pairs = self._of_state(term, fold) or self._of_next(term, fold)
                if pairs is not None:
                    return pairs if term is one else [(b, a) for a, b in pairs]
        return self._of_folds(one, other) or self._of_few_rows(one, other)

    def _of_few_rows(self, one: Term, other: Term) -> list[Pair] | None:
        """A fold of few rows, and their sum or extreme (law: peel every row)."""
        for term, whole in ((one, other), (other, one)):
            for fold in self._forms.of(term) if bare(whole).is_op("Sum", *JOINS) else ():
                count = fold.joined.value
                if fold.values is None or count is None or not 1 < count <= _FEW_ROWS:
                    continue
                if _count_operands(bare(whole), bare(whole).head.name) != count:
                    continue
                rows = [Dimension.constant(number) for number in range(1, count)]
                states = fold.firsts()
                for number in rows:
                    states = fold.step(states, number)
                result = self._terms.view(states[0], term.shape)
                return [(result, whole) if term is one else (whole, result)]
        return None

    def _without_common(self, one: Term, other: Term) -> Pair | None:
        """Summands beside a common one (law: cancellation), of equal sums if they are equal."""
        if self._forms.reorders(one.fact.elem_type):
            for a, b in both_ways(one, "Add"):
                for c, d in both_ways(other, "Add"):
                    if a is c and b.fact.shape == d.fact.shape == one.fact.shape:
                        return b, d
        return None

    def _of_state(self, term: Term, fold: Fold) -> list[Pair] | None:
        """Pairs for a state after as many iterations as the fold has rows."""
        image = self._image(bare(term))
        match = None if image is None else self._match(image, image.state.iteration, fold)
        return None if match is None else match.pairs

    def _image(self, term: Term) -> _Image | None:
        """State, or over the reals its exponential; None for another term."""
        of = bare(term.operands[0]) if term.is_op("Exp") and self._forms.over_reals else term
        state = self._induction.before_iteration(of) if of.head.name in _STATES else None
        return None if state is None else _Image(state, None if of is term else term.head)

    def _of_next(self, term: Term, fold: Fold) -> list[Pair] | None:
        """Pairs for a term that joins the last row (law: peel the last row)."""
        term = bare(term)
        # A state itself was compared by `_of_state`; peeling a row off it would run in a circle.
        if self._image(term) is not None:
            return None
        if fold.shorter is not None and fold.joined.value is not None and term.is_op(fold.join):
            before = self._terms.view(fold.shorter, fold.starts[0].shape)
            (last,) = fold.step([before], fold.joined - 1)
            if last.fact.shape == term.fact.shape:
                return [] if last is term else [(term, last)]
        pair = self._last_row(term, fold)
        if pair is not None:
            return [pair]
        if not self._terms.contains(term, *_STATES):
            return None
        # Outermost last: the largest part of the term that is a state leaves the smallest step to
        # compare.
        for each in reversed(list(descendants([term]))):
            image = self._image(each) if each.fact.shape == term.fact.shape else None
            match = None if image is None else self._match(image, image.state.iteration + 1, fold)
            if image is not None and match is not None:
                states = self._before(image, match.numbers, image.state.iteration)
                after = [self._terms.view(term, states[fold.number].shape)] * len(states)
                pairs = match.fold.pairs(states, image.state.iteration, after)
                return [*match.pairs, pairs[fold.number]]
        return None

    def _last_row(self, term: Term, fold: Fold) -> Pair | None:
        """Row that a term joins with a shorter fold, and the last row."""
        if fold.values is None:
            return None
        for early, row in both_ways(term, fold.join):
            for other in self._forms.of(early):
                if other.values is not fold.values or other.joined != fold.joined - 1:
                    continue
                is_free = self._forms.reorders(term.fact.elem_type)  # and so is the sign of a 0
                if other.join == fold.join and (is_free or other.starts == fold.starts):
                    return row, self._forms.row(fold.values, other.joined, row.shape)
        return None

    def logarithm(self, one: Term, other: Term) -> list[Pair] | None:
        """State and a logarithm over the reals: the exponential of the state, and its operand."""
        for term, whole in ((one, other), (other, one)):
            below = bare(whole)
            if not self._forms.over_reals or not below.is_op("Log") or below is bare(term):
                continue
            if bare(term).head.name not in _STATES or term.fact.shape != whole.fact.shape:
                continue
            power = self._terms.op("Exp", _OPSET, term)
            operand = self._terms.view(below.operands[0], term.shape)
            return [(power, operand)] if term is one else [(operand, power)]
        return None

    def _match(self, image: _Image, iterations: Dimension, fold: Fold) -> _Match | None:
        """Fold that a recurrence computes if some pairs are equal.

        The first states are initial states then, and the step is an iteration.

        Args:
            image: a state of the recurrence, or its image.
            iterations: number of iterations, as many as the fold joins rows.
            fold: the fold; it may have one row more.
        """
        recurrence, terms = image.state.recurrence, self._terms
        count = self._induction.iterations(recurrence)
        if count is None:
            return None
        # The recurrence begins with the first row where the fold joins it to a start.
        if fold.joined == iterations + 1:
            fold = fold.without_first()
        if fold.joined != iterations:
            return None
        # Max and Min of no row have no value in a fold, but a recurrence has its initial state.
        lacks_row = fold.needs_rows and (iterations - 1).less(0) is not False
        if lacks_row and iterations != count:
            return None
        numbers, index = self._numbers(image.state, fold), self._induction.symbol(count)
        # The exponential of one state says nothing of others beside it.
        if not numbers or (image.function is not None and len(numbers) > 1):
            return None
        parts = [recurrence.head.parts[number] for number in numbers]
        after = [image.of(terms, instantiate_iteration(terms, recurrence, p, index)) for p in parts]
        pairs = fold.pairs(self._before(image, numbers, index), index, after)
        if not pairs or any(a.fact.shape != b.fact.shape for a, b in pairs):
            return None
        if lacks_row:
            self._induction.positive.add(count)
        inits = [image.of(terms, recurrence.operands[2 + number]) for number in numbers]
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

    def _before(self, image: _Image, numbers: Sequence[int], index: Dimension) -> list[Term]:
        """States before an iteration, or their images."""
        recurrence, terms = image.state.recurrence, self._terms
        bound = binding(recurrence)
        assert bound is not None
        states = [bound.states[number] for number in numbers]
        before = [instantiate_iteration(terms, recurrence, each, index) for each in states]
        return [image.of(terms, each) for each in before]

    def mean(self, one: Term, other: Term) -> list[Pair] | None:
        """Mean over the reals as a quotient: a sum by the number of its rows."""
        for term, quotient in ((one, other), (other, one)):
            below = bare(term)
            rows = reduced(self._forms, below) if below.is_op("ReduceMean") else None
            if rows is None or not quotient.is_op("Div") or not self._forms.over_reals:
                continue
            number, terms = quotient.operands[1], self._terms
            along = {name: below.head.attribute(name, 1) for name in ("axes", "keepdims")}
            total = terms.op("ReduceSum", _AXES_AS_ATTRIBUTE, below.operands[0], **along)
            count = terms.op("Cast", _OPSET, terms.size(rows.shape[0]), to=number.fact.elem_type)
            parts = [(terms.view(total, term.shape), quotient.operands[0])]
            if number.fact.shape is None or product(number.shape) != 1:
                return None
            if quotient.operands[0].fact.shape != term.fact.shape:
                return None
            parts.append((terms.view(count, number.shape), number))
            return parts if term is one else [(b, a) for a, b in parts]
        return None

    def _of_folds(self, one: Term, other: Term) -> list[Pair] | None:
        """Two folds, the first one as a state of the recurrence that it computes."""
        names = {bare(one).head.name, bare(other).head.name}
        # A weighted sum and a product of matrices have rows with weights of different forms.
        if len(names) == 1 or names == {"Add", "MatMul"}:
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
        recurrence = new_recurrence(self._terms, fold.rows, fold.starts, fold.step, operands)
        return self._terms.view(recurrence.before(fold.number, fold.joined), term.shape)


def _count_operands(term: Term, name: str) -> int:
    """Count the operands of nested nodes of one operator, up to a few and one."""
    count, waiting = 0, [term]
    while waiting and count <= _FEW_ROWS:
        each = bare(waiting.pop())
        if each.is_op(name):
            waiting += each.operands
        else:
            count += 1
    return count
