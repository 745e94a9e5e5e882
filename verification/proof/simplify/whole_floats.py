"""Whole numbers computed as floats: a count of Range is Cast(Ceil(Div(..)))."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx.helper import tensor_dtype_to_np_dtype

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ..canonicalize.casts import SIGNED, WHOLE_IN
from ..terms.constants import MOST_ELEMENTS
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form
from .slices import BEYOND

_CAST = 13
_MOST_DEPTH = 8
_UNKNOWN = 1 << 64


@canonical_form("Cast")
def whole_number(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite a float to the size that it certainly is."""
    (x,), to = args, head.attribute("to")
    if x is None or to not in (onnx.TensorProto.INT64, onnx.TensorProto.INT32):
        return None
    if x.fact.elem_type not in WHOLE_IN or x.head.name not in _COMPUTING:
        return None
    size = _size_of(terms, x, _MOST_DEPTH)
    if size is None or x.fact.shape is None or _most(size) >= 1 << (INTEGER_BITS[to] - 1):
        return None
    return [terms.view(terms.sizes([size], to), x.fact.shape)]


@canonical_form("Cast")
def of_a_sum(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Sum of small integers: all of it is exact as floats, and no zero is negative."""
    (x,), to = args, head.attribute("to")
    if x is None or x.head.name not in ("Add", "Sub") or x.fact.elem_type not in INTEGER_BITS:
        return None
    most = sum(_magnitude(terms, part) for part in x.operands)
    if most >= 1 << WHOLE_IN.get(to, 0) or most >= 1 << (INTEGER_BITS[x.fact.elem_type] - 1):
        return None
    # An unsigned difference wraps below 0.
    if x.fact.elem_type not in SIGNED or x.head.attribute("broadcast"):
        return None
    parts = [terms.op("Cast", head, part, to=to) for part in x.operands]
    return [terms.op(x.head.name, x.head, *parts)]


@canonical_form("Range")
def of_reals(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite a Range of sizes as real numbers to the cast of a Range."""
    if not terms.are_reals or any(x is None or x.fact.elem_type not in WHOLE_IN for x in args):
        return None
    sizes = [None if x is None else _size_of(terms, x, _MOST_DEPTH) for x in args]
    if args[0] is None or None in sizes:
        return None
    numbers = [terms.sizes([size]) for size in sizes if size is not None]
    whole = terms.op("Range", head, *[terms.view(number, ()) for number in numbers])
    return [terms.op("Cast", _CAST, whole, to=args[0].fact.elem_type)]


@canonical_form("Max")
def most_of_casts(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite Max(Cast(n), 1.0) to Cast(Max(n, 1)): casts of integers keep their order."""
    for x, other in (args, args[::-1]) if len(args) == 2 else ():
        tensor = terms.tensor(other)
        if x is None or not x.is_op("Cast") or tensor is None or not tensor.is_readable:
            continue
        (n,), numbers = x.operands, tensor.numpy()
        kind = n.fact.elem_type
        if kind not in SIGNED or x.fact.elem_type not in WHOLE_IN or numbers.size != 1:
            continue
        number = float(numbers.reshape(()))
        # -0.0 is the cast of no integer.
        if np.signbit(number) or number >= 1 << 24 or not number.is_integer():
            continue
        floor = terms.constant(numbers.astype(tensor_dtype_to_np_dtype(kind)))
        to = x.head.attribute("to")
        return [terms.op("Cast", x.head, terms.op("Max", head, n, floor), to=to)]
    return None


def _magnitude(terms: Terms, term: Term) -> int:
    """Upper bound of a constant, or of a number by its type before a cast."""
    if term.is_op("Cast"):
        bits = INTEGER_BITS.get(term.operands[0].fact.elem_type)
        return _UNKNOWN if bits is None else 1 << bits
    tensor = terms.tensor(term)
    if tensor is None or tensor.size > MOST_ELEMENTS or tensor.is_external:
        return _UNKNOWN
    if not tensor.is_readable:
        return _UNKNOWN
    return max((abs(int(number)) for number in tensor.numpy().reshape(-1)), default=0)


_COMPUTING = ("Ceil", "Floor", "Max", "view")


def _size_of(terms: Terms, term: Term, depth: int) -> Dimension | None:
    """Size that a float is, all of its parts exact; None for any other float."""
    shape, name = term.fact.shape, term.head.name
    if not depth or shape is None or any(dim.value != 1 for dim in shape):
        return None
    tensor = terms.tensor(term)
    if tensor is not None:
        number = float(tensor.numpy().reshape(())) if tensor.is_readable else -1.0
        whole = number.is_integer() and 0 <= number < 1 << WHOLE_IN[term.fact.elem_type]
        return Dimension.constant(int(number)) if whole else None
    if name == "Cast":
        return _size_as_float(terms, term)
    if name not in ("Div", *_COMPUTING) and not (name == "Add" and terms.are_reals):
        return None
    parts = [_size_of(terms, arg, depth - 1) for arg in term.operands[: 1 if name == "view" else 2]]
    if None in parts:
        return None
    if name == "Div":
        one, other = (part for part in parts if part is not None)
        # An inexact quotient may round to a whole number, and Ceil then misses one.
        return one.divided_by(other) if other.value else None
    if name == "Add":
        return sum((part for part in parts if part is not None), Dimension.constant(0))
    if name == "Max" and len(parts) == len(term.args) == 2:
        one, other = (part for part in parts if part is not None)
        more = (one - other).less(0)
        return None if more is None else other if more else one
    return parts[0] if len(parts) == 1 else None


def _size_as_float(terms: Terms, cast: Term) -> Dimension | None:
    """Size that is cast to a float type which holds it."""
    (x,) = cast.operands
    size = element(x.fact)
    if not isinstance(size, Dimension) or size.less(0) is not False:
        return None
    exact = terms.are_reals or _most(size) <= 1 << WHOLE_IN[cast.fact.elem_type]
    return size if exact and x.fact.elem_type in INTEGER_BITS else None


def _most(size: Dimension) -> int:
    """Upper bound of a sum of sizes. No axis is longer than a process can address."""
    if any(len(product) > 1 for product in size.terms):
        return _UNKNOWN
    return sum(abs(n) * (BEYOND if product else 1) for product, n in size.terms.items())
