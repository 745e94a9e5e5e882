"""Recurrent layers: initial states of zeros, and batches first (operator specification)."""

from collections.abc import Sequence

from ....facts.fact import Shape
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_STATES = (5, 6)
_MOVES = ("Expand", "Transpose", "narrow", "view")
_MOST_ELEMENTS = 1 << 16


@canonical_form("GRU", "LSTM", "RNN")
def default_states(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Omit initial states of zeros, none of which is negative, if their sizes fit."""
    shape = _shape_of_state(head, args)
    shorter = [
        None if index in _STATES and _is_zero(terms, each, shape) else each
        for index, each in enumerate(args)
    ]
    while shorter and shorter[-1] is None:
        shorter.pop()
    last = max((i for i, each in enumerate(args) if each is not None), default=-1)
    if shorter == list(args[: last + 1]):
        return None
    return terms.apply(head, tuple(shorter), count)


@canonical_form("GRU", "LSTM", "RNN")
def sequence_first(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Transpose what has its batch first: input, initial states and outputs."""
    if not head.attribute("layout"):
        return None
    operands = [
        _transposed(terms, head, each, [1, 0, 2]) if index in (0, *_STATES) else each
        for index, each in enumerate(args)
    ]
    plain = terms.heads.with_attributes(head, layout=None)
    results = terms.apply(plain, tuple(operands), count)
    perms = [[2, 0, 1, 3], *[[1, 0, 2]] * (count - 1)]
    return [_transposed(terms, head, *each) for each in zip(results, perms, strict=True)]


def _transposed(terms: Terms, head: Head, term: Term | None, perm: list[int]) -> Term | None:
    return None if term is None else terms.op("Transpose", head, term, perm=perm)


def _shape_of_state(head: Head, args: Args) -> Shape | None:
    """Shape that an initial state must have; None if unknown."""
    shapes = [None if each is None else each.fact.shape for each in (args[0], args[2])]
    if shapes[0] is None or shapes[1] is None or {len(shape or ()) for shape in shapes} != {3}:
        return None
    (first, second, _), (directions, _, hidden) = shapes[0], shapes[1]
    by_batch = head.attribute("layout", 0)
    return (first, directions, hidden) if by_batch else (directions, second, hidden)


def _is_zero(terms: Terms, term: Term | None, shape: Shape | None) -> bool:
    """Test for a tensor of positive zeros of a shape, moved or repeated."""
    if term is None or shape is None or term.fact.shape != shape:
        return False
    while term is not None and term.head.name in _MOVES:
        term = term.args[0]
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable or tensor.size > _MOST_ELEMENTS:
        return False
    array = tensor.numpy()
    return array.dtype.kind == "f" and not any(array.tobytes())
