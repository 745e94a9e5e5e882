"""Equality of terms: identical, congruent, or equal by a rule for each pair of parts.

All pairs that are asked must hold, so no pair is compared twice; but no pair may hold because of
itself (`circular_pair`). The states of two recurrences may: they are equal by induction over the
iterations (`induction.py`).
"""

import contextlib
import functools
import itertools
from collections.abc import Container, Iterator, Mapping, Sequence

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....records import record
from ..definitions.functions import DEFINITIONS
from ..definitions.opening import Definitions
from ..reals import rounded
from ..reals.real_terms import RealTerms, reads_bits
from ..terms.axis_maps import ELEMENTWISE
from ..terms.budget import OpenError
from ..terms.exact_operators import assumptions_of
from ..terms.printing import in_words
from ..terms.term import Args, Head, Pair, Term, below_view
from ..terms.term_manager import Terms
from .case_distinction import CaseDistinction
from .commutativity import swap_operands
from .derived_sizes import equal_derivations
from .doubling_loops import DoublingLoops
from .early_exits import EarlyExits
from .folds import Folds
from .induction import Induction
from .masked_loops import MaskedLoops
from .masks import Masks
from .modular_polynomials import ModularPolynomials
from .order import same_places
from .recurrent_cells import GATES, RecurrentCells
from .row_by_row import RowByRow
from .scatter_loops import ScatterLoops
from .slice_pushdown import SlicePushdown
from .splits import equal_parts
from .transposition import transposed_sums
from .views import Views


class Mismatch(OpenError):
    """Signal that two terms could not be proved equal.

    Attributes:
        compared: pairs compared so far, each with the pairs that it depends on.
    """

    def __init__(
        self,
        reason: str,
        before: Term | None,
        after: Term | None,
        compared: Mapping[Pair, Sequence[Pair]] | None = None,
    ) -> None:
        super().__init__(reason)
        self.before = before
        self.after = after
        self.compared = compared or {}


