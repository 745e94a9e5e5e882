"""Loops up to a first hit: a condition ends them, or freezes their states.

    s' = f (s, i), on while c (s', i), at most n times   =   s' = f (s, i), min (n, k + 1) times
    s' = Where (c (s, i), s, f (s, i)), n times          =   s' = f (s, i), k times

Here k is the first of n iterations of the free loop, s' = f (s, i), in which the first c fails, or
the second one holds, or n if there is none. The second c has to last: it is a truth value that only
rises, or it reads no more than what it freezes.

The other model computes k from all iterations of the free loop: as an ArgMax of the hits with a 1
behind them, or as the number of iterations before any hit. The hits of both are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import onnx

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ..arithmetic.exact_integers import is_one_integer, unwrap
from ..arithmetic.trip_counts import number_of, parts_of_least
from ..terms.free_variables import Bound, binding
from ..terms.term import Pair, Term, below_view, descendants
from ..terms.term_manager import Terms
from .new_recurrences import NewRecurrence, new_recurrence
from .substitution import Substitution

_BOOL, _OPSET = onnx.TensorProto.BOOL, 13
_ENDLESS = 1 << 62
"""More iterations than any loop makes."""


class EarlyExits:
    """Rules of comparison for loops up to a first hit."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def equal(self, one: Term, other: Term) -> list[Pair] | None:
        """The hits, and the loop without its condition, under the number that the hits tell."""
        pairs = self._ended(one, other) or self._frozen(one, other)
        if pairs is None:
            swapped = self._ended(other, one) or self._frozen(other, one)
            pairs = swapped and [(a, b) for b, a in swapped]
        return pairs

    def _ended(self, term: Term, rest: Term) -> list[Pair] | None:
        """Loop that a condition ends as one with a trip count from a search."""
        bare, terms = below_view(term), self._terms
        ended, number = self._ended_loop(bare), element(bare.fact)
        loop = None if ended is None else _Loop.of(terms, ended, True)
        if loop is None or not terms.holds(loop.start):
            return None
        # A view of rows has sizes of the number of iterations, which is another one below.
        if bare.head.parts and bare is not term:
            return None
        for count, hits in self._searches(rest, loop.limit):
            search, (fails,) = loop.free(loop.limit, [terms.op("Not", _OPSET, loop.condition)])
            counted, rows = loop.free(count, bare.head.parts)
            if rows:
                result = counted.rows_of(rows[0], bare.head.key[1])
            elif bare.head.name == "final":
                result = counted.final(bare.head.key)
            else:
                iterations = {name: count for name in number.symbols if name in terms.ended}
                result = terms.size(number.replaced(iterations))
            if not rows:
                result = terms.view(result, term.shape)
            return [(search.rows_of(fails, (_BOOL, ())), hits), (result, rest)]
        return None

    def _ended_loop(self, term: Term) -> Term | None:
        """Loop with a condition whose result, or number of iterations, a term is."""
        if term.head.name in ("final", "stacked"):
            return term.args[0]
        number = element(term.fact) if term.head.name == "sizes" else None
        ended = self._terms.ended
        names = number.symbols & ended.keys() if isinstance(number, Dimension) else ()
        return ended[min(names)] if len(names) == 1 else None

    def _searches(self, term: Term, limit: Dimension) -> Iterator[tuple[Dimension, Term]]:
        """Yield sizes that a search for the first hit computes, with the hits."""
        facts = [part.fact for part in descendants([term])]
        contents = [element(fact) for fact in facts if fact.content is not None]
        sizes = [*chain.from_iterable(fact.shape or () for fact in facts), *contents]
        names = [sorted(size.symbols) for size in sizes if isinstance(size, Dimension)]
        for size in map(Dimension.symbol, dict.fromkeys(chain.from_iterable(names))):
            parts = parts_of_least(self._terms, size)
            others = [part for part in parts if part != limit]
            hits = self._hits(others[0], limit) if len(others) == 1 < len(parts) else None
            if hits is not None:
                yield size, hits

    def _hits(self, number: Dimension, limit: Dimension) -> Term | None:
        """Hits up to a limit, of which a number is 1 more than the first.

        It is not less than the limit if none is true.
        """
        terms, term, test = self._terms, number_of(self._terms, number), None
        if term is None:
            return None
        if term.head.name == "choose":
            test, term, endless = term.operands
            if max(terms.numbers(endless) or (0,)) < _ENDLESS or not test.is_op("Less"):
                return None
        pairs = (term.operands, term.operands[::-1]) if term.is_op("Add") else ()
        place = next(
            (unwrap(terms, one) for one, other in pairs if terms.numbers(other) == [1]), None
        )
        if place is None:
            return None
        if test is not None and unwrap(terms, test.operands[0]) is not place:
            return None
        if test is not None and element(test.operands[1].fact) != limit:
            return None
        return self._before_first(place, limit)

    def _before_first(self, place: Term, limit: Dimension) -> Term | None:
        """Truth values up to a limit, of which a number is the first true one.

        It is the limit if none is true.
        """
        attribute = place.head.attribute
        if not place.is_op("ArgMax") or attribute("select_last_index") or attribute("axis"):
            return None
        rows, is_cast = _uncast(place.operands[0])
        if not rows.is_op("Concat") or rows.head.attribute("axis") or len(rows.args) != 2:
            return None
        hits, behind = rows.operands
        hits, is_cast = (hits, True) if is_cast else _uncast(hits)
        is_whole = is_cast and hits.fact.elem_type == _BOOL and hits.fact.shape == (limit,)
        return hits if is_whole and self._terms.numbers(behind) == [1] else None

    def _frozen(self, term: Term, rest: Term) -> list[Pair] | None:
        """States that freeze as those of the free loop after a number of iterations."""
        bare, gathered, terms = below_view(term), below_view(rest), self._terms
        loop = _Loop.of(terms, bare.operands[0], False) if bare.head.name == "final" else None
        if loop is None or not gathered.is_op("Gather") or gathered.head.attribute("axis"):
            return None
        rows, index = gathered.operands
        hits = self._summed(index, loop.limit)
        choice = _choice(terms, loop.updates[bare.head.key], loop.bound.states[bare.head.key])
        if hits is None or choice is None or rows.fact.shape is None:
            return None
        condition, updates = choice[0], {}
        for k, (update, state) in enumerate(zip(loop.updates, loop.bound.states, strict=True)):
            each = _choice(terms, update, state)
            if each is not None and each[0] is condition:
                updates[k] = each[1]
        flags = [terms.constant(np.array(False))]
        lasts = loop.rises(condition)
        if not lasts and not loop.reads_only(condition, updates):
            return None
        free, (hit,) = loop.free(loop.limit, [condition], updates, [] if lasts else flags)
        number, init = bare.head.key, loop.inits[bare.head.key]
        first = terms.view(init, (Dimension.constant(1), *init.shape))
        every = terms.op("Concat", _OPSET, first, free.stacked(number), axis=0)
        any_hit = free.rows_of(hit, (_BOOL, ())) if lasts else free.stacked(len(loop.inits))
        return [(any_hit, hits), (every, rows)]

    def _summed(self, number: Term, limit: Dimension) -> Term | None:
        """Truth values up to a limit, of which a number counts the false ones."""
        number = below_view(number)
        if not (number.is_op("ReduceSum") and is_one_integer(number)):
            return None
        rows, is_cast = _uncast(number.operands[0])
        # A sum of fewer bits may wrap.
        is_whole = is_cast and rows.is_op("Not") and number.fact.elem_type == onnx.TensorProto.INT64
        return rows.operands[0] if is_whole and rows.fact.shape == (limit,) else None


