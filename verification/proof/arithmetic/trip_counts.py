"""Trip counts: max(n, 0), minima, and loops that count until a condition fails.

Each trip count has one canonical form, however a model computes it.

`while i < n` with a counter that starts at s and grows by k holds for ceil((n - s) / k) iterations
if s < n.
The body computes its condition after an iteration, so the loop makes the first one whatever the
counter is, unless the initial condition compares the start as the body compares the counter.

That holds for integers that do not wrap. A counter that approaches its bound one by one meets the
bound before it leaves its type; the start and the bound must lie within the type. One that may jump
over its bound, and over the end of its type, makes more iterations than any loop that ends.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import onnx

from ....facts.fact import Fact, element
from ....facts.magnitudes import MOST_ELEMENTS
from ....facts.polynomial import Dimension
from ..terms.free_variables import COMPARED
from ..terms.linear_sum import LinearSum
from ..terms.term import Term, bare, fingerprint
from ..terms.term_manager import STEADY, Terms
from .exact_integers import (
    LEAST,
    QUOTIENT,
    TOTAL,
    atom,
    highest,
    is_one_integer,
    linear_sum,
    range_of,
    unwrap,
)
from .inequalities import is_never_negative

MOST_ITERATIONS = 1 << 40
"""A loop with more iterations counts as one that does not end."""
_MOST_PARTS, _OPSET = 16, 13
_ZERO = Dimension.constant(0)
_SCALAR = Fact(onnx.TensorProto.INT64, ())


def not_negative(terms: Terms, number: Term) -> Dimension:
    """Trip count max(n, 0) of an integer that run time determines."""
    content = element(number.fact)
    # A size is never negative, so the maximum with 0 is the size itself.
    if isinstance(content, Dimension) and content.less(0) is False:
        return content
    if is_one_integer(number):
        return at_least(terms, number, 0)
    return terms.dependent_size("least0", number, None)


def known_number(terms: Terms, number: Term) -> Dimension | None:
    """Integer n, or n and a constant, as the trip count max(n, 0); None if that may be 0."""
    if not any(name.startswith(STEADY) for name in terms.case) or not is_one_integer(number):
        return None
    total = unwrap(terms, number)
    base, offset = _offset(terms, total)
    count = not_negative(terms, base)
    holds = terms.symbols.magnitudes.hold(count + offset, total.fact.elem_type)
    return count + offset if holds and (count - 1).less(0) is False else None


def at_least(terms: Terms, number: Term, floor: int) -> Dimension:
    """Maximum of an integer that run time determines and a constant of at least 0."""
    parts = _least_of(terms, number)
    return (
        least(
            terms,
            [nonnegative_part(terms, linear_sum(terms, part).shift(-floor)) for part in parts],
        )
        + floor
    )


def nonnegative_part(terms: Terms, number: LinearSum) -> Dimension:
    """Maximum of a linear sum and 0."""
    number = _before_zero(terms, number)
    sizes, atoms = number.parts()
    if number.high <= 0:
        return _ZERO
    if not atoms and sizes.less(0) is False:
        return sizes
    # The constant part leaves the maximum, so n + 1 and n have one symbol between them.
    if atoms and number.low > 0:
        return nonnegative_part(terms, number.shift(-number.low)) + number.low
    return _symbol_of(terms, _total(terms, sizes, atoms), number)


def _before_zero(terms: Terms, number: LinearSum) -> LinearSum:
    """Rewrite max(n, 0) - 1 to n - 1: both are negative, or equal."""
    sizes, atoms = number.parts()
    rest = sizes.terms.get((), 0)
    symbols = [product for product in sizes.terms if product]
    if atoms or rest > 0 or len(symbols) != 1 or len(symbols[0]) != 1:
        return number
    count = terms.counts.get(symbols[0][0]) if sizes.terms[symbols[0]] == 1 else None
    return number if count is None else count.shift(rest)


def _symbol_of(terms: Terms, term: Term, number: LinearSum) -> Dimension:
    """Symbol of the maximum of a term and 0."""
    size = terms.dependent_size("least0", term, None)
    for name in size.symbols:
        terms.symbols.magnitudes.bound(name, number.high)
        count = terms.counts.get(name)
        # One size may be known in several ways, of which the narrowest says most.
        if count is None or number.high < count.high:
            terms.counts[name] = number
    return size


def _total(terms: Terms, sizes: Dimension, atoms: list[tuple[Term, int]]) -> Term:
    """Canonical term of a sum."""
    if not atoms:
        return terms.size(sizes)
    if len(atoms) == 1 and atoms[0][1] == 1 and sizes.value == 0:
        return atoms[0][0]
    # By fingerprint: numbers of terms differ between the models.
    ordered = sorted(atoms, key=lambda atom: (fingerprint(atom[0], terms.fingerprints), atom[1]))
    head = terms.heads.own(TOTAL, (1, *(factor for _, factor in ordered)))
    return terms.keep(head, (terms.size(sizes), *(term for term, _ in ordered)), _SCALAR)


def _least_of(terms: Terms, number: Term) -> list[Term]:
    """Operands of a nested minimum; the integer itself if it is none."""
    operands: list[Term] = []
    waiting = [number]
    while waiting:
        term = unwrap(terms, waiting.pop())
        args = [arg for arg in term.args if is_one_integer(arg)]
        if term.head.name not in ("Min", LEAST) or len(args) != len(term.args):
            operands.append(term)
        else:
            waiting.extend([arg for arg in args if arg is not None])
        # A minimum of minima may have exponentially many paths to the same operands.
        if len(operands) + len(waiting) > _MOST_PARTS:
            return [number]
    return operands


def least(terms: Terms, sizes: Iterable[Dimension]) -> Dimension:
    """Minimum of several sizes."""
    parts = [part for size in _smallest(terms, sizes) for part in parts_of_least(terms, size)]
    minimal = _smallest(terms, parts)
    if len(minimal) == 1:
        return minimal[0]
    # In one order, so that equal minima are one term however a model lists them.
    ordered = sorted(minimal, key=str)
    term = terms.keep(terms.heads.own(LEAST), tuple(map(terms.size, ordered)), _SCALAR)
    high = min(highest(terms, size) for size in ordered)
    minimum = _symbol_of(terms, term, atom(term, 0, high))
    _record_cap(terms, minimum, ordered)
    return minimum


def _smallest(terms: Terms, sizes: Iterable[Dimension]) -> list[Dimension]:
    """Sizes that are not certainly as large as another one."""
    smallest: list[Dimension] = []
    for size in dict.fromkeys(sizes):
        if any(_is_more(terms, size, other) for other in smallest):
            continue
        smallest = [other for other in smallest if not _is_more(terms, other, size)]
        smallest.append(size)
    return smallest


def _record_cap(terms: Terms, minimum: Dimension, parts: Sequence[Dimension]) -> None:
    """Record the minimum of a number and one other size."""
    numbers = [part.value for part in parts if part.value is not None]
    sizes = [part for part in parts if part.value is None]
    if len(numbers) == len(sizes) == 1:
        terms.symbols.caps[minimum] = sizes[0], numbers[0]


def parts_of_least(terms: Terms, size: Dimension) -> list[Dimension]:
    """Sizes whose minimum a size is; itself if it is none."""
    (name,) = size.symbols if len(size.symbols) == 1 else ("",)
    count = terms.counts.get(name) if size == Dimension.symbol(name) else None
    if count is None or len(count.atoms) != 1:
        return [size]
    ((atom_name, term),) = count.atoms.items()
    if term.head.name != LEAST or count.form != Dimension.symbol(atom_name):
        return [size]
    return [element(arg.fact) for arg in term.args if arg is not None]


def number_of(terms: Terms, size: Dimension) -> Term | None:
    """Integer n of a trip count max(n, 0), without views; None for other sizes."""
    name = size.only_symbol or ""
    count = terms.counts.get(name) if size == Dimension.symbol(name) else None
    sizes, atoms = (_ZERO, []) if count is None else count.parts()
    is_one = sizes.value == 0 and [factor for _, factor in atoms] == [1]
    return bare(atoms[0][0]) if is_one else None


def with_whole(terms: Terms, size: Dimension) -> Dimension:
    """Rewrite min(k, n) + max(n - k, 0) in a sum to n."""
    for monomial, factor in size.terms.items():
        least_part = Dimension.symbol(monomial[0]) if len(monomial) == factor == 1 else _ZERO
        parts = parts_of_least(terms, least_part)
        if len(parts) != 2:
            continue
        for number, whole in (parts, parts[::-1]):
            if number.value is None:
                continue
            rest = nonnegative_part(terms, linear_sum(terms, terms.size(whole - number)))
            if rest.only_symbol and size.terms.get((rest.only_symbol,)) == 1:
                return size - least_part - rest + whole
    return size


def _is_more(terms: Terms, size: Dimension, other: Dimension) -> bool:
    """Test whether a size is certainly no less than another one."""
    if size == other:
        return False
    if size.value is not None and highest(terms, other) <= size.value:
        return True
    return is_never_negative(terms, size - other)


_INT32, _INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64
_MOST_COMPARISONS = 8


class Loop(NamedTuple):
    """Iteration of a loop whose condition may only count.

    Attributes:
        level: number of loops around it.
        states: the states before the iteration.
        updates: the states after it.
    """

    level: int
    iteration: Dimension
    inits: Sequence[Term]
    states: Sequence[Term]
    updates: Sequence[Term | None]


class Counter(NamedTuple):
    """Integer that grows by the same number on each iteration.

    Attributes:
        first: its value on the first iteration, unless that wraps.
        step: its growth.
        elem_type: the type in which it wraps.
    """

    first: LinearSum
    step: int
    elem_type: int


class Order(NamedTuple):
    """Comparison of two integers: `one < other` or `one > other`.

    Attributes:
        above: whether the first one is the larger one.
        equal: whether equality satisfies it.
    """

    one: Term
    other: Term
    above: bool
    equal: bool

    def swap(self) -> "Order":
        """Comparison with swapped operands."""
        return self._replace(one=self.other, other=self.one, above=not self.above)


class End(NamedTuple):
    """Bound that ends a loop once the counter reaches it."""

    counter: Counter
    bound: LinearSum
    order: Order


def counting_trip_count(
    terms: Terms, loop: Loop, start: Term, next_condition: Term
) -> tuple[Dimension, Term | None] | None:
    """Trip count that a condition allows, and the rest of the initial condition. None if the
    condition does more than count.

    Args:
        start: its initial condition.
        next_condition: the condition that the body computes.
    """
    never = terms.tensor(next_condition)
    # The body ends the loop after the one iteration that the initial condition allows.
    if never is not None and not never.numpy().any():
        return Dimension.constant(1), start
    ends = _ends(terms, loop, next_condition)
    if not ends:
        return None
    compared_before = _counters_of_start(terms, start, ends)
    # The first comparison is made after an iteration, so a counter that begins beyond its bound
    # would run on.
    if not all(_starts_well(end, k in compared_before) for k, end in enumerate(ends)):
        return None
    counts = [
        _trip_count_of_end(terms, end, 0 if k in compared_before else 1)
        for k, end in enumerate(ends)
    ]
    terms.used.add("counted")
    return least(terms, counts), None if compared_before else start


def conjuncts(terms: Terms, condition: Term) -> list[Term]:
    """Conditions whose conjunction a condition is; itself if it is none."""
    parts: list[Term] = []
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        terms.budget.step()
        below = part.operands[0] if part.head.name in ("view", "Not") else part
        # De Morgan: below a Not an Or is the conjunction.
        inside = below.operands if below.is_op("Or") or below.head.name == "view" else ()
        is_few = len(parts) + len(waiting) < _MOST_COMPARISONS
        if part.is_op("And") and is_few:
            waiting += part.operands[::-1]
        elif part.head.name == "view":
            waiting.append(below)
        elif part.is_op("Not") and inside and is_few:
            waiting += [terms.op("Not", _OPSET, each) for each in inside[::-1]]
        else:
            parts.append(part)
    return parts


def conjunction(terms: Terms, conditions: Sequence[Term]) -> Term:
    """Condition that all conditions hold."""
    return functools.reduce(functools.partial(terms.op, "And", _OPSET), conditions)


def counting_parts(terms: Terms, loop: Loop, conditions: Sequence[Term]) -> list[int]:
    """Indices of the conditions that count iterations."""
    return [k for k, each in enumerate(conditions) if _ends(terms, loop, each)]


def _ends(terms: Terms, loop: Loop, next_condition: Term) -> list[End]:
    """All bounds that end a loop; none if something else may end it, too."""
    all_ends = [_end(terms, loop, order) for order in _orders(terms, next_condition)]
    ends = [end for end in all_ends if end is not None]
    ends = [end for end in ends if not any(_is_later(end, other) for other in ends)]
    return [] if None in all_ends or not all(map(_is_met, ends)) else ends


def _is_later(end: End, other: End) -> bool:
    """Test for an end that is met after another one, if at all."""
    (low, _), first = range_of(end.counter.elem_type), end.counter.first
    ahead = (other.counter.first.form - first.form).value
    alike = end.counter.step == other.counter.step == 1 and end.bound.form == other.bound.form
    if not alike or end.order.equal is not other.order.equal or first.low < low:
        return False
    return ahead is not None and ahead > 0 and _is_met(other)


def _orders(terms: Terms, condition: Term) -> list[Order]:
    """Comparisons whose conjunction a condition is; none if it is more than that."""
    orders: list[Order] = []
    for part in conjuncts(terms, condition):
        holds = not part.is_op("Not")
        order = _order(terms, part if holds else part.operands[0], holds)
        if order is None:
            return []
        orders.append(order)
    return orders


def _order(terms: Terms, part: Term, holds: bool) -> Order | None:
    """Comparison of two integers; None for anything else."""
    if part.head.name not in ("Less", "LessOrEqual") or not all(map(is_one_integer, part.args)):
        return None
    one, other = (unwrap(terms, term) for term in part.operands)
    equal = part.head.name == "LessOrEqual"
    # Only of integers is `not one < other` the same as `other <= one`: a NaN fails both.
    return Order(one, other, False, equal) if holds else Order(other, one, False, not equal)


def _end(terms: Terms, loop: Loop, order: Order) -> End | None:
    for side in (order, order.swap()):
        counter = _counter(terms, loop, side.one)
        # A counter that rises meets an upper bound, and one that falls a lower bound.
        if counter is not None and (counter.step < 0) is side.above:
            end = End(counter, linear_sum(terms, side.other), side)
            return end if _stays(terms, loop, side.other) else None
    return None


def _stays(terms: Terms, loop: Loop, term: Term) -> bool:
    """Test whether a term is loop-invariant."""
    return terms.symbols.free(term).isdisjoint((loop.level, COMPARED))


def _is_met(end: End) -> bool:
    """Test whether the counter meets its bound before it would leave its type."""
    (low, high), bound, order = range_of(end.counter.elem_type), end.bound, end.order
    step, first = abs(end.counter.step), end.counter.first
    beyond = order.equal + step - 1
    if low <= bound.low - beyond if order.above else bound.high + beyond <= high:
        return True
    room = first.low - low if order.above else high - first.high
    return step > 1 and room // step > MOST_ITERATIONS


def _counter(terms: Terms, loop: Loop, term: Term) -> Counter | None:
    content = element(term.fact)
    if isinstance(content, Dimension):
        return _counter_of_closed_form(terms, loop, content, term.fact.elem_type)
    base, offset = _offset(terms, term)
    for k, state in enumerate(loop.states):
        update, init = loop.updates[k], loop.inits[k]
        if not is_one_integer(state) or unwrap(terms, state) is not base:
            continue
        if update is None or not is_one_integer(update) or not is_one_integer(init):
            return None
        before, step = _offset(terms, unwrap(terms, update))
        if before is base and step and base.fact.elem_type in (_INT32, _INT64):
            return Counter(linear_sum(terms, init).shift(offset), step, base.fact.elem_type)
    return None


def _offset(terms: Terms, term: Term) -> tuple[Term, int]:
    """Integer term and the constant added to it within its type."""
    if term.is_op("Add", "Sub") and all(map(is_one_integer, term.args)):
        pairs = [term.args] if term.is_op("Sub") else [term.args, term.args[::-1]]
        for base, number in pairs:
            numbers = terms.numbers(number)
            if base is None or numbers is None:
                continue
            below = unwrap(terms, base)
            # A Cast between them wraps elsewhere.
            if below.fact.elem_type == term.fact.elem_type:
                return below, -numbers[0] if term.is_op("Sub") else numbers[0]
    return term, 0


def _counter_of_closed_form(
    terms: Terms, loop: Loop, content: Dimension, elem_type: int
) -> Counter | None:
    """Counter of an integer that is known as a function of the iteration number."""
    (index,) = loop.iteration.symbols
    step = content.terms.get((index,), 0)
    rest = content - loop.iteration * step
    first = terms.size(rest)
    if not step or index in rest.symbols or not _stays(terms, loop, first):
        return None
    narrow = [
        init
        for init, state in zip(loop.inits, loop.states, strict=True)
        if _is_narrow(index, state)
    ]
    if narrow or elem_type == _INT32:
        return Counter(_beside(terms, rest, narrow) or linear_sum(terms, first), step, _INT32)
    return Counter(linear_sum(terms, first), step, _INT64) if elem_type == _INT64 else None


def _is_narrow(index: str, state: Term) -> bool:
    """Test whether a state of 32 bits is known by the iteration number. Its cast to 64 bits is
    known as well, but does not show the range."""
    content = element(state.fact)
    is_known = isinstance(content, Dimension) and index in content.symbols
    return is_known and state.fact.elem_type != _INT64


def _beside(terms: Terms, first: Dimension, inits: Sequence[Term]) -> LinearSum | None:
    """Linear sum that differs by a constant from a state of 32 bits."""
    for init in inits:
        number = linear_sum(terms, init)
        away = (first - number.form).value
        if away is not None:
            return number.shift(away)
    return None


def _starts_well(end: End, compared_before: bool) -> bool:
    """Test whether a counter does not wrap at its start. At its bound it certainly does not if it
    begins before the bound."""
    low, high = range_of(end.counter.elem_type)
    first, above = end.counter.first, end.order.above
    return (first.low >= low or (compared_before and above)) and (
        first.high <= high or (compared_before and not above)
    )


def _counters_of_start(terms: Terms, start: Term, ends: Sequence[End]) -> set[int]:
    """Counters whose initial condition is the condition of the body. None of them if the initial
    condition is more than that."""
    counters: set[int] = set()
    for order in _orders(terms, start):
        matches = {k for k, end in enumerate(ends) if _is_end_comparison(terms, order, end)}
        if not matches:
            return set()
        counters |= matches
    return counters


def _is_end_comparison(terms: Terms, order: Order, end: End) -> bool:
    """Test whether a comparison is the end's comparison one step before the first iteration."""
    if order.above is not end.order.above:
        order = order.swap()
    if (order.above, order.equal) != (end.order.above, end.order.equal):
        return False
    before, bound = linear_sum(terms, order.one), linear_sum(terms, order.other)
    first = end.counter.first.form - end.counter.step
    return (before.form, bound.form) == (first, end.bound.form)


def _trip_count_of_end(terms: Terms, end: End, floor: int) -> Dimension:
    """Trip count that an end allows, with a minimum."""
    counter, bound, step = end.counter, end.bound, abs(end.counter.step)
    distance = bound.plus(counter.first, -1) if counter.step > 0 else counter.first.plus(bound, -1)
    distance = distance.shift(step * (1 - floor) + end.order.equal)
    return quotient(terms, nonnegative_part(terms, distance) + (step - 1), step) + floor


def quotient(terms: Terms, size: Dimension, by: int) -> Dimension:
    """Quotient in Z of a number of at least 0, rounded down."""
    whole = size - size.terms.get((), 0) % by
    exact = whole.divided_by(by)
    if exact is not None:
        return exact
    fact = Fact(onnx.TensorProto.INT64, ())
    result = terms.size_of(terms.keep(terms.heads.own(QUOTIENT, by), (terms.size(size),), fact))
    # Where the quotient is known to be small, so is the number.
    for name in size.symbols if terms.demands else ():
        number = Dimension.symbol(name)
        if is_never_negative(terms, MOST_ELEMENTS - number):
            terms.symbols.magnitudes.bound(name, MOST_ELEMENTS)
    return result
