"""Equal recurrences by bisimulation: equal trip counts, initial states and steps."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ....facts.fact import PRIVATE, Shape, element, is_private
from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..arithmetic.trip_counts import not_negative
from ..terms.free_variables import Bound, binding
from ..terms.term import Pair, Term, below_view, descendants
from ..terms.term_manager import Terms
from .segments import segments
from .slice_pushdown import SlicePushdown
from .substitution import Substitution, instantiate_iteration, instantiate_scan_output

_MOST_CHOICES = 24
"""Limit of choices of equal variables."""
_CANDIDATE = 2
"""Steps of a pair of states of which one may be chosen for the other."""


_STATES = ("fresh", "state")
"""Heads of states before an iteration."""


class CommonIteration(NamedTuple):
    """Two recurrences over fresh variables, on one common iteration.

    Attributes:
        one: substitution of the variables into a part of the first.
        other: substitution into a part of the second.
    """

    one: Substitution
    other: Substitution


class State(NamedTuple):
    """State of a recurrence before an iteration.

    Attributes:
        number: index of the state.
    """

    recurrence: Term
    number: int
    iteration: Dimension


class Induction:
    """Rules of comparison for recurrences. Each returns the pairs that must be equal for two terms
    to be equal, or None where it does not apply.

    Attributes:
        positive: trip counts that are taken to be 1 or more.
        earlier: pairs that a pair depends on in the iteration before.
    """

    def __init__(self, terms: Terms, pushdown: SlicePushdown) -> None:
        self.terms = terms
        self.pushdown = pushdown
        self.positive: set[Dimension] = set()
        self.earlier: set[tuple[Pair, Pair]] = set()
        self._pairs_opened: dict[Pair, CommonIteration] = {}
        self._before: dict[Term, State] = {}
        self._leaves: list[list[Term]] = []
        self._matches: dict[Pair, bool] = {}
        self._numbered: dict[int, Pair] = {}

    def states(self, one: Term, other: Term) -> list[Pair] | None:
        """States of two recurrences before the same iteration, or after the last one."""
        if not _have_one_shape(one, other):
            return None
        one, other = _bare(one), _bare(other)
        if one.head.name not in ("state", "final") or one.head.name != other.head.name:
            return None
        a, b = one.args[0], other.args[0]
        assert a is not None and b is not None
        # The induction runs over the same iterations of both.
        if one.head.name == "state" and one.args[1] is not other.args[1]:
            return None
        opened = self._open_pair(a, b)
        if opened is None:
            return None
        # The states stand for themselves before any iteration: over the common variables only their
        # claim is left, which `variables` proves by induction.
        (own, pairs), p, q = opened, one.head.key, other.head.key
        x, y = own.one.of(_bound(a).states[p]), own.other.of(_bound(b).states[q])
        alike = self._in_one_shape(x, y)
        return None if alike is None else [*pairs, alike]

    def across(self, one: Term, other: Term) -> list[Pair] | None:
        """Variable, and a variable or state of a third recurrence before the same iteration: a
        variable is the state of its own recurrence."""
        if one.fact.shape != other.fact.shape:
            return None
        one, other = _bare(one), _bare(other)
        names = one.head.name, other.head.name
        if names == ("state", "state") or not set(names) <= set(_STATES):
            return None
        # Variables of one common iteration are left to `variables`.
        if names == ("fresh", "fresh") and one.head.key[0] == other.head.key[0]:
            return None
        states = self.before_iteration(one), self.before_iteration(other)
        if states[0] is None or states[1] is None or states[0].iteration != states[1].iteration:
            return None
        pairs = [
            self.terms.keep(
                self.terms.heads.own("state", state.number),
                (state.recurrence, self.terms.size(state.iteration)),
                term.fact,
            )
            for term, state in zip((one, other), states, strict=True)
            if state is not None
        ]
        alike = self._in_one_shape(pairs[0], pairs[1])
        return None if alike is None else [alike]

    def _in_one_shape(self, one: Term, other: Term) -> Pair | None:
        """Two terms, the second one in the shape of the first; None if they have other sizes."""
        a, b = one.fact.shape, other.fact.shape
        if a is None or b is None or _may_be_equal(a, b):
            return one, other
        return (one, self.terms.view(other, a)) if product(a) == product(b) else None

    def variables(self, one: Term, other: Term) -> list[Pair] | None:
        """Induction step: two variables are equal initially, and if equal before then after an
        iteration."""
        if not _have_one_shape(one, other):
            return None
        x, y = _bare(one), _bare(other)
        if x.head.name != "fresh" or y.head.name != "fresh":
            return None
        (number, side, p), (number_of_other, side_of_other, q) = x.head.key, y.head.key
        # Variables of two different pairs of loops: no hypothesis relates them.
        if number != number_of_other or (side, side_of_other) != (0, 1):
            return None
        a, b = self._numbered[number]
        opened, before = self._pairs_opened[a, b], (a.args[2 + p], b.args[2 + q])
        assert before[0] is not None and before[1] is not None
        first = self._in_one_shape(before[0], before[1])
        after = self._in_one_shape(opened.one.of(_update(a, p)), opened.other.of(_update(b, q)))
        if first is None or after is None:
            return None
        # In the iteration before, the pair may rest on itself: that is the induction hypothesis.
        if after != first:
            self.earlier.add(((one, other), after))
        return [first, after]

    def hypotheses(
        self, one: Term, other: Term, are_equal: Callable[[Term, Term], bool]
    ) -> Iterator[tuple[list[Pair], Substitution]]:
        """States of the original for those of the rewrite, and their substitution.

        Both are before the same iteration, with equal initial values. If all pairs are equal, so
        are the other term and what the substitution makes of it.

        Args:
            one: a term of the original.
            other: a term of the rewrite.
            are_equal: sufficient test for initial values.
        """
        if other.head.name in _STATES:
            return
        own = [*itertools.chain(*self._leaves), *_states_in(one)]
        # Each state of the rewrite may correspond to several of the original; wrong choices fail
        # later and cost only time, so they are limited and not excluded.
        choices = [
            self._candidates(state, own, are_equal)
            for state in _states_in(other)
            if state not in own
        ]
        if choices:
            for pairs in itertools.islice(itertools.product(*choices), _MOST_CHOICES):
                leaves = {state: mine for mine, state in pairs}
                yield list(pairs), Substitution(self.terms, leaves, {})

    def _candidates(
        self, state: Term, own: Iterable[Term], are_equal: Callable[[Term, Term], bool]
    ) -> list[Pair]:
        """Pairs of a state of the original and one of the rewrite."""
        before = self.before_iteration(state)
        pairs = []
        for mine in dict.fromkeys(own) if before is not None else ():
            self.terms.budget.step(_CANDIDATE)
            alike = self._in_one_shape(state, mine)
            if alike is None or mine.fact.elem_type != state.fact.elem_type:
                continue
            if self._begin_alike(self.before_iteration(mine), before, are_equal):
                pairs.append(alike[::-1])
        return pairs

    def _begin_alike(
        self, one: State | None, other: State | None, are_equal: Callable[[Term, Term], bool]
    ) -> bool:
        """Test for states before the same iteration, of the same initial value."""
        if one is None or other is None or one.iteration != other.iteration:
            return False
        inits = [state.recurrence.args[2 + state.number] for state in (one, other)]
        if inits[0] is None or inits[1] is None:
            return False
        key = self._in_one_shape(inits[0], inits[1])
        if key is None:
            return False
        # Over the reals such a test expands polynomials: each pair of initial values is compared
        # once.
        if key not in self._matches:
            self._matches[key] = key[0] is key[1] or are_equal(*key)
        return self._matches[key]

    def stacked(self, one: Term, other: Term) -> list[Pair] | None:
        """Rows of a scan output, and a term with equal elements on every iteration."""
        if one.head.name == "stacked" and other.head.name == "stacked":
            return self._both_stacked(one, other)
        outputs = _scan_output(one), _scan_output(other)
        rows, whole = (one, other) if outputs[0] else (other, one)
        stacked, shape = outputs[0] or outputs[1], whole.fact.shape
        if stacked is None or not shape or not rows.fact.shape or shape[0] != rows.shape[0]:
            return None
        if rows is stacked:
            self._take_iterations(stacked)
        elif stacked.head.key[1] is not None and shape[0].less(1) is not False:
            return None  # rows of a loop without iterations have the sizes that it declares
        pairs = []
        for first, length in segments(self.terms, whole, shape[0]):
            index = self.symbol(length) + first if length != 1 else Dimension.constant(first)
            a, b = (self.element(term, index) for term in (one, other))
            if a is None or b is None:
                return None
            pairs.append((a, b))
        return pairs

    def _both_stacked(self, one: Term, other: Term) -> list[Pair] | None:
        """Scan outputs of two recurrences: equal trip counts, equal elements."""
        a, b = one.args[0], other.args[0]
        assert a is not None and b is not None
        opened = self._open_pair(a, b)
        if opened is None:
            return None
        p, q = one.head.key[1], other.head.key[1]
        # With zero iterations the element sizes are those that each body declares.
        are_equal_if_empty = p == q and (p is None or p[1] is not None)
        if not are_equal_if_empty and not (
            self._take_iterations(one) and self._take_iterations(other)
        ):
            return None
        own, pairs = opened
        return [*pairs, (own.one.of(one.head.parts[0]), own.other.of(other.head.parts[0]))]

    def _take_iterations(self, stacked: Term) -> bool:
        """Take a trip count to be 1 or more if no iteration is another case. That is so if the
        elements then have another shape."""
        fact, empty = stacked.fact, stacked.head.key[1]
        if not fact.shape:
            return False
        # Without iterations the output has the declared sizes, which may be others.
        if empty is not None and empty != (fact.elem_type, fact.shape[1:]):
            self.positive.add(fact.shape[0])
        return True

    def element(self, term: Term, index: Dimension, axis: int = 0) -> Term | None:
        """Element of a term at an index of an axis."""
        if term.head.name == "stacked" and not axis:
            return instantiate_scan_output(self.terms, term, index)
        part = self.pushdown.of(term, axis, index, ONE)
        # A slice that was not pushed down says nothing about the element: to compare it would lead
        # back to the tensors.
        is_whole = part.head.name == "narrow" and part.args[0] is term
        if is_whole and term.head.name not in ("input", "CumSum"):
            return None
        return self.terms.view(part, (*term.shape[:axis], *term.shape[axis + 1 :]))

    def shifted(self, one: Term, other: Term) -> list[Pair] | None:
        """State as an element of Concat(initial state, states after each iteration)."""
        for term, place in ((one, other), (other, one)):
            state = self.before_iteration(term)
            row = None if state is None else self._row(place, state.iteration)
            if state is None or row is None:
                continue
            (first, rest), iterations = row, self.iterations(state.recurrence)
            before = state.recurrence.args[2 + state.number]
            if before is None or before.fact.shape is None or iterations is None:
                continue
            # One element more than iterations: the initial state stands in front.
            if rest.fact.shape is None or rest.fact.shape[0] != iterations:
                continue
            index = self.symbol(iterations)
            after = self.element(rest, index)
            if after is None:
                continue
            update = _update(state.recurrence, state.number)
            one_update = instantiate_iteration(self.terms, state.recurrence, update, index)
            pairs = [(before, self.terms.view(first, before.fact.shape)), (one_update, after)]
            return pairs if term is one else [(b, a) for a, b in pairs]
        return None

    def last(self, one: Term, other: Term) -> list[Pair] | None:
        """Final state, and what the last iteration of another recurrence makes of its states: final
        states of both (law: peel the last row)."""
        for final, after in ((one, other), (other, one)):
            recurrence = _bare(final).args[0] if _bare(final).head.name == "final" else None
            count = None if recurrence is None else self.iterations(recurrence)
            if count is None or (count - 1).less(0) is not False:
                continue
            for each in {state.args[0] for state in _states_in(after) if state.args}:
                whole = None if each is None else self._final(each, count, after)
                if whole is not None:
                    return [(final, whole) if final is one else (whole, final)]
        return None

    def _final(self, recurrence: Term, count: Dimension, after: Term) -> Term | None:
        """Final state that a term of the last iteration is; None for others."""
        if self.iterations(recurrence) != count:
            return None
        for number, state in enumerate(_bound(recurrence).states):
            update = _update(recurrence, number)
            if instantiate_iteration(self.terms, recurrence, update, count - 1) is after:
                head = self.terms.heads.own("final", number)
                return self.terms.keep(head, (recurrence,), state.fact)
        return None

    def _row(self, place: Term, at: Dimension) -> Pair | None:
        """First element and the rest of a Concat, for an element of it."""
        part = below_view(place)
        if part.head.name != "narrow" or part.head.key != 0:
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

    def before_iteration(self, term: Term) -> State | None:
        """Recurrence, index and iteration of a state; None for any other term."""
        if term.head.name == "fresh":
            return self._before.get(term)
        if term.head.name not in ("state", "final"):
            return None
        recurrence = term.args[0]
        assert recurrence is not None
        iterations = self.iterations(recurrence)
        if term.head.name == "final":
            return None if iterations is None else State(recurrence, term.head.key, iterations)
        assert term.args[1] is not None
        return State(recurrence, term.head.key, element(term.args[1].fact))

    def iterations(self, recurrence: Term) -> Dimension | None:
        """Trip count of a recurrence that no condition ends."""
        # A condition may end it earlier, at a number of iterations that no term names.
        if _bound(recurrence).conditional or recurrence.args[1] is not None:
            return None
        return self._limit(recurrence)

    def _limit(self, recurrence: Term) -> Dimension | None:
        """Upper bound of a recurrence's trip count; None if only its condition ends it."""
        limit = recurrence.args[0]
        return None if limit is None else not_negative(self.terms, limit)

    def _open_pair(self, a: Term, b: Term) -> tuple[CommonIteration, list[Pair]] | None:
        """Two recurrences over fresh variables, and the pairs that make their trip counts equal.
        None if these may differ."""
        one, other = _bound(a), _bound(b)
        if one.conditional != other.conditional:
            return None
        # A Loop without a trip count or condition is not one whose trip count happens to be large.
        if any((a.args[n] is None) is not (b.args[n] is None) for n in (0, 1)):
            return None
        # The hypotheses of a pair speak of its variables: they are the same whenever it
        # is met.
        cached = self._pairs_opened.get((a, b))
        if cached is None:
            cached = self._pairs_opened[a, b] = self._with_variables(
                a, b, self.symbol(self._limit(a))
            )
        pairs = [(x, y) for x, y in zip(a.args[:2], b.args[:2], strict=True) if x is not None and y]
        # Conditional loops end together if their conditions are equal in each iteration.
        if one.conditional:
            pairs.append((cached.one.of(a.head.parts[0]), cached.other.of(b.head.parts[0])))
        return cached, pairs

    def _with_variables(self, a: Term, b: Term, index: Dimension) -> CommonIteration:
        number, substitutions = self.terms.number_of_binder(), []
        self._numbered[number] = a, b
        for side, recurrence in enumerate((a, b)):
            bound, leaves = _bound(recurrence), {}
            for k, state in enumerate(bound.states):
                leaf = self.terms.leaf("fresh", (number, side, k), state.fact)
                leaves[state] = leaf
                self._before[leaf] = State(recurrence, k, index)
            if side == 0:
                self._leaves.append(list(leaves.values()))
            substitutions.append(Substitution(self.terms, leaves, {bound.index: index}))
        return CommonIteration(*substitutions)

    def symbol(self, limit: Dimension | None) -> Dimension:
        """Fresh symbol of an iteration number."""
        name = f"{PRIVATE}any{self.terms.number_of_binder()}"
        if limit is not None:
            self.terms.limits[name] = limit
        return self.terms.symbols.iteration(name)