class _Loop:
    """Loop with a trip count, whose states keep their types and shapes.

    Attributes:
        limit: the trip count.
        condition: the condition after an iteration, if one ends it.
        updates: the states after an iteration.
    """

    def __init__(self, terms: Terms, recurrence: Term, bound: Bound) -> None:
        self._terms, self._recurrence, self.bound = terms, recurrence, bound
        self.limit: Dimension = element(recurrence.operands[0].fact)
        self.inits = recurrence.operands[2:]
        self.updates = recurrence.head.parts[bound.conditional :]

    @classmethod
    def of(cls, terms: Terms, recurrence: Term, is_conditional: bool) -> _Loop | None:
        """Loop with or without a condition; None for another one."""
        bound = binding(recurrence)
        if bound is None or bound.conditional is not is_conditional:
            return None
        limit, _, *inits = recurrence.args
        if limit is None or None in inits or not isinstance(element(limit.fact), Dimension):
            return None
        # A size inside may be a state, and each iteration draws numbers of its own.
        has_sizes = any(state.fact.content is not None for state in bound.states)
        if has_sizes or any(t.head.name == "drawn" for t in descendants(recurrence.head.parts)):
            return None
        loop = cls(terms, recurrence, bound)
        triples = zip(bound.states, loop.inits, loop.updates, strict=True)
        shapes = [{each.fact.shape for each in triple} for triple in triples]
        return None if any(len(alike) > 1 or None in alike for alike in shapes) else loop

    @property
    def start(self) -> Term:
        """Condition before the first iteration."""
        return self._recurrence.operands[1]

    @property
    def condition(self) -> Term:
        """Condition after an iteration."""
        return self._recurrence.head.parts[0]

    def free(
        self,
        length: Dimension,
        parts: Sequence[Term],
        updates: Mapping[int, Term] | None = None,
        flags: Sequence[Term] = (),
    ) -> tuple[NewRecurrence, list[Term]]:
        """The loop without an end but its trip count.

        Args:
            length: the trip count.
            parts: further terms of an iteration.
            updates: states after an iteration in place of its own ones.
            flags: an initial state more, which rises with the first of these terms.

        Returns:
            the loop, and the terms over its variables.
        """
        terms, own = self._terms, list(self.updates)
        for k, each in (updates or {}).items():
            own[k] = each
        results: list[Term] = []

        def update(states: Sequence[Term], index: Dimension) -> list[Term]:
            count = len(self.bound.states)
            leaves = dict(zip(self.bound.states, states[:count], strict=True))
            step = Substitution(terms, leaves, {self.bound.index: index})
            results.extend(map(step.of, parts))
            more = [terms.op("Or", _OPSET, flag, results[0]) for flag in states[count:]]
            return [*map(step.of, own), *more]

        inits = [*self.inits, *flags]
        operands = self._recurrence, terms.size(length)
        return new_recurrence(terms, length, inits, update, operands), results

    def rises(self, flag: Term) -> bool:
        """Test for a truth value that stays true: a state, before or after an iteration, that is an
        Or of itself and others."""
        for state, update in zip(self.bound.states, self.updates, strict=True):
            is_or = update.is_op("Or") and state in update.operands and state.fact.shape == ()
            if is_or and flag in (state, update):
                return True
        return False

    def reads_only(self, term: Term, states: Mapping[int, Term]) -> bool:
        """Test for a term that depends on some states alone, not on the iteration."""
        others = {s for k, s in enumerate(self.bound.states) if k not in states}
        if not others.isdisjoint(descendants([term])):
            return False
        other = self._terms.symbols.fresh()
        return Substitution(self._terms, {}, {self.bound.index: other}).of(term) is term


def _choice(terms: Terms, update: Term, state: Term) -> tuple[Term, Term] | None:
    """Condition that keeps a state, and the next state where it does not hold."""
    if update.head.name not in ("choose", "Where") or state not in update.operands[1:]:
        return None
    condition, stay, new = update.operands
    condition = below_view(condition)
    if stay is not state:
        condition, new = terms.op("Not", _OPSET, condition), stay
    is_one = condition.fact.shape == () and condition.fact.elem_type == _BOOL
    return (condition, new) if is_one and new.shape == state.shape else None


def _uncast(term: Term) -> tuple[Term, bool]:
    """Truth values that numbers 0 and 1 are."""
    is_cast = term.is_op("Cast") and term.operands[0].fact.elem_type == _BOOL
    return (term.operands[0], True) if is_cast else (term, False)
