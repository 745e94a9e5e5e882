"""Casts to a wider type around operators that older versions lack for the narrow one."""

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.types import INTEGER_BITS
from ....ir import Tensor
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_T = onnx.TensorProto
_OPSET = 13
_FLOATS = frozenset([_T.FLOAT16, _T.BFLOAT16, _T.FLOAT, _T.DOUBLE])
_BITS = {_T.BOOL: 1, **INTEGER_BITS}
SIGNED: frozenset[int] = frozenset([_T.INT8, _T.INT16, _T.INT32, _T.INT64])
WHOLE_IN: dict[int, int] = {_T.FLOAT: 24, _T.DOUBLE: 53}
"""Bits of whole numbers that are exact in a float type."""

_WIDER_FLOATS = frozenset(
    [
        *((_T.FLOAT16, _T.FLOAT), (_T.FLOAT16, _T.DOUBLE), (_T.FLOAT, _T.DOUBLE)),
        *((_T.BFLOAT16, _T.FLOAT), (_T.BFLOAT16, _T.DOUBLE)),
    ]
)


def holds(narrow: int, wide: int) -> bool:
    """Test whether a type holds all numbers of another one in order. A cast there and back then
    changes nothing."""
    if (narrow, wide) in _WIDER_FLOATS:
        return True
    bits, room = _BITS.get(narrow), _BITS.get(wide, 0)
    if bits is None or narrow == wide:
        return False
    if wide in WHOLE_IN:
        return bits <= WHOLE_IN[wide]
    if narrow in SIGNED and wide not in SIGNED:
        return False
    return bits < room


_NUMBERS = frozenset([_T.BOOL, _T.FLOAT16, _T.FLOAT, _T.DOUBLE])
"""Types to which casts of numbers are defined, apart from integers."""


@canonical_form("Cast")
def by_way_of_another(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Drop a cast before another one that does not depend on it."""
    (x,) = args
    below = x.args[0] if x is not None and x.is_op("Cast") else None
    if x is None or below is None:
        return None
    last = head.attribute("to")
    if not is_detour(below.fact.elem_type, x.fact.elem_type, last):
        return None
    return [terms.op("Cast", head, below, to=last)]


def is_detour(first: int, way: int, last: int) -> bool:
    """Test whether a cast by way of another type is a cast at once. Integers keep their low bits;
    floats out of range of an integer type have no defined cast."""
    if first not in _BITS or last not in INTEGER_BITS:
        return holds(first, way) and (first == last or last in _NUMBERS)
    if way not in INTEGER_BITS:
        return holds(first, way) and (first == last or holds(first, last))
    return holds(first, way) or INTEGER_BITS[last] <= INTEGER_BITS[way]


@canonical_form("Equal", "Less", "LessOrEqual")
def compared(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Compare numbers in the narrow type if a wide type holds all of them. Integers compare with a
    small whole number as they do in floats that hold it and its neighbors: if x > c then
    x >= c + 1, and that holds after rounding, since c + 1 is exact; if x <= c, too."""
    operands = [arg for arg in args if arg is not None]
    below = next((term.args[0] for term in operands if term.is_op("Cast")), None)
    if below is None:
        return None
    narrow, wide = below.fact.elem_type, operands[0].fact.elem_type
    if terms.are_reals and narrow in SIGNED and wide in _FLOATS:
        same = tuple([in_narrow_type(terms, term, narrow) for term in operands])
        exact = [_whole(terms, term) for term in operands] if None in same else same
        return None if None in exact else terms.apply(head, tuple(exact))
    if not holds(narrow, wide):
        tensors = [tensor for tensor in map(terms.tensor, operands) if tensor is not None]
        if not tensors or narrow not in _BITS or wide not in WHOLE_IN:
            return None
        if not all(_is_less(tensor, 1 << WHOLE_IN[wide]) for tensor in tensors):
            return None
    pair = tuple([in_narrow_type(terms, term, narrow) for term in operands])
    return None if None in pair else terms.apply(head, pair)


def _whole(terms: Terms, term: Term) -> Term | None:
    """Signed integer of 64 bits that a real number is the cast of; None for others."""
    below = term.args[0] if term.is_op("Cast") else None
    if below is not None and below.fact.elem_type in SIGNED:
        return terms.op("Cast", _OPSET, below, to=_T.INT64)
    return in_narrow_type(terms, term, _T.INT64) if below is None else None


def _is_less(tensor: Tensor, most: int) -> bool:
    return tensor.is_readable and bool((abs(tensor.numpy()) < most).all())


def _narrow(term: Term) -> Term | None:
    """Operand of a cast to a type that holds all its numbers."""
    below = term.args[0] if term.is_op("Cast") else None
    if below is None or not holds(below.fact.elem_type, term.fact.elem_type):
        return None
    return below


def in_type(terms: Terms, term: Term, elem_type: int) -> Term | None:
    """Term before a cast from a type that is narrower; None if it has another type."""
    below = _narrow(term)
    return None if below is None and term.is_op("Cast") else in_narrow_type(terms, term, elem_type)


def in_narrow_type(terms: Terms, term: Term, elem_type: int) -> Term | None:
    """Term before a cast, or a constant in a narrower type that holds it."""
    below = term.args[0] if term.is_op("Cast") else None
    if below is not None:
        return below if below.fact.elem_type == elem_type else None
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable:
        return None
    wide = tensor.numpy()
    with np.errstate(all="ignore"):
        narrow = wide.astype(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
        same = np.array_equal(narrow.astype(wide.dtype), wide)
    return terms.constant(narrow) if same else None