def _have_one_shape(one: Term, other: Term) -> bool:
    """Test for two states of one shape. Only a view is in another shape than its state."""
    a, b = one.fact.shape, other.fact.shape
    if a is None or b is None or a == b:
        return a == b
    return "view" not in (one.head.name, other.head.name) and _may_be_equal(a, b)


def _scan_output(term: Term) -> Term | None:
    """Scan output of which a term holds some rows; None for any other term."""
    while term.head.name in ("view", "narrow"):
        one, other = term.operands[0].fact.shape, term.fact.shape
        is_of_rows = term.head.name == "narrow" and term.head.key == 0
        if not is_of_rows and (not one or not other or one[0] != other[0]):
            return None
        term = term.operands[0]
    return term if term.head.name == "stacked" and term.fact.shape else None


def _may_be_equal(one: Shape, other: Shape) -> bool:
    """Test for shapes that differ at most in sizes without a name.

    Each model has its own sizes of a state that grows until a condition ends the loop."""
    return len(one) == len(other) and all(
        a == b or (any(map(is_private, a.symbols)) and any(map(is_private, b.symbols)))
        for a, b in zip(one, other, strict=True)
    )


def _states_in(term: Term) -> list[Term]:
    """States before an iteration that a term holds, and variables."""
    return [each for each in descendants([term]) if each.head.name in _STATES]


def _bare(term: Term) -> Term:
    """State or variable below a view; any other term itself."""
    below = below_view(term)
    return below if below.head.name in (*_STATES, "final") else term


def _bound(recurrence: Term) -> Bound:
    bound = binding(recurrence)
    assert bound is not None
    return bound


def _update(recurrence: Term, number: int) -> Term:
    """State after an iteration, as a term over the variables."""
    return recurrence.head.parts[number + _bound(recurrence).conditional]
