"""Substitution of terms for variables and of sizes for symbols; one iteration of a loop."""

import dataclasses
from collections.abc import Mapping, Sequence

from ....facts.fact import Fact, content_from, element
from ....facts.polynomial import Dimension
from ..arithmetic.trip_counts import not_negative
from ..terms.free_variables import binding
from ..terms.term import Args, Operands, Term, bottom_up
from ..terms.term_manager import Terms

Leaves = Mapping[Term, Term]
Sizes = Mapping[str, Dimension]


_TERM = 8
"""Steps of a term that is built anew with other sizes."""

_MOST_UNROLLED = 256
"""Limit of iterations that are unrolled for a state after them."""

_FEW_STATES = 12
"""Number of states that are written out over the states one iteration earlier."""


class Substitution:
    """One substitution, with all results cached.

    Args:
        leaves: a term for each variable.
    """

    def __init__(self, terms: Terms, leaves: Leaves, sizes: Sizes) -> None:
        self._terms = terms
        self._leaves = leaves
        self._sizes = sizes
        self._put = dict(sizes)
        self._done: dict[Term, Term] = dict(leaves)

    def of(self, root: Term) -> Term:
        """Term after substitution; recursion only into bodies inside bodies."""
        return bottom_up(root, self._done, lambda term: term.args, self._traced)

    def _traced(self, term: Term, args: Sequence[Term | None]) -> Term:
        self._terms.budget.step(_TERM)
        result = self._rebuilt(term, tuple(args))
        if self._terms.trace is not None:
            self._terms.trace.came(result, term)
        return result

    def _rebuilt(self, term: Term, args: Args) -> Term:
        head = term.head
        if head.name == "sizes":
            return self._resize(term)
        if head.name == "void":
            return self._terms.void(self._substitute_fact(term.fact))
        parts = self._parts(term) if head.parts else ()
        if args == term.args and parts == head.parts:
            return term
        return self._terms.rebuild(term, args, parts, self._substitute_fact)

    def _resize(self, term: Term) -> Term:
        content = term.fact.content
        if content is None:
            return term
        elements = [
            self._size(element) if isinstance(element, Dimension) else element
            for element in content.reshape(-1)
        ]
        return self._terms.content(
            content_from(elements).reshape(content.shape), term.fact.elem_type
        )

    def _parts(self, term: Term) -> tuple[Term, ...]:
        """Parts of a recurrence after substitution, without its own variables."""
        bound = binding(term)
        # Loops of equal depth and trip count share the symbol of their iteration number.
        hidden = set() if bound is None else {bound.index}
        own = set() if bound is None else set(bound.states)
        if hidden.isdisjoint(self._sizes) and own.isdisjoint(self._leaves):
            return tuple([self.of(part) for part in term.head.parts])
        leaves = {leaf: to for leaf, to in self._leaves.items() if leaf not in own}
        sizes = {name: to for name, to in self._sizes.items() if name not in hidden}
        inner = Substitution(self._terms, leaves, sizes)
        return tuple([inner.of(part) for part in term.head.parts])

    def _substitute_fact(self, fact: Fact) -> Fact:
        shape = fact.shape
        if shape is not None:
            shape = tuple([self._size(dim) for dim in shape])
        return dataclasses.replace(fact, shape=shape)

    def _size(self, dim: Dimension) -> Dimension:
        """Size after substitution, also if it follows from a term. A size that varies becomes a
        fresh one."""
        if dim.value is not None:
            return dim
        derived = self._terms.symbols.derived
        for symbol in sorted(dim.symbols):
            if symbol in derived and symbol not in self._put:
                kind, term, size = derived[symbol]  # as in `Terms.dependent_size`
                term = self.of(term)
                if kind == "size":
                    self._put[symbol] = self._terms.size_of(term)
                elif size is None:
                    self._put[symbol] = not_negative(self._terms, term)
                else:
                    self._put[symbol] = self._terms.iterations_if(term, self._size(size))
            elif symbol in self._terms.axes and symbol not in self._put:
                term, axis = self._terms.axes[symbol]
                shape = self.of(term).fact.shape or ()
                fresh = self._terms.symbols.fresh
                self._put[symbol] = shape[axis] if axis < len(shape) else fresh()
            elif symbol in self._terms.symbols.varying and symbol not in self._put:
                self._put[symbol] = self._terms.symbols.fresh()
        return dim.replaced(self._put)


def instantiate_iteration(terms: Terms, recurrence: Term, part: Term, index: Dimension) -> Term:
    """Part of a recurrence on one iteration, over the states before it.

    Args:
        part: a term over the variables of the recurrence.
        index: the iteration number, over free symbols.
    """
    bound = binding(recurrence)
    assert bound is not None
    place = terms.size(index)
    states = {
        state: (None if index.value != 0 else recurrence.args[2 + k])
        or terms.keep(terms.heads.own("state", k), (recurrence, place), state.fact)
        for k, state in enumerate(bound.states)
    }
    return Substitution(terms, states, {bound.index: index}).of(part)


def instantiate_scan_output(terms: Terms, stacked: Term, index: Dimension) -> Term:
    """Element that a recurrence adds to a scan output on one iteration."""
    recurrence = stacked.args[0]
    assert recurrence is not None
    return instantiate_iteration(terms, recurrence, stacked.head.parts[0], index)


def unrolled(terms: Terms, state: Term) -> Term:
    """State before an iteration of known number, over the states one iteration earlier. The last
    iterations tell most loops apart; if more states are asked for, they are written out from the
    initial ones on, and so are one term with those of a rewrite that wrote the iterations out."""
    recurrence, place = state.args
    assert recurrence is not None and place is not None
    number, bound = element(place.fact).value, binding(recurrence)
    assert bound is not None
    # Over the reals each state is a function of its own: loops are compared by an iteration first.
    most = _MOST_UNROLLED // 4 if terms.are_reals else _MOST_UNROLLED
    if number is None or not 0 <= number <= most:
        return state
    if number == 0:
        return recurrence.args[2 + state.head.key] or state
    if len(state.head.applications) >= _FEW_STATES and None not in recurrence.args[2:]:
        return _written_out(terms, recurrence, number)[state.head.key]
    update = recurrence.head.parts[state.head.key + bound.conditional]
    return instantiate_iteration(terms, recurrence, update, Dimension.constant(number - 1))


def _written_out(terms: Terms, recurrence: Term, number: int) -> Operands:
    """States of a recurrence before an iteration, over the initial states."""
    bound = binding(recurrence)
    assert bound is not None
    reached = terms.unrolled.setdefault(recurrence, [recurrence.operands[2:]])
    updates = recurrence.head.parts[bound.conditional :][: len(bound.states)]
    for index in range(len(reached) - 1, number):
        sizes = {bound.index: Dimension.constant(index)}
        values = dict(zip(bound.states, reached[index], strict=True))
        substitution = Substitution(terms, values, sizes)
        reached.append(tuple(map(substitution.of, updates)))
    return reached[number]
