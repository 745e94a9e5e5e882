"""BitCast, which reads the bits of a NaN: proofs compare a NaN as any other one.

Rules may change the sign and the payload of a NaN, as does an exchange of operands. So a BitCast
has a term only if its operand moves elements of inputs and constants.
"""

from collections.abc import Sequence

import numpy as np

from ....facts.types import INTEGER_BITS
from ....ir import normal_domain
from ....ops import rules_of
from ....ops.rules import Moving
from ..terms.budget import OpenError
from ..terms.exact_operators import READS_BITS
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_MOVES = ("view", "narrow", "reversed", "Concat", "Where", "choose")
"""Heads that move elements, besides operators of which `ops/` says so."""


@canonical_form(READS_BITS)
def of_moved_floats(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Leave the proof open if a float operand is computed."""
    stack, visited = [arg for arg in args if arg is not None], set[Term]()
    while stack:
        term = stack.pop()
        if term in visited or term.fact.elem_type in INTEGER_BITS:
            continue
        visited.add(term)
        terms.budget.step()
        if _moves(term):
            stack += [arg for arg in term.args if arg is not None]
        elif term.head.name != "input" and not _is_number(terms, term):
            raise OpenError(f"{READS_BITS} reads the bits of a float that may be a NaN")
    return None


def _moves(term: Term) -> bool:
    op = term.head.op
    if term.head.name in _MOVES:
        return True
    return op is not None and not normal_domain(op.domain) and isinstance(rules_of(op), Moving)


def _is_number(terms: Terms, term: Term) -> bool:
    """Test for a constant without a NaN, or a truth value."""
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable:
        return False
    array = tensor.numpy()
    return array.dtype.kind in "biu" or not np.isnan(array.astype(np.float64)).any()
