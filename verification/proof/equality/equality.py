"""Equality of terms: identical, congruent, or equal by a rule for each pair of parts.

All pairs that are asked must hold, so no pair is compared twice; but no pair may hold because of
itself (`groundless`). The states of two recurrences may: they are equal by induction over the
iterations (`induction.py`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from ....facts.polynomial import Dimension
from ..terms.budget import OpenError
from ..terms.exact_operators import assumed
from ..terms.printing import in_words
from ..terms.term import Head, Pair, Term
from ..terms.term_manager import Terms
from .commutativity import exchanged
from .induction import Induction
from .mod_expansion import Remainders
from .modular_polynomials import Rings
from .prefix_sums import Sums
from .slice_pushdown import Narrowing


class Difference(OpenError):
    """Two terms that could not be shown to be equal.

    Attributes:
        before: that of the original.
        after: that of the rewrite.
        compared: the pairs that were compared so far, with what must be equal for each to be equal.
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


def groundless(
    needed: Mapping[Pair, Sequence[Pair]], earlier: Container[tuple[Pair, Pair]]
) -> Pair | None:
    """A pair that is equal only if it is; None where there is none.

    Args:
        needed: what must be equal for a pair to be equal; of what is not here all is settled.
        earlier: what is needed for a pair on the trip before, which may be the pair itself.
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
"""What is compared in the shape that it has, and what it is compared with in that shape, too."""

_LEAVES = ("input", "constant", "sizes", "bound", "fresh")


class Comparison:
    """Compares terms.

    Args:
        terms: where they were made.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        terms.comparing = True
        terms.symbols.depth += 1
        self.narrowing = Narrowing(terms)
        self.induction = Induction(terms, self.narrowing)
        self._asked: set[Pair] = set()
        self._trial: set[Pair] | None = None
        self._stack: list[Pair] = []
        self._partners: dict[Head, Head] = {}
        sums = Sums(terms, self.narrowing, self.induction)
        rings = Rings(terms, self.narrowing, self.induction)
        self._rules = (
            self._drawn,
            rings.equal,
            self.induction.states,
            self.induction.shifted,
            sums.summed,
            self.induction.variables,
            self._viewed,
            self._joined,
            self.induction.stacked,
            exchanged,
            Remainders(terms).defined,
            self._alike,
        )

    def release(self) -> None:
        """Drop the rules, which hold this."""
        vars(self).clear()

    @property
    def positive(self) -> set[Dimension]:
        """Numbers of trips that are taken to be 1 or more."""
        return self.induction.positive

    @property
    def assumptions(self) -> set[str]:
        """What was taken for granted."""
        return assumed(self.narrowing.chosen, self.terms.late)

    def require(self, before: Term | None, after: Term | None, output: str) -> None:
        """Compare what two models give out.

        Raises:
            Difference: they are not known to be equal.
        """
        self._ask(before, after)
        needed: dict[Pair, list[Pair]] = {}
        while self._stack:
            self.terms.budget.step()
            one, other = self._stack.pop()
            pairs = self._compared(one, other)
            if pairs is None:
                raise Difference(_reason(output, one, other), one, other, needed)
            needed[one, other] = pairs
            for pair in reversed(pairs):
                self._ask(*pair)
        pair_of_itself = groundless(needed, self.induction.earlier)
        if pair_of_itself is not None:
            one, other = pair_of_itself
            raise Difference(_reason(output, one, other), one, other, needed)

    def holds(self, before: Term, after: Term) -> bool:
        """Whether two terms are known to be equal; where they are not, nothing is kept of it."""
        partners, positive = dict(self._partners), set(self.positive)
        self._trial = set()
        try:
            self.require(before, after, "")
        except Difference:
            self._stack.clear()
            self._partners = partners
            self.induction.positive = positive
            return False
        else:
            self._asked |= self._trial
            return True
        finally:
            self._trial = None

    def _ask(self, one: Term | None, other: Term | None) -> None:
        if one is other:
            return
        if one is None or other is None:
            raise Difference("a value is absent in one of the models", one, other)
        pair = one, other
        if pair in self._asked or (self._trial is not None and pair in self._trial):
            return
        (self._asked if self._trial is None else self._trial).add(pair)
        self._stack.append(pair)

    def _compared(self, one: Term, other: Term) -> list[Pair] | None:
        """The pairs that must be equal for two terms to be equal; None where none are known."""
        settled = self.narrowing.settled(one), self.narrowing.settled(other)
        if settled != (one, other):
            self.narrowing.chosen |= self.narrowing.reshaped(one) ^ self.narrowing.reshaped(other)
            return [settled]
        for rule in self._rules:
            pairs = rule(one, other)
            if pairs is not None:
                return pairs
        return None

    def _alike(self, one: Term, other: Term) -> list[Pair] | None:
        """The same head on arguments that are equal."""
        if one.head is not other.head or one.index != other.index or one.head.name in _LEAVES:
            return None
        if len(one.args) != len(other.args):
            return None
        pairs = []
        for a, b in zip(one.args, other.args, strict=True):
            if a is None and b is None:
                continue
            if a is None or b is None or _unlike(a, b):
                return None
            pairs.append((a, b))
        return pairs

    def _viewed(self, one: Term, other: Term) -> list[Pair] | None:
        """Views of one shape: what is viewed is equal in one shape; that of the pieces of a Concat
        or of the trips of a recurrence, where one of them is such."""
        if one.fact.shape is None or one.fact.shape != other.fact.shape:
            return None
        if any(term.head.name in ("Concat", "stacked") for term in (one, other)):
            return None  # it is in its own shape already
        for term in (one, other):
            below = term.args[0] if term.head.name == "view" else None
            shape = None if below is None else below.fact.shape
            if below is not None and shape is not None and below.head.name in _BARE:
                return [(self.terms.view(one, shape), self.terms.view(other, shape))]
        return None

    def _joined(self, one: Term, other: Term) -> list[Pair] | None:
        """A Concat and what has the same pieces."""
        joined, whole = (one, other) if one.is_op("Concat") else (other, one)
        if not joined.is_op("Concat") or joined.fact.shape != whole.fact.shape:
            return None
        axis = joined.head.attribute("axis")
        ends = self.terms.ends_of(joined, axis)
        if ends is None:
            return None
        if whole.head is joined.head and self.terms.ends_of(whole, axis) == ends:
            return None  # alike
        pairs = []
        for piece, start, end in zip(joined.args, [0, *ends], ends, strict=False):
            size = Dimension.constant(end - start)
            part = self.narrowing.of(whole, axis, Dimension.constant(start), size)
            if piece is None or (part.head.name == "narrow" and part.args[0] is whole):
                return None
            pairs.append((piece, part) if joined is one else (part, piece))
        return pairs

    def _drawn(self, one: Term, other: Term) -> list[Pair] | None:
        """What two nodes draw, or give that nobody knows: one node for one node."""
        if one.head.name != "drawn" or other.head.name != "drawn":
            return None
        (side, _, head), (side_of_other, _, head_of_other) = one.head.key, other.head.key
        if head is not head_of_other or side == side_of_other or one.index != other.index:
            return None
        nodes = one.head, other.head
        known = self._partners.get(nodes[0]), self._partners.get(nodes[1])
        if known == (None, None):
            self._partners[nodes[0]], self._partners[nodes[1]] = nodes[1], nodes[0]
        elif known != nodes[::-1]:
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
    """Which terms of an output are not proved equal, in words."""
    words = in_words(one), in_words(other)
    if words[0] == words[1]:
        return f"output '{output}': {words[0]} of each model is not proved equal to the other"
    return f"output '{output}': {words[0]} and, in the rewrite, {words[1]} are not proved equal"


def _unlike(one: Term, other: Term) -> bool:
    """Whether two terms certainly differ in shape."""
    a, b = one.fact.shape, other.fact.shape
    if a is None or b is None or a is b:
        return False
    return len(a) != len(b) or any(x.equals(y) is False for x, y in zip(a, b, strict=True))
