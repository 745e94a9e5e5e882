"""Trip counts: max(n, 0), minima, and loops that count until a condition fails.

Each trip count has one canonical form, however a model computes it.

`while i < n` with a counter that starts at s and grows by 1 holds for n - s iterations if s < n.
The body computes its condition after an iteration, so the loop makes the first one whatever the
counter is, unless the initial condition compares the start as the body compares the counter.

That holds for integers that do not wrap. A counter that approaches its bound one by one meets the
bound before it leaves its type; the start and the bound must lie within the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import onnx

from ....facts.fact import Fact, element
from ....facts.polynomial import Dimension
from ..terms.free_variables import COMPARED
from ..terms.linear_sum import Whole
from ..terms.term import Term, fingerprint
from ..terms.term_manager import Terms
from .exact_integers import (
    SPACING,
    TOTAL,
    atom,
    bare,
    before_rounding,
    highest,
    is_one_integer,
    passed,
    range_of,
    whole,
)

LEAST = "least"
"""The head of the least of several sizes."""
_MOST_PARTS = 16
_ZERO = Dimension.constant(0)
_SCALAR = Fact(onnx.TensorProto.INT64, ())


def not_negative(terms: Terms, number: Term) -> Dimension:
    """A number that run time tells, or 0 where it is negative."""
    told = element(number.fact)
    if isinstance(told, Dimension) and told.less(0) is False:
        return told
    if is_one_integer(number):
        return at_least(terms, number, 0)
    return terms.following("least0", number, None)


def at_least(terms: Terms, number: Term, floor: int) -> Dimension:
    """One integer that run time tells, or another one, of at least 0, where it is below that."""
    parts = _least_of(terms, number)
    return (
        least(terms, [counted(terms, whole(terms, part).moved(-floor)) for part in parts]) + floor
    )


def counted(terms: Terms, number: Whole) -> Dimension:
    """A number, or 0 where it is negative."""
    number = _before_zero(terms, number)
    told, atoms = number.parts()
    if number.high <= 0:
        return _ZERO
    if not atoms and told.less(0) is False:
        return told
    return _named(terms, _total(terms, told, atoms), number)


def _before_zero(terms: Terms, number: Whole) -> Whole:
    """Max(n, 0) - 1 is negative where n - 1 is, and else the same."""
    told, atoms = number.parts()
    rest = told.terms.get((), 0)
    symbols = [product for product in told.terms if product]
    if atoms or rest > 0 or len(symbols) != 1 or len(symbols[0]) != 1:
        return number
    known = terms.counts.get(symbols[0][0]) if told.terms[symbols[0]] == 1 else None
    return number if known is None else known.moved(rest)


def _named(terms: Terms, term: Term, number: Whole) -> Dimension:
    """The size that a term is, or 0 where it is negative."""
    size = terms.following("least0", term, None)
    for name in size.symbols:
        known = terms.counts.get(name)
        if known is None or number.high < known.high:
            terms.counts[name] = number
    return size


def _total(terms: Terms, told: Dimension, atoms: list[tuple[Term, int]]) -> Term:
    """One term for a sum, in whatever order it is written."""
    if not atoms:
        return terms.size(told)
    if len(atoms) == 1 and atoms[0][1] == 1 and told.value == 0:
        return atoms[0][0]
    ordered = sorted(atoms, key=lambda atom: (fingerprint(atom[0]), atom[1]))
    head = terms.heads.own(TOTAL, (1, *(factor for _, factor in ordered)))
    return terms.keep(head, (terms.size(told), *(term for term, _ in ordered)), _SCALAR)


def _least_of(terms: Terms, number: Term) -> list[Term]:
    """The numbers of which one is the least; itself where there are none."""
    found: list[Term] = []
    waiting = [number]
    while waiting:
        term = bare(terms, waiting.pop())
        args = [arg for arg in term.args if is_one_integer(arg)]
        if term.head.name not in ("Min", LEAST) or len(args) != len(term.args):
            found.append(term)
        else:
            waiting.extend([arg for arg in args if arg is not None])
        if len(found) + len(waiting) > _MOST_PARTS:
            return [number]
    return found


def least(terms: Terms, sizes: Iterable[Dimension]) -> Dimension:
    """The least of several sizes."""
    known = list(dict.fromkeys(part for size in sizes for part in _parts(terms, size)))
    kept = [size for size in known if not any(_is_more(terms, size, o) for o in known)]
    if len(kept) == 1:
        return kept[0]
    ordered = sorted(kept, key=str)
    term = terms.keep(terms.heads.own(LEAST), tuple(map(terms.size, ordered)), _SCALAR)
    high = min(highest(terms, size) for size in ordered)
    return _named(terms, term, atom(term, 0, high))


def _parts(terms: Terms, size: Dimension) -> list[Dimension]:
    """The sizes of which one is the least one; itself where there are none."""
    (name,) = size.symbols if len(size.symbols) == 1 else ("",)
    known = terms.counts.get(name) if size == Dimension.symbol(name) else None
    (term,) = known.atoms.values() if known is not None and len(known.atoms) == 1 else (None,)
    if term is None or term.head.name != LEAST:
        return [size]
    return [element(arg.fact) for arg in term.args if arg is not None]


def _is_more(terms: Terms, size: Dimension, other: Dimension) -> bool:
    """Whether a size is certainly no less than another one."""
    if size == other:
        return False
    if size.value is not None and highest(terms, other) <= size.value:
        return True
    return (size - other).less(0) is False


_NEGATED = {"Less": "GreaterOrEqual", "Greater": "LessOrEqual"}
_NEGATED |= {other: name for name, other in _NEGATED.items()}

_INT32, _INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64
_MOST_COMPARISONS = 8
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
    updates: Sequence[Term | None]


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
            if order is None or len(found) == _MOST_COMPARISONS:
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
    whether they have 32 bits or are next to those."""
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
