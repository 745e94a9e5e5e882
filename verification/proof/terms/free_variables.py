"""Binders and free variables: terms and sizes that differ from iteration to iteration.

A size that varies has one symbol in the body of its loop. Outside of one iteration two such symbols
imply nothing about equal sizes.
"""

import hashlib
from collections.abc import Set

from ....facts.fact import PRIVATE, Symbols
from ....facts.polynomial import Dimension
from ....records import record
from .term import Head, Term, bottom_up

Levels = frozenset[int]
_NONE: Levels = frozenset()
COMPARED = -1
"""Level of the variables that the comparison binds."""


class Sizes(Symbols):
    """Symbols of sizes in a proof, and the loops in which they vary.

    Attributes:
        depth: number of loops around the current node; 1 or more during the comparison.
        varying: symbols of sizes that may differ from iteration to iteration.
        derived: derivation of a size that depends on an iteration, by symbol.
    """

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.varying: set[str] = set()
        self.derived: dict[str, tuple[str, Term, Dimension | None]] = {}
        self._levels: dict[str, int] = {}
        self._free: dict[Term, Levels] = {}
        self._common: dict[Dimension, Set[Dimension]] = {}

    def named(self, name: str) -> Dimension:
        """Dimension of a name. A name that is new inside of a loop may vary."""
        if self.depth and name not in self._known:
            self.varying.add(name)
        return super().named(name)

    def common(self, one: Dimension, other: Dimension) -> Dimension:
        """Size to which two others broadcast; they determine it, unless they vary."""
        if self.vary(one.symbols | other.symbols):
            return self.fresh()
        uncapped = self.uncapped(one, other)
        if uncapped is not None:
            return uncapped
        parts = self._common.get(one, {one}) | self._common.get(other, {other})
        for size in (one, other):
            # To broadcast with a part of itself adds nothing.
            if self._common.get(size) == parts:
                return size
        # A name made of the parts gives equal broadcasts of both models one symbol.
        text = ",".join(sorted(map(str, parts)))
        digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        size = self.steady(f"{PRIVATE}common:{digest}")
        self._common[size] = parts
        return size

    def capped(self, size: Dimension, cap: int) -> Dimension:
        """Minimum of a size and a number, unless it varies."""
        return self.fresh() if self.vary(size.symbols) else super().capped(size, cap)

    def iteration(self, name: str, level: int = COMPARED) -> Dimension:
        """Symbol of an iteration number, for which one iteration is substituted."""
        self._levels[name] = level
        return self.steady(name)

    def steady(self, name: str) -> Dimension:
        """Size equal on every iteration, or replaced by substitution of one iteration."""
        size = self.named(name)
        self.varying.discard(name)
        return size

    def vary(self, names: Set[str], level: int | None = None) -> bool:
        """Test whether one of these sizes may differ from iteration to iteration: of a loop, by its
        level, or of any loop."""
        levels = self._levels_of(names)
        is_dependent = bool(levels) if level is None else level in levels
        return is_dependent or not names.isdisjoint(self.varying)

    def _levels_of(self, names: Set[str]) -> Levels:
        """Levels of the loops on whose iterations sizes depend."""
        levels = {self._levels[name] for name in names if name in self._levels}
        for name in names & self.derived.keys():
            _, term, size = self.derived[name]
            levels |= self.free(term)
            levels |= _NONE if size is None else self._levels_of(size.symbols)
        return frozenset(levels)

    def size_by(self, name: str, term: Term) -> Dimension:
        """Size that a term determines: equal on every iteration if the term is."""
        return self.named(name) if self.free(term) else self.steady(name)

    def free(self, term: Term) -> Levels:
        """Levels of the loops whose variables are free in a term."""
        return bottom_up(term, self._free, lambda at: at.head.parts + at.args, self._of)

    def _of(self, term: Term, _: object) -> Levels:
        levels = _NONE.union(*[self._free[t] for t in term.args if t is not None])
        inside = _NONE.union(*[self._free[t] for t in term.head.parts])
        if inside:
            # A recurrence binds its iteration number in its parts, not in its operands.
            levels |= inside - {self._levels.get(_index(term), COMPARED)}
        if term.head.name == "bound":
            levels |= {term.head.key[0]}
        elif term.head.name == "fresh":
            levels |= {COMPARED}
        elif term.head.name in ("sizes", "void"):
            levels |= self._of_sizes(term)
        return levels

    def _of_sizes(self, term: Term) -> Levels:
        content = term.fact.content
        elements = list(term.fact.shape or ()) if content is None else list(content.reshape(-1))
        symbols = set().union(*[e.symbols for e in elements if isinstance(e, Dimension)])
        return self._levels_of(symbols) | ({COMPARED} if symbols & self.varying else _NONE)


def _index(term: Term) -> str:
    """Symbol of the iteration number that a recurrence, or its scan output, binds."""
    head = term.head
    if head.name == "stacked" and term.args[0] is not None:
        head = term.args[0].head
    return getattr(head.key, "index", "")


@record(frozen=True)
class Bound:
    """Variables that a recurrence binds, and its kind of end; the key of its head.

    Attributes:
        index: symbol of the iteration number.
        states: variables of the states.
        conditional: whether a condition ends the recurrence.
        has_limit: whether a trip count does.
    """

    index: str
    states: tuple[Term, ...]
    conditional: bool
    has_limit: bool


def binding(term: Term) -> Bound | None:
    """Variables that the parts of a term bind."""
    head: Head = term.head
    if head.name == "stacked" and term.args[0] is not None:
        head = term.args[0].head
    return head.key if isinstance(head.key, Bound) else None
