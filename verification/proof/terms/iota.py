"""Tensors that hold 0, 1, 2, ... in the order of their elements."""

from ....facts.polynomial import Dimension
from .term import Term
from .term_manager import Terms


def single_number(terms: Terms, term: Term | None) -> Dimension | None:
    """Single number or size."""
    if term is None or term.fact.content is None or term.fact.content.size != 1:
        return None
    element = term.fact.content.reshape(-1)[0]
    return element if isinstance(element, Dimension) else None


def counts(terms: Terms, term: Term) -> bool:
    """Test whether a tensor holds 0, 1, 2, ... in the order of its elements. It may be a constant,
    a Range, or the iteration numbers of a loop."""
    name = term.head.name
    if name == "constant":
        numbers = terms.numbers(term)
        return numbers == list(range(len(numbers or ())))
    if name == "view" and term.args[0] is not None:
        return counts(terms, term.args[0])
    if name == "Mul" and any(terms.numbers(arg) == [1] for arg in term.args):
        return any(counts(terms, arg) for arg in term.operands if arg.fact.shape == term.fact.shape)
    if name == "Range":
        return [terms.numbers(term.args[n]) for n in (0, 2)] == [[0], [1]]
    if name == "stacked":
        return _counts_iterations(terms, term)
    return False


def _counts_iterations(terms: Terms, stacked: Term) -> bool:
    """Test whether a scan output holds the iteration numbers."""
    index, declared = stacked.head.key
    number = stacked.head.parts[0]
    if number.fact.shape != () or (declared is not None and declared[1] != ()):
        return False
    return single_number(terms, number) == Dimension.symbol(index)
