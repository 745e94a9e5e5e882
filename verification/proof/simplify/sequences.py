"""Sequences with known elements: a chain of appends, and the operators on it."""

import functools
from collections.abc import Sequence

import onnx

from ....facts.fact import Fact
from ..terms.term import Args, Head, Operands, Term
from ..terms.term_manager import Terms, rule

_REMEMBERED = 8


@functools.cache
def _sequence_of(elem_type: int) -> onnx.TypeProto:
    element = onnx.helper.make_tensor_type_proto(elem_type, None)
    return onnx.helper.make_sequence_type_proto(element)


def empty_chain(terms: Terms, elem_type: int) -> Term:
    """Empty sequence of tensors of a type."""
    return terms.leaf("empty", elem_type, Fact(other=_sequence_of(elem_type), count=0))


def append(terms: Terms, chain: Term, element: Term) -> Term:
    """Sequence with one more element."""
    cached = terms.get(terms.heads.own("append"), (chain, element))
    if cached is not None:
        return cached
    assert chain.fact.count is not None
    fact = Fact(other=chain.fact.other, count=chain.fact.count + 1)
    return terms.keep(terms.heads.own("append"), (chain, element), fact)


def rows_as_sequence(terms: Terms, rows: Term) -> Term:
    """Sequence of the rows of a tensor, of unknown length."""
    type_ = _sequence_of(rows.fact.elem_type)
    return terms.keep(terms.heads.own("collected"), (rows,), Fact(other=type_))


def rows_of(sequence: Term | None) -> Term | None:
    """Tensor whose rows a sequence holds; None for another sequence."""
    if sequence is None or sequence.head.name != "collected":
        return None
    return sequence.args[0]


def is_chain(term: Term | None) -> bool:
    """Test whether all elements of a sequence are known."""
    return term is not None and term.head.name in ("append", "empty")


def elements_of(terms: Terms, sequence: Term | None) -> tuple[Term, ...] | None:
    """Elements of a sequence, in order; None if they are not known one by one."""
    if sequence is None or not is_chain(sequence):
        return None
    cache = terms.elements
    elements = cache.get(sequence)
    if elements is None:
        # Few are kept: those of all prefixes of a long chain would take quadratic memory.
        if len(cache) >= _REMEMBERED:
            cache.pop(next(iter(cache)))
        elements = cache[sequence] = _unroll(sequence)
        terms.budget.step(len(elements))
    return elements


def _unroll(chain: Term) -> tuple[Term, ...]:
    elements = []
    while chain.head.name == "append":
        chain, element = chain.operands
        elements.append(element)
    return tuple(reversed(elements))


@rule("SequenceEmpty")
def empty(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite SequenceEmpty to an empty chain."""
    return [empty_chain(terms, head.attribute("dtype", 1))]


@rule("SequenceConstruct")
def construct(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite SequenceConstruct to a chain."""
    if not args or not all(element.fact.elem_type for element in args):
        return None
    chain = empty_chain(terms, args[0].fact.elem_type)
    return [functools.reduce(functools.partial(append, terms), args, chain)]


@rule("SequenceInsert")
def insert(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite SequenceInsert at a known position."""
    sequence, element, *position = args
    count = None if sequence is None else sequence.fact.count
    if sequence is None or element is None or count is None or not is_chain(sequence):
        return None
    at = count
    if position and position[0] is not None:
        numbers = terms.numbers(position[0])
        if numbers is None or len(numbers) != 1 or not -count <= numbers[0] <= count:
            return None
        at = numbers[0] + count if numbers[0] < 0 else numbers[0]
    if at == count:
        return [append(terms, sequence, element)]
    elements = list(elements_of(terms, sequence) or ())
    return [_chain(terms, sequence, [*elements[:at], element, *elements[at:]])]


@rule("SequenceErase")
def erase(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite SequenceErase at a known position."""
    at = _position(terms, args, -1)
    if at is None:
        return None
    elements = list(elements_of(terms, args[0]) or ())
    assert args[0] is not None
    return [_chain(terms, args[0], elements[:at] + elements[at + 1 :])]


@rule("SequenceAt")
def at(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite SequenceAt at a known position to the element."""
    rows = rows_of(args[0])
    if rows is not None:
        return [terms.op("Gather", head, rows, args[1], axis=0)]
    place = _position(terms, args, None)
    elements = None if place is None else elements_of(terms, args[0])
    return None if elements is None or place is None else [elements[place]]


@rule("SequenceLength")
def length(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite SequenceLength to the number of elements."""
    rows = rows_of(args[0])
    return [terms.size(rows.fact.shape[0])] if rows is not None and rows.fact.shape else None


@rule("SplitToSequence")
def split_to_sequence(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite SplitToSequence to a chain of known parts, or to the rows of a tensor. With a split
    input the axis stays whatever keepdims is (operator specification)."""
    x = args[0]
    if x is None or not x.fact.shape or not x.fact.elem_type:
        return None
    axis = head.attribute("axis", 0) % len(x.fact.shape)
    total = x.fact.shape[axis].value
    are_rows = axis == 0 and len(args) == 1 and not head.attribute("keepdims", 1)
    if are_rows and (total is None or not terms.runs_loop(total, 1)):
        return [rows_as_sequence(terms, x)]
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
        chain, start = append(terms, chain, part), start + size
    return [chain]


def _lengths(terms: Terms, args: Args, total: int | None) -> list[int] | None:
    if total is None:
        return None
    if len(args) < 2:
        return [1] * total
    numbers, split = terms.numbers(args[1]), args[1]
    # A vector lists the lengths; a scalar is the length of all parts but the last
    # (SplitToSequence).
    if numbers is None or split is None or split.fact.shape:
        return numbers
    if numbers[0] < 1:
        return None
    full, rest = divmod(total, numbers[0])
    return [numbers[0]] * full + ([rest] if rest else [])


def _position(terms: Terms, args: Args, default: int | None) -> int | None:
    """Position counted from the front; None if unknown."""
    sequence = args[0]
    if sequence is None or not is_chain(sequence) or sequence.fact.count is None:
        return None
    numbers = [default] if len(args) < 2 else terms.numbers(args[1]) or []
    count = sequence.fact.count
    if len(numbers) != 1 or numbers[0] is None or not -count <= numbers[0] < count:
        return None
    return numbers[0] % count


def _chain(terms: Terms, like: Term, elements: Sequence[Term]) -> Term:
    other = like.fact.other
    assert other is not None
    terms.budget.step(len(elements))
    chain = empty_chain(terms, other.sequence_type.elem_type.tensor_type.elem_type)
    return functools.reduce(functools.partial(append, terms), elements, chain)
