"""Whether two terms are equal: the same, made of equal ones alike, or equal part by part.

All that is asked must hold, so what has been asked once is taken for granted; that the states of two
recurrences are equal is proved by induction over their trips.
"""

from __future__ import annotations

from ..facts.dimension import Dimension
from ..facts.fact import PRIVATE, Shape, element
from .algebra import Terms
from .budget import OpenError
from .constructs.recurrences import Bound
from .narrowing import Narrowing
from .opening import on_trip, stacked_on_trip
from .substitution import Substitution, binding
from .terms import Term


class Difference(OpenError):
    """Two terms that could not be shown to be equal.

    Attributes:
        before: that of the original.
        after: that of the rewrite.
    """

    def __init__(self, reason: str, before: Term | None, after: Term | None) -> None:
        super().__init__(reason)
        self.before = before
        self.after = after


Pair = tuple[Term, Term]
ZERO, ONE = Dimension.constant(0), Dimension.constant(1)

_BARE = ("Concat", "stacked", "state", "final", "fresh")
"""What is compared in the shape that it has, and what it is compared with in that shape, too."""


class Comparison:
    """Compares terms.

    Args:
        terms: where they were made.

    Attributes:
        positive: numbers of trips that are taken to be 1 or more.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.narrowing = Narrowing(terms)
        self.positive: set[Dimension] = set()
        self._asked: set[Pair] = set()
        self._stack: list[Pair] = []
        self._opened: dict[Pair, tuple[Substitution, Substitution]] = {}
        self._variables: dict[Pair, Pair] = {}
        self._partners: dict[Term, Term] = {}
        self._opened_as: dict[Term, tuple[Term, int, Dimension]] = {}
        self._fresh = 0

    @property
    def assumptions(self) -> set[str]:
        """What was taken for granted."""
        return {
            f"{name} of some rows gives the same bits as of all rows"
            for name in self.narrowing.chosen
        }

    def require(self, before: Term | None, after: Term | None, output: str) -> None:
        """Compare what two models give out.

        Raises:
            Difference: they are not known to be equal.
        """
        self._ask(before, after)
        while self._stack:
            self.terms.budget.step()
            one, other = self._stack.pop()
            if not self._compare(one, other):
                reason = f"output '{output}': {one.head.name} is not known to be {other.head.name}"
                raise Difference(reason, one, other)

    def _ask(self, one: Term | None, other: Term | None) -> None:
        if one is other:
            return
        if one is None or other is None:
            raise Difference("a value is absent in one of the models", one, other)
        if (one, other) not in self._asked:
            self._asked.add((one, other))
            self._stack.append((one, other))

    def _compare(self, one: Term, other: Term) -> bool:
        """Whether two terms are equal if all that is asked for holds."""
        settled = self.narrowing.settled(one), self.narrowing.settled(other)
        if settled != (one, other):
            self._ask(*settled)
            return True
        rules = (
            self._drawn,
            self._states,
            self._shifted,
            self._summed,
            self._recurrences,
            self._viewed,
            self._joined,
            self._stacked,
            self._alike,
        )
        return any(rule(one, other) for rule in rules)

    def _alike(self, one: Term, other: Term) -> bool:
        """The same head on arguments that are equal."""
        if one.head is not other.head or one.index != other.index:
            return False
        if len(one.args) != len(other.args) or one.head.name in ("input", "constant", "sizes"):
            return False
        if any((a is None) is not (b is None) for a, b in zip(one.args, other.args, strict=True)):
            return False
        pairs = list(zip(one.args, other.args, strict=True))
        if any(a is not None and b is not None and _unlike(a, b) for a, b in pairs):
            return False
        for pair in reversed(pairs):
            self._ask(*pair)
        return True

    def _viewed(self, one: Term, other: Term) -> bool:
        """Views of one shape: what is viewed is equal in one shape; that of the pieces of a Concat or
        of the trips of a recurrence, where one of them is such."""
        if one.fact.shape is None or one.fact.shape != other.fact.shape:
            return False
        for term in (one, other):
            below = term.args[0] if term.head.name == "view" else None
            shape = None if below is None else below.fact.shape
            if below is not None and shape is not None and below.head.name in _BARE:
                self._ask(self.terms.view(one, shape), self.terms.view(other, shape))
                return True
        return False

    def _joined(self, one: Term, other: Term) -> bool:
        """A Concat and what has the same pieces."""
        joined, whole = (one, other) if one.is_op("Concat") else (other, one)
        if not joined.is_op("Concat") or joined.fact.shape != whole.fact.shape:
            return False
        axis = joined.head.attribute("axis")
        ends = self.terms.ends_of(joined, axis)
        if ends is None:
            return False
        if whole.head is joined.head and self.terms.ends_of(whole, axis) == ends:
            return False  # alike
        pairs = []
        for piece, start, end in zip(joined.args, [0, *ends], ends, strict=False):
            size = Dimension.constant(end - start)
            part = self.narrowing.of(whole, axis, Dimension.constant(start), size)
            if part.head.name == "narrow" and part.args[0] is whole:
                return False
            pairs.append((piece, part) if joined is one else (part, piece))
        for pair in reversed(pairs):
            self._ask(*pair)
        return True

    def _drawn(self, one: Term, other: Term) -> bool:
        """What two nodes draw, or give that nobody knows: one node for one node."""
        if one.head.name != "drawn" or other.head.name != "drawn":
            return False
        (side, _, head), (side_of_other, _, head_of_other) = one.head.key, other.head.key
        if head is not head_of_other or side == side_of_other or one.index != other.index:
            return False
        known = self._partners.get(one), self._partners.get(other)
        if known == (None, None):
            self._partners[one], self._partners[other] = other, one
        elif known != (other, one):
            return False
        if len(one.args) != len(other.args):
            return False
        for pair in zip(one.args, other.args, strict=True):
            self._ask(*pair)
        return True

    def _stacked(self, one: Term, other: Term) -> bool:
        """What a recurrence stacks, and what has the same elements on every trip."""
        if one.head.name == "stacked" and other.head.name == "stacked":
            return self._both_stacked(one, other)
        stacked, whole = (one, other) if one.head.name == "stacked" else (other, one)
        if stacked.head.name != "stacked" or not stacked.fact.shape:
            return False
        shape = whole.fact.shape
        if not shape or shape[0] != stacked.fact.shape[0]:
            return False
        self._takes_trips(stacked)
        index = self._symbol(stacked.fact.shape[0])
        a, b = (self._element(term, index) for term in (one, other))
        if a is None or b is None:
            return False
        self._ask(a, b)
        return True

    def _both_stacked(self, one: Term, other: Term) -> bool:
        """What two recurrences stack: as many elements, each the same."""
        a, b = one.args[0], other.args[0]
        assert a is not None and b is not None
        opened = self._open(a, b)
        if opened is None:
            return False
        if one.head.key[1] != other.head.key[1] and not self._takes_trips(one):
            return False
        self._ask(opened[0].of(one.head.parts[0]), opened[1].of(other.head.parts[0]))
        return True

    def _takes_trips(self, stacked: Term) -> bool:
        """Take it that there is a trip, where what is stacked if there is none is not the same."""
        shape = stacked.fact.shape
        if not shape:
            return False
        if stacked.head.key[1] is not None:
            self.positive.add(shape[0])
        return True

    def _element(self, term: Term, index: Dimension) -> Term | None:
        """What a term holds at a place along its first axis."""
        shape = term.fact.shape
        assert shape is not None
        if term.head.name == "stacked":
            return stacked_on_trip(self.terms, term, index)
        part = self.narrowing.of(term, 0, index, Dimension.constant(1))
        if part.head.name == "narrow" and part.args[0] is term and term.head.name != "input":
            return None
        return self.terms.view(part, shape[1:])

    def _states(self, one: Term, other: Term) -> bool:
        """States of two recurrences before the same trip, or after the last one."""
        if one.head.name not in ("state", "final") or one.head.name != other.head.name:
            return False
        a, b = one.args[0], other.args[0]
        assert a is not None and b is not None
        if one.head.name == "state" and one.args[1] is not other.args[1]:
            return False
        opened = self._open(a, b)
        if opened is None:
            return False
        bounds = binding(a), binding(b)
        assert bounds[0] is not None and bounds[1] is not None
        p, q = bounds[0].states[one.head.key], bounds[1].states[other.head.key]
        x, y = opened[0].of(p), opened[1].of(q)
        self._variables[x, y] = a, b
        self._ask(x, y)
        return True

    def _shifted(self, one: Term, other: Term) -> bool:
        """A state before some trip, or after the last, is a place in the row of what it was first
        and of what each trip makes of it."""
        for state, place in ((one, other), (other, one)):
            found = self._before_trip(state)
            row = None if found is None else self._row(place, found[2])
            if found is None or row is None:
                continue
            recurrence, k, _ = found
            (first, rest), trips = row, self._trips(recurrence)
            before = recurrence.args[2 + k]
            if before is None or before.fact.shape is None or trips is None:
                continue
            if rest.fact.shape is None or rest.fact.shape[0] != trips:
                continue
            index = self._symbol(trips)
            pairs = [
                (before, self.terms.view(first, before.fact.shape)),
                (
                    on_trip(self.terms, recurrence, recurrence.head.parts[k], index),
                    self._element(rest, index),
                ),
            ]
            for a, b in pairs:
                self._ask(*((a, b) if state is one else (b, a)))
            return True
        return False

    def _summed(self, one: Term, other: Term) -> bool:
        """An Add to a state that is the sum of what came before is the next place of a CumSum, which
        adds in the same order; the first place is what there was first."""
        for total, place in ((one, other), (other, one)):
            row = self._place_of_sum(place)
            if row is None:
                continue
            values, at, shape = row
            found = self._before_trip(total)
            if found is not None and found[2] == at:
                return self._is_sum(total is one, found, values)
            if total.is_op("Add") and (at - 1).less(0) is False:
                before = self._at(place, at - 1)
                if before is None:
                    continue
                added = self.terms.view(self.narrowing.of(values, 0, at, ONE), shape)
                return self._added(total, (before, added), total is one)
        return False

    def _place_of_sum(self, place: Term) -> tuple[Term, Dimension, Shape] | None:
        """What is summed, up to where, and the shape of a term that is a place of a CumSum."""
        part = place.args[0] if place.head.name == "view" else place
        if part is None or part.head.name != "narrow" or part.head.key != 0:
            return None
        total, start, size = part.args
        assert total is not None and start is not None and size is not None
        if not total.is_op("CumSum") or self.terms.numbers(total.args[1]) != [0]:
            return None
        if total.head.attribute("reverse", 0) or total.head.attribute("exclusive", 0):
            return None
        values = total.args[0]
        if values is None or place.fact.shape is None or element(size.fact) != 1:
            return None
        return values, element(start.fact), place.fact.shape

    def _at(self, place: Term, at: Dimension) -> Term | None:
        """Another place of the same CumSum."""
        part = place.args[0] if place.head.name == "view" else place
        assert part is not None and part.args[0] is not None and place.fact.shape is not None
        return self.terms.view(self.terms.narrow(part.args[0], 0, at, 1), place.fact.shape)

    def _added(self, total: Term, parts: tuple[Term, Term], first: bool) -> bool:
        """Ask for the operands of an Add, in the order in which a state may be one."""
        x, y = total.args
        assert x is not None and y is not None
        if self._before_trip(x) is None:
            x, y = y, x
        if self._before_trip(x) is None:
            return False
        for a, b in ((x, parts[0]), (y, parts[1])):
            self._ask(*((a, b) if first else (b, a)))
        return True

    def _is_sum(
        self, first: bool, found: tuple[Term, int, Dimension], values: Term
    ) -> bool:
        """Whether a state begins with the first of some values, and each trip adds the next."""
        recurrence, k, _ = found
        trips, update = self._trips(recurrence), recurrence.head.parts[found[1]]
        bound, before = binding(recurrence), recurrence.args[2 + k]
        shape = values.fact.shape
        if trips is None or bound is None or before is None or before.fact.shape is None:
            return False
        if not shape or shape[0] != trips + 1 or not update.is_op("Add"):
            return False
        state = bound.states[k]
        others = [arg for arg in update.args if arg is not state]
        if len(others) != 1 or others[0] is None or state not in update.args:
            return False
        index, own = self._symbol(trips), before.fact.shape
        rest = self.narrowing.of(values, 0, index + 1, ONE)
        pairs = [
            (before, self.terms.view(self.narrowing.of(values, 0, ZERO, ONE), own)),
            (on_trip(self.terms, recurrence, others[0], index), self.terms.view(rest, own)),
        ]
        for a, b in pairs:
            self._ask(*((a, b) if first else (b, a)))
        return True

    def _before_trip(self, state: Term) -> tuple[Term, int, Dimension] | None:
        """The recurrence that a state is one of, which one, and before which trip."""
        if state.head.name == "fresh":
            return self._opened_as.get(state)
        if state.head.name not in ("state", "final"):
            return None
        recurrence = state.args[0]
        assert recurrence is not None
        trips = self._trips(recurrence)
        if state.head.name == "final":
            return None if trips is None else (recurrence, state.head.key, trips)
        assert state.args[1] is not None
        return recurrence, state.head.key, element(state.args[1].fact)

    def _trips(self, recurrence: Term) -> Dimension | None:
        """How many trips a recurrence makes, where nothing but a number ends it."""
        bound = binding(recurrence)
        if bound is None or bound.honoured or recurrence.args[1] is not None:
            return None
        return self.terms.limits.get(bound.index)

    def _row(self, place: Term, at: Dimension) -> tuple[Term, Term] | None:
        """The first element of a row, and the others, where a term is what stands at a place."""
        part = place.args[0] if place.head.name == "view" else place
        if part is None or part.head.name != "narrow" or part.head.key != 0:
            return None
        row, start = part.args[0], part.args[1]
        assert row is not None and start is not None
        if not row.is_op("Concat") or len(row.args) != 2 or row.head.attribute("axis") != 0:
            return None
        first, rest = row.args
        assert first is not None and rest is not None
        shape = first.fact.shape
        if shape is None or shape[0].value != 1 or element(start.fact) != at:
            return None
        return first, rest

    def _recurrences(self, one: Term, other: Term) -> bool:
        """Two variables: equal before the first trip, and after one if they were before it."""
        pair = self._variables.get((one, other)) or self._variables_of(one, other)
        if pair is None:
            return False
        (a, b), (p, q) = pair, (one.head.key[-1], other.head.key[-1])
        opened = self._opened[pair]
        bounds = binding(a), binding(b)
        assert bounds[0] is not None and bounds[1] is not None
        self._ask(a.args[2 + p], b.args[2 + q])
        x = a.head.parts[p + bounds[0].honoured]
        y = b.head.parts[q + bounds[1].honoured]
        self._ask(opened[0].of(x), opened[1].of(y))
        return True

    def _variables_of(self, one: Term, other: Term) -> Pair | None:
        """The recurrences of which two terms are variables, opened together."""
        if one.head.name != "fresh" or other.head.name != "fresh":
            return None
        (number, side, _), (number_of_other, side_of_other, _) = one.head.key, other.head.key
        if number != number_of_other or (side, side_of_other) != (0, 1):
            return None
        return next((p for n, p in enumerate(self._opened) if n == number), None)

    def _open(self, a: Term, b: Term) -> tuple[Substitution, Substitution] | None:
        """Two recurrences with variables of their own and one trip for both; None where they may
        make a different number of trips."""
        if (a, b) in self._opened:
            return self._opened[a, b]
        one, other = a.head.key, b.head.key
        assert isinstance(one, Bound) and isinstance(other, Bound)
        if one.honoured != other.honoured:
            return None
        limits = self.terms.limits.get(one.index), self.terms.limits.get(other.index)
        if limits[0] != limits[1] or (a.args[1] is None) is not (b.args[1] is None):
            return None
        index = self._symbol(limits[0])
        number = len(self._opened)
        opened = tuple(
            Substitution(
                self.terms,
                {
                    state: self.terms.leaf("fresh", (number, side, k), state.fact)
                    for k, state in enumerate(bound.states)
                },
                {bound.index: index},
            )
            for side, bound in enumerate((one, other))
        )
        self._opened[a, b] = opened[0], opened[1]
        for recurrence, bound, put in ((a, one, opened[0]), (b, other, opened[1])):
            for k, state in enumerate(bound.states):
                self._opened_as[put.of(state)] = recurrence, k, index
        if a.args[1] is not None:
            self._ask(a.args[1], b.args[1])
        if one.honoured:
            self._ask(opened[0].of(a.head.parts[0]), opened[1].of(b.head.parts[0]))
        return self._opened[a, b]

    def _symbol(self, limit: Dimension | None) -> Dimension:
        """A new number of a trip."""
        name = f"{PRIVATE}any{self._fresh}"
        self._fresh += 1
        if limit is not None:
            self.terms.limits[name] = limit
        return self.terms.symbols.named(name)


def _unlike(one: Term, other: Term) -> bool:
    """Whether two terms certainly differ in shape."""
    a, b = one.fact.shape, other.fact.shape
    if a is None or b is None:
        return False
    return len(a) != len(b) or any(x.equals(y) is False for x, y in zip(a, b, strict=True))
