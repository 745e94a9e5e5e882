"""Casts to a wider type around operators that older versions lack for the narrow one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.types import INTEGER_BITS
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_T = onnx.TensorProto
_BITS = {_T.BOOL: 1, **INTEGER_BITS}
SIGNED: frozenset[int] = frozenset([_T.INT8, _T.INT16, _T.INT32, _T.INT64])
_WHOLE_IN: dict[int, int] = {_T.FLOAT: 24, _T.DOUBLE: 53}
"""Bits of whole numbers that are exact in a float type."""

_WIDER_FLOATS = frozenset([(_T.FLOAT16, _T.FLOAT), (_T.FLOAT16, _T.DOUBLE), (_T.FLOAT, _T.DOUBLE)])


def holds(narrow: int, wide: int) -> bool:
    """Test whether a type holds all numbers of another one in order. A cast there and back then
    changes nothing."""
    if (narrow, wide) in _WIDER_FLOATS:
        return True
    bits, room = _BITS.get(narrow), _BITS.get(wide, 0)
    if bits is None or narrow == wide:
        return False
    if wide in _WHOLE_IN:
        return bits <= _WHOLE_IN[wide]
    if narrow in SIGNED and wide not in SIGNED:
        return False
    return bits < room


@canonical_form("Cast")
def there_and_back(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Drop a cast to a type that holds all numbers, and back."""
    (x,) = args
    below = None if x is None or not x.is_op("Cast") else x.args[0]
    if below is None or x is None or below.fact.elem_type != head.attribute("to"):
        return None
    return [below] if holds(below.fact.elem_type, x.fact.elem_type) else None


@canonical_form("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def compared(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Compare numbers in the narrow type if a wide type holds all of them. Integers compare with a
    whole number as they do in floats that hold it and its neighbours, since rounding keeps the
    order."""
    one, other = args
    assert one is not None and other is not None
    below = _narrow(one) or _narrow(other)
    if below is None:
        integers = _with_whole_number(terms, one, other)
        return None if integers is None else terms.apply(head, integers)
    pair = tuple([in_type(terms, term, below.fact.elem_type) for term in (one, other)])
    return None if None in pair else terms.apply(head, pair)


def _narrow(term: Term) -> Term | None:
    """Operand of a cast to a type that holds all its numbers."""
    below = term.args[0] if term.is_op("Cast") else None
    if below is None or not holds(below.fact.elem_type, term.fact.elem_type):
        return None
    return below


def _with_whole_number(terms: Terms, one: Term, other: Term) -> tuple[Term, Term] | None:
    """Integers and a whole number that are compared as floats. If x > c then x >= c + 1, and that
    holds after rounding, since c + 1 is exact; if x <= c, too."""
    for term, number in ((one, other), (other, one)):
        below = term.args[0] if term.is_op("Cast") else None
        bits = _WHOLE_IN.get(term.fact.elem_type)
        if below is None or bits is None or below.fact.elem_type not in _BITS:
            continue
        whole = _whole_number(terms, number, below.fact.elem_type, 1 << bits)
        if whole is not None:
            return (below, whole) if term is one else (whole, below)
    return None


def _whole_number(terms: Terms, number: Term, elem_type: int, most: int) -> Term | None:
    """Constant of small whole numbers, as integers of a type that holds them."""
    tensor = terms.tensor(number)
    if tensor is None or not tensor.is_readable or not (abs(tensor.numpy()) < most).all():
        return None
    return in_type(terms, number, elem_type)


def in_type(terms: Terms, term: Term, elem_type: int) -> Term | None:
    """Term before a cast from a type; None if it has another type."""
    below = _narrow(term)
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
