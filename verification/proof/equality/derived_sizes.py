"""Sizes that follow from terms of an iteration: equal if these terms are."""

from ....facts.polynomial import Dimension
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms


def equal_derivations(terms: Terms, one: Term, other: Term) -> list[Pair] | None:
    """Sizes that differ in one symbol each, which follow in one way from two terms."""
    if one.head.name != "sizes" or other.head.name != "sizes":
        return None
    numbers = [_numbers(one), _numbers(other)]
    names = [{name for number in each for name in number.symbols} for each in numbers]
    own, others = names[0] - names[1], names[1] - names[0]
    if len(own) != 1 or len(others) != 1:
        return None
    (name,), (other_name,) = own, others
    derived = terms.symbols.derived
    if name not in derived or other_name not in derived:
        return None
    (kind, term, size), (other_kind, other_term, other_size) = derived[name], derived[other_name]
    of_other = {name: Dimension.symbol(other_name)}
    if [number.replaced(of_other) for number in numbers[0]] != numbers[1]:
        return None
    return [(term, other_term)] if (kind, size) == (other_kind, other_size) else None


def _numbers(sizes: Term) -> list[Dimension]:
    content = sizes.fact.content
    elements = [] if content is None else list(content.reshape(-1))
    return [element for element in elements if isinstance(element, Dimension)]
