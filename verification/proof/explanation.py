"""Explanation of an open proof: the nodes that differ, and the rule that is missing."""

from collections.abc import Mapping, Sequence

from .terms.printing import in_a_line, name_of, type_of
from .terms.provenance import Trace
from .terms.term import Pair, Term

TWIN = (
    "the same operator on equal operands in the original, wherever this node runs; or types, sizes"
    " and bounds that exclude a failure"
)
"""Missing rule where a node of the rewrite may fail."""

_OF_LOOPS = ("state", "final", "fresh", "bound")
_LEAVES = ("input", "constant", "sizes")


def needed(before: Term | None, after: Term | None, above: Sequence[Pair] = ()) -> str:
    """Rule that would have to exist for two terms to be equal.

    Args:
        before: term of the original; None for an absent value.
        above: pairs that depend on their equality, the nearest one first.
    """
    if before is None or after is None:
        return "no rule equates a value with an absent one"
    one, other = _in_words(before), _in_words(after)
    alike = _comparison(before, after)
    if all(term.head.name in _LEAVES for term in (before, after)):
        return f"no rule can equate {one} and {other}{_rule_for_users(above)}"
    if any(term.head.name in _OF_LOOPS for term in (before, after)):
        return f"an invariant that {one} equals {other} before each iteration; {alike}"
    return f"a rule that {one} equals {other}; {alike}"


def _rule_for_users(above: Sequence[Pair]) -> str:
    """Nearest operators whose operands are leaves that differ."""
    for one, other in above:
        if one.args and other.args:
            rule = f"a rule that {_in_words(one)} equals {_in_words(other)}"
            return f"; so {rule}; {_comparison(one, other)}"
    return ""


def _in_words(term: Term) -> str:
    return f"input {name_of(term)}" if term.head.name == "input" else in_a_line(term)


def _comparison(one: Term, other: Term) -> str:
    """Common part and difference of two terms."""
    types = type_of(one), type_of(other)
    if types[0] != types[1]:
        return f"one is {types[0]}, the other {types[1]}"
    if not one.args and not other.args:
        return f"both are {types[0]}"
    heads = "other operators"
    if one.head.name == other.head.name:
        same = one.head is other.head
        heads = "the same operator" if same else "other attributes or another version"
    return f"{heads}, {_operands(one, other)}"


def _operands(one: Term, other: Term) -> str:
    if one.args == other.args:
        return "the same operands"
    if len(one.args) == len(other.args) and set(one.args) == set(other.args):
        return "the same operands in another order"
    both = {a for a in one.args if a is not None} & set(other.args)
    shared = sorted(both, key=lambda term: term.number)
    if not shared:
        return "no common operand"
    names = ", ".join(map(name_of, shared))
    return f"with {names} among the operands of both"


def places(
    trace: Trace | None,
    before: Term | None,
    after: Term | None,
    needed: Mapping[Pair, Sequence[Pair]],
) -> tuple[str, str]:
    """Paths of two terms that differ, or of the terms that depend on them.

    Args:
        trace: record of where terms come from; None if not recorded.
        needed: pairs that each pair depends on.
    """
    paths = ["", ""]
    for both in [(before, after), *users(before, after, needed)]:
        for k, (side, term) in enumerate(zip(("before", "after"), both, strict=True)):
            if trace is not None and term is not None and not paths[k]:
                paths[k] = trace.path(side, term)
    return paths[0], paths[1]


def users(
    before: Term | None, after: Term | None, needed: Mapping[Pair, Sequence[Pair]]
) -> list[Pair]:
    """Pairs that depend on two terms being equal, the nearest one first."""
    above: dict[Pair, Pair] = {}
    for pair, pairs in needed.items():
        for each in pairs:
            above.setdefault(each, pair)
    chain: dict[Pair, None] = {}
    at = None if before is None or after is None else above.get((before, after))
    while at is not None and at not in chain:
        chain[at] = None
        at = above.get(at)
    return list(chain)
