"""Functions of entries of a constant: entries of the function of the constant.

Neg (Gather ([1, 2, 4], i))    ->    Gather ([-1, -2, -4], i)
"""

from collections.abc import Sequence

from ..terms.constants import MOST_ELEMENTS
from ..terms.exact_operators import is_exact
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form


@canonical_form("Abs", "BitwiseNot", "Neg", "Not", "Sign")
def of_entries(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite a function of entries of a constant that is not large."""
    term, parts = args[0], list[Term]()
    while term is not None and (term.head.name in ("view", "narrow") or term.is_op("Gather")):
        parts.append(term)
        term = term.args[0]
    tensor = terms.tensor(term)
    if term is None or tensor is None or not parts or tensor.size > MOST_ELEMENTS:
        return None
    (result,) = terms.apply(head, (term,))
    if result is None or terms.tensor(result) is None or not is_exact(head.name, (term, result)):
        return None
    for part in reversed(parts):
        result = terms.rebuild(part, (result, *part.args[1:]))
    return [result]
