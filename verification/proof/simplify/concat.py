"""Concat: of one piece, of Concats, of adjacent slices."""

from collections.abc import Sequence

from ....facts.fact import Fact, element
from ....ops.axes import ONE
from ..arithmetic.trip_counts import with_whole
from ..terms.term import Args, Head, Term, rank_of
from ..terms.term_manager import Terms, late_rule, rule
from .padding import match_padding
from .sequences import elements_of, rows_of

_MOST_INLINED = 32
"""Number of pieces up to which a Concat in a Concat is written out at once."""


@rule("Concat", constants=True)
def concat(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Drop empty pieces of Concat, flatten short nested ones and merge adjacent slices."""
    pieces = [piece for piece in args if piece is not None]
    ranks = {len(p.fact.shape) for p in pieces if p.fact.shape is not None}
    if len(ranks) != 1 or 0 in ranks:
        return None
    (rank,) = ranks
    # Concat 1 has a default; later versions require the attribute.
    if not -rank <= head.attribute("axis", 1) < rank:
        return None
    axis = head.attribute("axis", 1) % rank
    joined = _merge(terms, pieces, axis, rank)
    if axis == 0 and len(joined) == 2:
        padded = match_padding(terms, *joined)
        joined = joined if padded is None else [padded]
    if len(joined) == 1:
        return joined
    if head.attribute("axis") == axis and joined == pieces:
        return _of_whole(terms, head, args, axis)
    return terms.apply(terms.heads.with_attributes(head, axis=axis), tuple(joined))


def _of_whole(terms: Terms, head: Head, args: Args, axis: int) -> Sequence[Term] | None:
    """Join pieces whose sizes are two parts of a whole: min(k, n) and max(n - k, 0)."""
    (fact,) = terms.facts_of(head, args, 1)
    if len(args) != 2 or fact is None or fact.shape is None:
        return None
    size = with_whole(terms, fact.shape[axis])
    if size == fact.shape[axis]:
        return None
    shape = (*fact.shape[:axis], size, *fact.shape[axis + 1 :])
    return [terms.keep(head, args, Fact(fact.elem_type, shape))]


def _merge(terms: Terms, pieces: Sequence[Term], axis: int, rank: int) -> list[Term]:
    flat: list[Term] = []
    for piece in pieces:
        short = len(piece.args) <= _MOST_INLINED
        flat.extend(piece.operands if short and _is_nested(piece, axis, rank) else [piece])
    shapes = [piece.fact.shape for piece in flat]
    full = [p for p, s in zip(flat, shapes, strict=True) if s is None or s[axis].value != 0]
    joined: list[Term] = []
    # Of pieces that are all empty, one stays.
    for piece in full or flat[:1]:
        both = _side_by_side(terms, joined[-1], piece, axis) if joined else None
        if both is None:
            joined.append(piece)
        else:
            joined[-1] = both
    return joined


def _is_nested(piece: Term, axis: int, rank: int) -> bool:
    """Test whether a piece is a Concat along the same axis. A Concat of pieces that do not fit
    fails; it is no concern of the outer one."""
    if not piece.is_op("Concat") or piece.head.attribute("axis") != axis:
        return False
    return all(p.fact.shape is None or len(p.fact.shape) == rank for p in piece.operands)


@late_rule("Concat")
def flat(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Write out long Concats in a Concat. They are nested until then, so that a chain of them takes
    linear time."""
    axis, rank = head.attribute("axis"), rank_of(args[0])
    operands = [piece for piece in args if piece is not None]
    if rank is None or not any(_is_nested(piece, axis, rank) for piece in operands):
        return None
    pieces, stack = [], operands[::-1]
    while stack:
        piece = stack.pop()
        if _is_nested(piece, axis, rank):
            stack += piece.operands[::-1]
        else:
            pieces.append(piece)
    return terms.apply(head, tuple(pieces))


def _side_by_side(terms: Terms, one: Term, two: Term, axis: int) -> Term | None:
    """Two adjacent slices of one tensor as one slice."""
    grown = terms.joined.get((one, two))
    if grown is not None:
        return grown
    if two.head.name != "narrow" or two.head.key != axis or one.fact.shape is None:
        return None
    (below, start, more), length = two.operands, one.shape[axis]
    begin = element(start.fact) - length
    is_slice = one.head is two.head and one.args[0] is below
    if not is_slice and (begin.value != 0 or not below.is_op("CumSum")):
        return None  # the first row of sums is that of the summands
    if begin.less(0) is not False or terms.narrow(below, axis, begin, length) is not one:
        return None
    return terms.narrow(below, axis, begin, length + element(more.fact))


@rule("ConcatFromSequence")
def concat_from_sequence(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite ConcatFromSequence to Concat of the known elements."""
    rows = rows_of(args[0])
    if rows is not None:
        return _of_rows(terms, head, rows)
    elements = elements_of(terms, args[0])
    if not elements or any(e.fact.shape is None for e in elements):
        return None
    axis, new = head.attribute("axis"), head.attribute("new_axis", 0)
    if new:
        rank = len(elements[0].fact.shape or ()) + 1
        if not -rank <= axis < rank:
            return None
        axis %= rank
        elements = tuple([_unsqueeze(terms, element, axis) for element in elements])
    return [terms.op("Concat", head, *elements, axis=axis)]


def _of_rows(terms: Terms, head: Head, rows: Term) -> Sequence[Term | None] | None:
    """Tensor whose rows are concatenated again."""
    shape = rows.fact.shape
    if not shape:
        return None
    if head.attribute("new_axis", 0):
        axis = head.attribute("axis")
        if not -len(shape) <= axis < len(shape):
            return None
        axis %= len(shape)
        perm = [*range(1, axis + 1), 0, *range(axis + 1, len(shape))]
        return [terms.op("Transpose", head, rows, perm=perm)]
    if head.attribute("axis") != 0:
        return None
    return [terms.view(rows, (shape[0] * shape[1], *shape[2:]))] if len(shape) > 1 else None


def _unsqueeze(terms: Terms, term: Term, axis: int) -> Term:
    shape = term.shape
    return terms.view(term, (*shape[:axis], ONE, *shape[axis:]))
