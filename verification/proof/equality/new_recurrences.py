"""Recurrences that the comparison builds: of recurrent operators, doubling loops and folds."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....facts.fact import PRIVATE, Fact, Shape
from ....facts.polynomial import Dimension
from ..terms.free_variables import Bound
from ..terms.term import Term
from ..terms.term_manager import Terms

Update = Callable[[Sequence[Term], Dimension], Sequence[Term]]
"""Function of the states before an iteration and its number: the states after it."""


class NewRecurrence(NamedTuple):
    """Recurrence of a trip count.

    Attributes:
        term: the recurrence.
        name: symbol of the iteration number.
        states: variables.
        updates: states after an iteration.
        length: trip count.
    """

    terms: Terms
    term: Term
    name: str
    states: Sequence[Term]
    updates: Sequence[Term]
    length: Dimension

    def stacked(self, number: int) -> Term:
        """States after each iteration."""
        kind = self.states[number].fact
        return self.rows_of(self.updates[number], (kind.elem_type, kind.shape))

    def rows_of(self, part: Term, declared: tuple[int, Shape | None] | None) -> Term:
        """A part of each iteration, with its type and shape where there is none."""
        head = self.terms.heads.own("stacked", (self.name, declared), (part,))
        rows = Fact(part.fact.elem_type, (self.length, *part.shape))
        return self.terms.keep(head, (self.term,), rows)

    def final(self, number: int) -> Term:
        """State after all iterations."""
        head = self.terms.heads.own("final", number)
        return self.terms.keep(head, (self.term,), self.states[number].fact)

    def before(self, number: int, iteration: Dimension) -> Term:
        """State before an iteration, or after the last one."""
        if iteration == self.length:
            return self.final(number)
        head, place = self.terms.heads.own("state", number), self.terms.size(iteration)
        return self.terms.keep(head, (self.term, place), self.states[number].fact)


def new_recurrence(
    terms: Terms,
    length: Dimension,
    inits: Sequence[Term],
    update: Update,
    operands: Sequence[Term | None] = (),
) -> NewRecurrence:
    """Recurrence that a trip count alone ends, whose states keep types and shapes.

    Args:
        length: the trip count.
        update: function of the states and the iteration number.
        operands: other terms that the update reads.
    """
    levels: set[int] = set()
    for each in (*inits, *operands, terms.size(length)):
        levels |= set() if each is None else terms.symbols.free(each)
    level = 1 + max(levels, default=-1)
    name = f"{PRIVATE}iteration{level}:{length}"
    index = terms.symbols.iteration(name, level)
    terms.limits[name] = length
    terms.loop_count += 1
    tag, states = f"{level}.{terms.loop_count}", list[Term]()
    for number, init in enumerate(inits):
        fact = terms.facts.one(Fact(init.fact.elem_type, init.shape))
        states.append(terms.leaf("bound", (level, tag, number, id(fact)), fact))
    updates = tuple(update(states, index))
    head = terms.heads.own("recurrence", Bound(name, tuple(states), False, True), updates)
    term = terms.keep(head, (terms.size(length), None, *inits), Fact())
    return NewRecurrence(terms, term, name, states, updates, length)