def circular_pair(
    needed: Mapping[Pair, Sequence[Pair]], earlier: Container[tuple[Pair, Pair]]
) -> Pair | None:
    """Pair that is equal only because of itself; None if there is none.

    Args:
        needed: pairs that each pair depends on; a pair that is not here is settled.
        earlier: dependences on the iteration before, where a pair may depend on itself.
    """
    waiting: dict[Pair, int] = {}
    above: dict[Pair, list[Pair]] = {}
    for pair, pairs in needed.items():
        below = [p for p in pairs if p in needed and (pair, p) not in earlier]
        waiting[pair] = len(below)
        for each in below:
            above.setdefault(each, []).append(pair)
    ready = [pair for pair, count in waiting.items() if not count]
    while ready:
        pair = ready.pop()
        del waiting[pair]
        for user in above.get(pair, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return next(iter(waiting), None)


_BARE = ("Concat", "stacked", "state", "final", "fresh")
"""Heads whose terms are compared in their own shape, as are the terms they are compared with."""

_LEAVES = ("input", "constant", "sizes", "bound", "fresh")
_FIXED = ("input", "constant", "sizes")

_MOST_FAILURES, _FAILURE = 8, 4096
"""Limit of pairs whose comparison row by row fails, and steps that count as one more of them. Such
a comparison also leaves so many steps to others."""


_PAIR = 12
"""Steps of a comparison of two terms."""

_MANY_PAIRS = 256
"""Number of pairs after which slices and views are first compared by their operands, as they stand:
where a loop is written out, that is shorter than a normal form for each."""


@record
class _Attempt:
    """Outcome of a comparison that may fail."""

    failure: Mismatch | None = None


class Comparison:
    """Decision procedure for equality of terms.

    Args:
        over_reals: whether floats that are equal over the reals are equal.
    """

    def __init__(self, terms: Terms, over_reals: bool = False) -> None:
        self.terms = terms
        terms.comparing = True
        terms.symbols.depth += 1
        self._cells = RecurrentCells(terms)
        self._doubling = DoublingLoops(terms, over_reals)
        self.longer_forms = Definitions(terms, over_reals)
        self._masks = Masks(terms, self.longer_forms)
        self.pushdown = SlicePushdown(terms, self._open if over_reals else self._doubling.open)
        self.induction = Induction(terms, self.pushdown)
        self.cases = CaseDistinction(terms, self.pushdown)
        self.row_by_row = RowByRow(terms, self.pushdown, self.induction)
        self._asked: list[set[Pair]] = [set()]
        self._needed: dict[Pair, list[Pair]] = {}
        self._stack: list[Pair] = []
        self._failures = 0
        self._by_row: Pair | None = None
        self._leaps: int | None = None
        self._partners: dict[Head, Head] = {}
        self._reals = self._unopened = None
        if over_reals:
            self._reals = self._unopened = RealTerms(terms, self._settled)
            if any(head.name in GATES for head in terms.heads):
                self._unopened = RealTerms(terms, SlicePushdown(terms).settled)
        scatters = ScatterLoops(self.induction, self.longer_forms, over_reals)
        folds = Folds(self.induction, over_reals)
        self._rules = (
            self._over_reals,
            self._random,
            ModularPolynomials(self.induction).equal,
            MaskedLoops(self.induction).equal,
            EarlyExits(terms).equal,
            self.induction.states,
            scatters.overwritten,
            scatters.written,
            self.induction.shifted,
            folds.equal,
            folds.mean,
            folds.logarithm,
            functools.partial(transposed_sums, terms),
            self.induction.variables,
            self.induction.across,
            self._views,
            Views(terms).pushed,
            self.cases.equal,
            self._concats,
            self.induction.stacked,
            swap_operands,
            functools.partial(equal_derivations, terms),
            functools.partial(same_places, terms),
            functools.partial(equal_parts, terms),
            self._alike,
            self._rows,
            self._congruent,
            self._defined,
            self.cases.of_branches,
        )

    def _open(self, term: Term) -> Term | None:
        """Longer form of a term that computes a recurrence; None for other terms."""
        return self._cells.open(term) or self._doubling.open(term) or self._masks.open(term)

    def _settled(self, term: Term) -> Term:
        """Normal form of a term over the reals: a scan output without states is no loop."""
        return self.pushdown.over_all(self.pushdown.settled(term))

    def release(self) -> None:
        """Drop the rules, which hold this."""
        vars(self).clear()

    @property
    def positive(self) -> set[Dimension]:
        """Trip counts that are taken to be 1 or more."""
        return self.induction.positive

    @property
    def assumptions(self) -> set[str]:
        """Assumptions that the comparison made."""
        longer = self.longer_forms.assumed
        return assumptions_of(self.pushdown.chosen, self.terms.late_folds, longer)

    @property
    def definitions(self) -> set[str]:
        """Assumptions that operators compute their definitions."""
        return set(self._cells.assumptions)

    def steps_of(self, head: Head, args: Args) -> Dimension | None:
        """Number of steps of a recurrent operator, not 0 by assumption; None without it."""
        if self._reals is None or self.terms.is_brief:
            return None
        return self._cells.assume_steps(head, args)

    @property
    def rounded_constants(self) -> set[str]:
        """Assumptions about constants of the rewrite that count as exact functions of others."""
        both = self._reals, self._unopened
        constants = [reals.rounded for reals in both if reals is not None]
        return rounded.assumptions(constants) | self._doubling.rounded

    def require(self, before: Term | None, after: Term | None, output: str) -> None:
        """Prove an output of both models equal.

        Raises:
            Mismatch: they are not known to be equal.
        """
        # Most models differ in loops only: operators around them are equal if their operands are.
        self._leaps = 0 if self._reals is None else None
        with self._attempt() as attempt:
            self._prove(before, after, output)
        if attempt.failure is None:
            return
        if not self._leaps:
            try:
                raise attempt.failure
            finally:
                attempt.failure = None  # it holds this frame, and all terms
        self._leaps, self._failures = None, 0
        self._prove(before, after, output)

    def _prove(self, before: Term | None, after: Term | None, output: str) -> None:
        """Reduce two terms to pairs, none of which rests on itself."""
        self._compare(before, after, output)
        # Pairs were assumed equal while they were waiting: a circle among them proves nothing.
        pair_of_itself = circular_pair(self._needed, self.induction.earlier)
        if pair_of_itself is not None:
            one, other = pair_of_itself
            raise Mismatch(_reason(output, one, other), one, other, self._needed)
        self._needed = {}

    def _compare(self, before: Term | None, after: Term | None, output: str) -> None:
        """Reduce two terms to pairs until none remains."""
        self._ask(before, after)
        while self._stack:
            self.terms.budget.step(_PAIR)
            one, other = self._stack.pop()
            pairs = self._reduce(one, other)
            if pairs is None:
                raise Mismatch(_reason(output, one, other), one, other, self._needed)
            self._needed[one, other] = pairs
            for pair in reversed(pairs):
                self._ask(*pair)

    def holds(self, before: Term, after: Term, *, by_row: bool = True) -> bool:
        """Test whether two terms are provably equal. If they are not, no state of
        the attempt remains.

        Args:
            by_row: whether tensors may be compared row by row, which takes long.
        """
        self._leaps, failures = None, self._failures
        # As after too many failures, no tensor is compared row by row.
        self._failures = failures if by_row else _MOST_FAILURES
        with self._attempt() as attempt:
            self._prove(before, after, "")
        if not by_row:
            self._failures = failures
        return attempt.failure is None

    @contextlib.contextmanager
    def _attempt(self) -> Iterator[_Attempt]:
        """Comparison that may fail. Its state remains only if it succeeds."""
        attempt = _Attempt()
        # Everything that a failed attempt could leave behind is kept here; a new field of state
        # belongs in this list.
        before = self._stack, self._needed, self._partners, self.positive, self.pushdown.chosen
        assumed = set(self.longer_forms.assumed)
        self._stack, self._needed, self._partners = [], {}, dict(self._partners)
        self.induction.positive, self.pushdown.chosen = set(before[3]), set(before[4])
        self._asked.append(set())
        try:
            yield attempt
        except OpenError as error:
            # Assumptions and partners of a failed attempt must not count for the proof.
            self._partners, self.induction.positive, self.pushdown.chosen = before[2:]
            self.longer_forms.assumed = assumed
            self._asked.pop()
            if not isinstance(error, Mismatch):
                raise
            attempt.failure = error.with_traceback(None)
        else:
            before[1].update(self._needed)
            # What the attempt assumed is proved now, so the attempt around it may rely on that.
            self._asked[-2].update(self._asked.pop())
        finally:
            self._stack, self._needed = before[:2]

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """Part of a comparison that fails where it would take all remaining steps."""
        budget = self.terms.budget
        rest = min(budget.steps, _FAILURE)
        budget.steps -= rest
        try:
            yield
        except OpenError as error:
            if budget.steps >= 0:
                raise
            raise Mismatch(str(error), None, None) from error.with_traceback(None)
        finally:
            budget.steps += rest

    def _ask(self, one: Term | None, other: Term | None) -> None:
        if one is other:
            return
        if one is None or other is None:
            raise Mismatch("a value is absent in one of the models", one, other)
        pair = one, other
        # Coinduction is sound only through an operator: a pair that follows from its own slices
        # alone was never compared.
        if pair == self._by_row:
            raise Mismatch("a pair of slices leads back to the tensors", one, other)
        # A pair that is asked for already is proved or fails with the whole, so a cycle through a
        # loop's state ends here.
        if any(pair in layer for layer in self._asked):
            return
        self._asked[-1].add(pair)
        self._stack.append(pair)

    def _reduce(self, one: Term, other: Term) -> list[Pair] | None:
        """Pairs that must be equal for two terms to be equal; None if no rule applies. No rule is
        asked about tensors that certainly differ in type or shape."""
        if _unlike(one, other):
            return None
        # Before normal forms, which write the states of a known number of iterations out.
        if self._reals is not None:
            pairs = self.induction.last(*map(self._cell, (one, other)))
            if pairs is not None:
                return pairs
        if self._unopened is not None and self._unopened.equal(one, other):
            return []
        # States after zero iterations are the initial ones, which need no induction.
        if one.head.name == other.head.name == "state" and one.args[1] is not self.terms.size(0):
            pairs = self.induction.states(one, other)
            if pairs is not None:
                return pairs  # before iterations are written out
        # Congruence before normal forms: two equal long terms are compared in linear time, where
        # normal forms would write both out.
        pairs = self._leap(one, other)
        if pairs is not None:
            return pairs
        settled = self.pushdown.settled(one), self.pushdown.settled(other)
        if settled != (one, other):
            self.pushdown.chosen |= self.pushdown.reshaped(one) ^ self.pushdown.reshaped(other)
            return [settled]
        # The first rule that applies decides: rules are ordered, and a later one is not tried when
        # its pairs fail.
        for rule in self._rules:
            pairs = rule(one, other)
            if pairs is not None:
                return pairs
        return None

    def _cell(self, term: Term) -> Term:
        """Final state that an output of a recurrent operator is; any other term itself."""
        return self.pushdown.settled(term) if below_view(term).head.name in GATES else term

    def _leap(self, one: Term, other: Term) -> list[Pair] | None:
        """Congruence of two operators before their normal forms. It counts those that may be equal
        although their operands are not."""
        if self._leaps is None or one.head is not other.head:
            return None
        if one.head.op is None and not self._moves_alike(one, other):
            return None
        pairs = self._alike(one, other)
        if pairs is not None:
            differences = sum(a is not b for a, b in pairs)
            is_view = one.head.op is None and one.operands[0].head is not other.operands[0].head
            self._leaps += differences > 1 or is_view or one.head.name in ELEMENTWISE
        return pairs

    def _moves_alike(self, one: Term, other: Term) -> bool:
        """Test for views of operators of one head, or of one and its longer form. In a long
        comparison slices and all views are such."""
        if one.head.name not in ("view", "narrow"):
            return False
        below = one.operands[0], other.operands[0]
        if len(self._needed) >= _MANY_PAIRS or below[0].head is below[1].head:
            return True
        names = [self.longer_forms.name_of(term) for term in below]
        return names[0] != names[1] and any(name in DEFINITIONS for name in names)

    def _over_reals(self, one: Term, other: Term) -> list[Pair] | None:
        """Equality over the reals, where that is asked for: as it stands, or if variables of two
        recurrences are equal."""
        reals = self._reals
        if reals is None:
            return None
        if reals is not self._unopened and reals.equal(one, other):
            return []
        # A term without variables of a loop has no induction hypothesis to use.
        if not self.terms.symbols.free(other):
            return None
        one, other = reals.normal(one), reals.normal(other)
        for pairs, substitution in self.induction.hypotheses(one, other, reals.equal):
            if reals.equal(one, substitution.of(other)):
                return pairs
        return self.cases.of_one_condition(one, other)

    def _alike(self, one: Term, other: Term) -> list[Pair] | None:
        """Congruence, unless some arguments have no chance of being equal."""
        pairs = self._congruent(one, other)
        return None if pairs is None or any(map(_is_hopeless, pairs)) else pairs

    def _rows(self, one: Term, other: Term) -> list[Pair] | None:
        """Equality at each position of an axis. Where that leads nowhere, other rules remain."""
        # Rows of rows are not tried: each level would multiply the cost by the number of pieces.
        if self._by_row:
            pair = self.row_by_row.pair(one, other)
            return None if pair is None else [pair]
        if self._failures >= _MOST_FAILURES:
            return None
        self._by_row, steps = (one, other), self.terms.budget.steps
        try:
            # Terms that both share stay whole at first: slices of them would be equal anyway.
            shared = self.row_by_row.shared(one, other)
            for whole in (shared, frozenset[Term]()) if shared else (shared,):
                with self._attempt() as attempt, self._limited(), self.pushdown.keeping(whole):
                    pair = self.row_by_row.pair(one, other)
                    if pair is None:
                        raise Mismatch("", one, other)
                    self._compare(*pair, "")
                if attempt.failure is None and pair is not None:
                    return [pair]
        finally:
            self._by_row = None
        # Each failure costs as much as a success; after a few of them rows are not the reason why
        # the models are equal.
        self._failures += 1 + (steps - self.terms.budget.steps) // _FAILURE
        return None

    def _congruent(self, one: Term, other: Term) -> list[Pair] | None:
        """Congruence: the same head on equal arguments."""
        if one.head is not other.head or one.index != other.index or one.head.name in _LEAVES:
            return None
        if len(one.args) != len(other.args):
            return None
        # Equal real numbers may have other bits.
        if self._reals is not None and reads_bits(one):
            return None
        pairs = []
        for a, b in zip(one.args, other.args, strict=True):
            if a is None and b is None:
                continue
            if a is None or b is None or _unlike(a, b):
                return None
            pairs.append((a, b))
        return pairs

    def _defined(self, one: Term, other: Term) -> list[Pair] | None:
        """Definitions: an operator and its longer form, or two operators with one longer form."""
        if one.head.name == other.head.name and one.args == other.args:
            return None  # other attributes
        terms = self.longer_forms.opened(one), self.longer_forms.opened(other)
        if terms == (None, None):
            return None
        return [(terms[0] or one, terms[1] or other)]

    def _views(self, one: Term, other: Term) -> list[Pair] | None:
        """Views of one shape: their operands are equal in one shape. It is that of the pieces of a
        Concat or of the iterations of a recurrence, if one operand is such. The
        number of elements determines a size that has no common name."""
        are_views = one.head.name == other.head.name == "view"
        if are_views and one.shape != other.shape and _fix_all_sizes(one.shape, other.shape):
            return [(one.operands[0], other.operands[0])]
        if one.fact.shape is None or one.fact.shape != other.fact.shape:
            return None
        if any(term.head.name in ("Concat", "stacked") for term in (one, other)):
            return None  # they are in their own shapes already
        for term in (one, other):
            below = term.args[0] if term.head.name == "view" else None
            shape = None if below is None else below.fact.shape
            if below is not None and shape is not None and below.head.name in _BARE:
                return [(self.terms.view(one, shape), self.terms.view(other, shape))]
        return None

    def _concats(self, one: Term, other: Term) -> list[Pair] | None:
        """Concat and a term with equal slices."""
        joined, whole = (one, other) if one.is_op("Concat") else (other, one)
        if not joined.is_op("Concat") or joined.fact.shape != whole.fact.shape:
            return None
        axis = joined.head.attribute("axis")
        sizes = _sizes_along(joined, axis)
        if sizes is None:
            return None
        if whole.head is joined.head and _sizes_along(whole, axis) == sizes:
            return None  # alike
        pairs = []
        starts = itertools.accumulate(sizes, initial=Dimension.constant(0))
        for piece, start, size in zip(joined.args, starts, sizes, strict=False):
            part = self.pushdown.of(whole, axis, start, size)
            stays = part.head.name == "narrow" and part.args[0] is whole
            if piece is None or (stays and not whole.is_op("CumSum")):  # whose elements have rules
                return None
            pairs.append((piece, part) if joined is one else (part, piece))
        return pairs

    def _random(self, one: Term, other: Term) -> list[Pair] | None:
        """Outputs of random or unknown operators: each node equals at most one."""
        if one.head.name != "drawn" or other.head.name != "drawn":
            return None
        (side, _, head), (side_of_other, _, head_of_other) = one.head.key, other.head.key
        # Two draws of one model are not taken for equal, even with one seed.
        if head is not head_of_other or side == side_of_other or one.index != other.index:
            return None
        nodes = one.head, other.head
        partners = self._partners.get(nodes[0]), self._partners.get(nodes[1])
        if partners == (None, None):
            self._partners[nodes[0]], self._partners[nodes[1]] = nodes[1], nodes[0]
        # Two nodes of a seedless operator draw different numbers: if one node of the original could
        # match two of the rewrite, equal numbers would be claimed for independent draws.
        elif partners != nodes[::-1]:
            return None
        if len(one.args) != len(other.args):
            return None
        pairs = []
        for a, b in zip(one.args, other.args, strict=True):
            if (a is None) is not (b is None):
                return None
            if a is not None and b is not None:
                pairs.append((a, b))
        return pairs


def _reason(output: str, one: Term, other: Term) -> str:
    """Sentence about the terms of an output that are not proved equal."""
    words = in_words(one), in_words(other)
    if words[0] == words[1]:
        return f"output '{output}': {words[0]} of each model is not proved equal to the other"
    return f"output '{output}': {words[0]} and, in the rewrite, {words[1]} are not proved equal"


def _fix_all_sizes(one: Shape, other: Shape) -> bool:
    """Test whether two shapes of equally many elements are equal: all sizes but one are."""
    if len(one) != len(other):
        return False
    pairs = [(a.value, b.value) for a, b in zip(one, other, strict=True)]
    # A size of 0 leaves the others open: any of them has 0 elements in all.
    return sum(a is None or not a or a != b for a, b in pairs) <= 1


def _sizes_along(joined: Term, axis: int) -> list[Dimension] | None:
    """Sizes of the pieces of a Concat along its axis; None if a rank is unknown."""
    shapes = [None if arg is None else arg.fact.shape for arg in joined.args]
    sizes = [shape[axis] for shape in shapes if shape is not None and axis < len(shape)]
    return sizes if len(sizes) == len(shapes) else None


def _is_hopeless(pair: Pair) -> bool:
    """Test whether two arguments are certainly or very likely not equal."""
    one, other = pair
    if one is other:
        return False
    if one.head.name in _FIXED and other.head.name in _FIXED:
        return True
    return one.fact.shape is not None and one.fact.shape != other.fact.shape


def _unlike(one: Term, other: Term) -> bool:
    """Test whether two terms certainly differ in type or shape."""
    types = one.fact.elem_type, other.fact.elem_type
    if types[0] != types[1] and all(types):
        return True
    a, b = one.fact.shape, other.fact.shape
    if a is None or b is None or a is b:
        return False
    return len(a) != len(b) or any(x.equals(y) is False for x, y in zip(a, b, strict=True))
