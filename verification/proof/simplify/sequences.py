"""Sequences that are known element by element: a chain, to which each insertion adds one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..sequence_terms import appended, collected, empty_chain, is_chain, rows_of
from .registry import rule

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term


@rule("SequenceEmpty")
def empty(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """A chain of nothing."""
    return [empty_chain(terms, head.attribute("dtype", 1))]


@rule("SequenceConstruct")
def construct(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """A chain of the elements."""
    if not args or any(a is None or not a.fact.elem_type for a in args):
        return None
    assert args[0] is not None
    chain = empty_chain(terms, args[0].fact.elem_type)
    for element in args:
        assert element is not None
        chain = appended(terms, chain, element)
    return [chain]


@rule("SequenceInsert")
def insert(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """An element more."""
    sequence, element, *position = args
    count = None if sequence is None else sequence.fact.count
    if sequence is None or element is None or count is None or not is_chain(sequence):
        return None
    at = count
    if position and position[0] is not None:
        told = terms.numbers(position[0])
        if told is None or not -count <= told[0] <= count:
            return None
        at = told[0] + count if told[0] < 0 else told[0]
    if at == count:
        return [appended(terms, sequence, element)]
    elements = list(terms.elements_of(sequence) or ())
    return [_chain(terms, sequence, [*elements[:at], element, *elements[at:]])]


@rule("SequenceErase")
def erase(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """An element less."""
    at = _position(terms, args, -1)
    if at is None:
        return None
    elements = list(terms.elements_of(args[0]) or ())
    assert args[0] is not None
    return [_chain(terms, args[0], elements[:at] + elements[at + 1 :])]


@rule("SequenceAt")
def at(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """The element at a known place."""
    rows = rows_of(args[0])
    if rows is not None:
        return [terms.op("Gather", head, rows, args[1], axis=0)]
    place = _position(terms, args, None)
    elements = None if place is None else terms.elements_of(args[0])
    return None if elements is None or place is None else [elements[place]]


@rule("SequenceLength")
def length(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """How many elements there are."""
    (sequence,) = args
    rows = rows_of(sequence)
    if rows is not None and rows.fact.shape:
        return [terms.size(rows.fact.shape[0])]
    count = None if sequence is None else sequence.fact.count
    return None if count is None else [terms.size(count)]


@rule("SplitToSequence")
def split_to_sequence(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """A chain of the parts, where their number and sizes are known; the axis stays where a split is
    given, whatever keepdims says (operator specification)."""
    x = args[0]
    if x is None or not x.fact.shape or not x.fact.elem_type:
        return None
    axis = head.attribute("axis", 0) % len(x.fact.shape)
    total = x.fact.shape[axis].value
    if total is None and axis == 0 and len(args) == 1 and not head.attribute("keepdims", 1):
        return [collected(terms, x)]
    lengths = _lengths(terms, args, total)
    if total is None or lengths is None or sum(lengths) != total:
        return None
    shape = x.fact.shape
    keeps = len(args) > 1 or head.attribute("keepdims", 1)
    chain, start = empty_chain(terms, x.fact.elem_type), 0
    for size in lengths:
        part = terms.narrow(x, axis, start, size)
        if not keeps:
            part = terms.view(part, shape[:axis] + shape[axis + 1 :])
        chain, start = appended(terms, chain, part), start + size
    return [chain]


def _lengths(terms: Terms, args: Args, total: int | None) -> list[int] | None:
    if total is None:
        return None
    if len(args) < 2:
        return [1] * total
    told, split = terms.numbers(args[1]), args[1]
    if told is None or split is None or split.fact.shape:
        return told
    if told[0] < 1:
        return None
    full, rest = divmod(total, told[0])
    return [told[0]] * full + ([rest] if rest else [])


def _position(terms: Terms, args: Args, default: int | None) -> int | None:
    """The place that the second input tells, from the front; None where it is not known."""
    sequence = args[0]
    if sequence is None or not is_chain(sequence) or sequence.fact.count is None:
        return None
    told = [default] if len(args) < 2 else terms.numbers(args[1])
    count = sequence.fact.count
    if not told or told[0] is None or not -count <= told[0] < count:
        return None
    return told[0] % count


def _chain(terms: Terms, like: Term, elements: Sequence[Term]) -> Term:
    other = like.fact.other
    assert other is not None
    terms.budget.step(len(elements))
    chain = empty_chain(terms, other.sequence_type.elem_type.tensor_type.elem_type)
    for element in elements:
        chain = appended(terms, chain, element)
    return chain
