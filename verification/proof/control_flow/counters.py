"""Conditions of loops that only count: how many trips they allow.

`while i < n` with a counter that starts at s and grows by 1 holds for n - s trips, if s is below n.
What a body computes is asked for after a trip, so the first one is made whatever the counter says,
unless the initial condition says of the start what the body says of the counter on each trip.

That is so of integers that do not wrap. A counter that comes nearer to its bound one by one is at
the bound before it would leave its type; that it starts there, and that the bound lies in its type,
is what must be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import onnx

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ..exact_integers import Whole, whole
from ..float32_rounding import SPACING, before_rounding, passed
from ..free_variables import COMPARED
from ..integers import bare, is_one_integer, range_of
from ..trip_counts import counted, least

if TYPE_CHECKING:
    from ..symbolic_execution import Value
    from ..term_manager import Terms
    from ..terms import Term

_NEGATED = {"Less": "GreaterOrEqual", "Greater": "LessOrEqual"}
_NEGATED |= {other: name for name, other in _NEGATED.items()}

_INT32, _INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64
_MOST_PARTS = 8
_EXACT = 1 << 24
"""Whole numbers below this one, and their neighbours, are float32 numbers, too."""


class Loop(NamedTuple):
    """What is asked of a loop.

    Attributes:
        level: how many loops are around it.
        trip: the number of a trip.
        inits: its initial values.
        states: its states before that trip.
        updates: what the trip makes of them.
    """

    level: int
    trip: Dimension
    inits: Sequence[Term]
    states: Sequence[Term]
    updates: Sequence[Value]


class Counter(NamedTuple):
    """What grows by the same number, 1 or -1, on each trip.

    Attributes:
        first: what it is on the first trip, if it does not wrap there.
        step: by how much it grows.
        elem_type: it stays in the range of this type, or wraps.
    """

    first: Whole
    step: int
    elem_type: int


class Order(NamedTuple):
    """`one < other`, or `one > other`, of two integers.

    Attributes:
        above: whether the first one is the larger one.
        equal: it also holds if they are equal.
        rounded: they are compared as float32.
    """

    one: Term
    other: Term
    above: bool
    equal: bool
    rounded: bool

    def turned(self) -> Order:
        """The same, said from the other side."""
        return self._replace(one=self.other, other=self.one, above=not self.above)


class End(NamedTuple):
    """What ends a loop: a counter that is no longer before a bound."""

    counter: Counter
    bound: Whole
    order: Order


def trips_counted(
    terms: Terms, loop: Loop, start: Term, again: Term
) -> tuple[Dimension, Term | None] | None:
    """How many trips a condition allows, and what is left of the initial one; None where it does
    not only count.

    Args:
        terms: where terms are made.
        loop: the loop.
        start: its initial condition.
        again: what its body says.
    """
    never = terms.tensor(again)
    if never is not None and not never.numpy().any():
        return Dimension.constant(1), start
    ends = _ends(terms, loop, again)
    if not ends:
        return None
    said = _said_of_starts(terms, start, ends)
    if not all(_starts_well(end, k in said) for k, end in enumerate(ends)):
        return None
    counts = [_allowed(terms, end, 0 if k in said else 1) for k, end in enumerate(ends)]
    terms.used.add("counted")
    return least(terms, counts), None if said else start


def _ends(terms: Terms, loop: Loop, again: Term) -> list[End]:
    """What ends a loop; nothing where something else may end it, too."""
    ends = [_end(terms, loop, order) for order in _orders(terms, again)]
    return [] if None in ends else [end for end in ends if end is not None]


def _orders(terms: Terms, condition: Term) -> list[Order]:
    """The comparisons that a condition consists of; none where it consists of more."""
    found: list[Order] = []
    waiting = [(condition, True)]
    while waiting:
        part, holds = waiting.pop()
        terms.budget.step()
        if part.head.name == "view" and part.args[0] is not None:
            waiting.append((part.args[0], holds))
        elif part.is_op("Not") and part.args[0] is not None:
            waiting.append((part.args[0], not holds))
        elif part.is_op("And" if holds else "Or"):
            waiting += [(arg, holds) for arg in part.args if arg is not None]
        else:
            order = _order(terms, part, holds)
            if order is None or len(found) == _MOST_PARTS:
                return []
            found.append(order)
    return found


def _order(terms: Terms, part: Term, holds: bool) -> Order | None:
    """What is compared, of two integers; None for anything else."""
    if part.head.name not in _NEGATED:
        return None
    name = part.head.name if holds else _NEGATED[part.head.name]
    one, other = part.args
    assert one is not None and other is not None
    whole_numbers = before_rounding(terms, one), before_rounding(terms, other)
    rounded = None not in whole_numbers
    if rounded:
        one, other = whole_numbers
    if one is None or other is None or not (is_one_integer(one) and is_one_integer(other)):
        return None
    pair = bare(terms, one), bare(terms, other)
    return Order(*pair, name.startswith("Greater"), name.endswith("Equal"), rounded)


def _end(terms: Terms, loop: Loop, order: Order) -> End | None:
    for said in (order, order.turned()):
        counter = _counter(terms, loop, said.one)
        if counter is not None and (counter.step < 0) is said.above:
            end = End(counter, whole(terms, said.other), said)
            return end if _stays(terms, loop, said.other) and _is_met(end) else None
    return None


def _stays(terms: Terms, loop: Loop, term: Term) -> bool:
    """Whether a term is the same on every trip."""
    return terms.symbols.free(term).isdisjoint((loop.level, COMPARED))


def _is_met(end: End) -> bool:
    """Whether a counter is at the end before it would leave its type; and of rounded numbers,
    whether they are those that `rounding.py` knows about."""
    (low, high), bound, order = range_of(end.counter.elem_type), end.bound, end.order
    if order.rounded and (order.equal or not (_fits(bound) and _fits(end.counter.first))):
        return False
    return low <= bound.low - order.equal if order.above else bound.high + order.equal <= high


def _fits(number: Whole) -> bool:
    """Whether a number has 32 bits, or is next to those that have."""
    low, high = range_of(_INT32)
    return low - 1 <= number.low and number.high <= high + 1


def _counter(terms: Terms, loop: Loop, term: Term) -> Counter | None:
    told = element(term.fact)
    if isinstance(told, Dimension):
        return _told_counter(terms, loop, told, term.fact.elem_type)
    base, offset = _moved(terms, term)
    for k, state in enumerate(loop.states):
        update, init = loop.updates[k], loop.inits[k]
        if not is_one_integer(state) or bare(terms, state) is not base:
            continue
        if update is None or not is_one_integer(update) or not is_one_integer(init):
            return None
        before, step = _moved(terms, bare(terms, update))
        if before is base and step in (1, -1) and base.fact.elem_type in (_INT32, _INT64):
            return Counter(whole(terms, init).moved(offset), step, base.fact.elem_type)
    return None


def _moved(terms: Terms, term: Term) -> tuple[Term, int]:
    """A term of one integer, and what is added to it without leaving its type."""
    if term.is_op("Add", "Sub") and all(map(is_one_integer, term.args)):
        pairs = [term.args] if term.is_op("Sub") else [term.args, term.args[::-1]]
        for base, number in pairs:
            numbers = terms.numbers(number)
            if base is None or numbers is None:
                continue
            below = bare(terms, base)
            if below.fact.elem_type == term.fact.elem_type:
                return below, -numbers[0] if term.is_op("Sub") else numbers[0]
    return term, 0


def _told_counter(terms: Terms, loop: Loop, told: Dimension, elem_type: int) -> Counter | None:
    """What is known as a function of the number of the trip."""
    (index,) = loop.trip.symbols
    step = told.terms.get((index,), 0)
    rest = told - loop.trip * step
    first = terms.size(rest)
    if step not in (1, -1) or index in rest.symbols or not _stays(terms, loop, first):
        return None
    narrow = [
        init
        for init, state in zip(loop.inits, loop.states, strict=True)
        if _is_narrow(index, state)
    ]
    if narrow or elem_type == _INT32:
        return Counter(_beside(terms, rest, narrow) or whole(terms, first), step, _INT32)
    return Counter(whole(terms, first), step, _INT64) if elem_type == _INT64 else None


def _is_narrow(index: str, state: Term) -> bool:
    """Whether a state is known by the number of the trip, and of 32 bits: what it is cast to is
    known as well, and does not show that."""
    told = element(state.fact)
    is_known = isinstance(told, Dimension) and index in told.symbols
    return is_known and state.fact.elem_type != _INT64


def _beside(terms: Terms, first: Dimension, inits: Sequence[Term]) -> Whole | None:
    """A number that differs by a constant from one of 32 bits."""
    for init in inits:
        number = whole(terms, init)
        away = (first - number.form).value
        if away is not None:
            return number.moved(away)
    return None


def _starts_well(end: End, said: bool) -> bool:
    """Whether a counter does not wrap where it begins. That it does not at its bound is certain
    where it is known to begin before it."""
    low, high = range_of(end.counter.elem_type)
    first, above = end.counter.first, end.order.above
    return (first.low >= low or (said and above)) and (first.high <= high or (said and not above))


def _said_of_starts(terms: Terms, start: Term, ends: Sequence[End]) -> set[int]:
    """Of which counters the initial condition says what the body says; of none where it also says
    something else."""
    found: set[int] = set()
    for order in _orders(terms, start):
        said = {k for k, end in enumerate(ends) if _says(terms, order, end)}
        if not said:
            return set()
        found |= said
    return found


def _says(terms: Terms, order: Order, end: End) -> bool:
    """Whether a comparison says of a counter, one step before its first trip, what its end says."""
    if order.above is not end.order.above:
        order = order.turned()
    if (order.above, order.equal) != (end.order.above, end.order.equal):
        return False
    before, bound = whole(terms, order.one), whole(terms, order.other)
    if (before.form, bound.form) != (end.counter.first.form - end.counter.step, end.bound.form):
        return False
    number = before.form.value
    is_exact = number is not None and abs(number) < _EXACT
    return order.rounded is end.order.rounded or (end.order.rounded and is_exact)


def _allowed(terms: Terms, end: End, floor: int) -> Dimension:
    """How many trips an end allows, but so many at least."""
    counter, bound = end.counter, end.bound
    if end.order.rounded:
        near = whole(terms, passed(terms, end.order.other, counter.step > 0)).moved(-SPACING)
        bound = bound.plus(near, counter.step)
    trips = bound.plus(counter.first, -1) if counter.step > 0 else counter.first.plus(bound, -1)
    return counted(terms, trips.moved(1 + end.order.equal - floor)) + floor
