"""Initial states of recurrent layers: zeros are the default (operator specification)."""

from __future__ import annotations

from collections.abc import Sequence

from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_STATES = (5, 6)
_MOVES = ("Expand", "Transpose", "narrow", "view")
_MOST_ELEMENTS = 1 << 16


@canonical_form("GRU", "LSTM", "RNN")
def default_states(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Omit initial states of zeros, none of which is negative."""
    shorter = [
        None if index in _STATES and _is_zero(terms, each) else each
        for index, each in enumerate(args)
    ]
    while shorter and shorter[-1] is None:
        shorter.pop()
    last = max((i for i, each in enumerate(args) if each is not None), default=-1)
    if shorter == list(args[: last + 1]):
        return None
    return terms.apply(head, tuple(shorter), count)


def _is_zero(terms: Terms, term: Term | None) -> bool:
    """Test for a tensor of positive zeros, moved or repeated."""
    while term is not None and term.head.name in _MOVES:
        term = term.args[0]
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable or tensor.size > _MOST_ELEMENTS:
        return False
    array = tensor.numpy()
    return array.dtype.kind == "f" and not any(array.tobytes())
