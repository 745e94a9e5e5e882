"""Places of TopK: numbers and keys computed from them, if these order the elements alike.

TopK orders NaN above all numbers, zeros of both signs alike, and equal elements by place. A key is
a function of one number. Where the constants that it compares with divide the numbers into points
and open intervals, it is a constant or the number itself, up to its sign, on each of these pieces.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import NamedTuple

import ml_dtypes
import numpy as np
import onnx

from ....facts.types import INTEGER_BITS
from ..canonicalize.casts import SIGNED, holds
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms

_COMPARISONS = {"Less": operator.lt, "LessOrEqual": operator.le, "Equal": operator.eq}
_THROUGH = frozenset(["Cast", "Neg", "Where", "IsNaN", "Not", *_COMPARISONS])
_MOST_TERMS = 32

Number = int | float


class _Piece(NamedTuple):
    """Point, or open interval between two numbers; NaN is a point.

    Attributes:
        rises: whether an interval is that of the number itself, or of its negative.
    """

    low: Number
    high: Number
    rises: bool = True

    @property
    def is_point(self) -> bool:
        return self.low == self.high or math.isnan(self.low)


class _Order(NamedTuple):
    """Order of keys by numbers: rising or falling, and whether NaN is above all others."""

    rises: bool
    nan_above: bool | None


def same_places(terms: Terms, one: Term, other: Term) -> list[Pair] | None:
    """Pairs that suffice for two outputs of places of TopK to be equal."""
    if not (one.is_op("TopK") and other.is_op("TopK") and one.index == other.index == 1):
        return None
    heads = one.head, other.head
    if heads[0].attribute("axis") != heads[1].attribute("axis") or one.args[1] is None:
        return None
    # Places that are not sorted may come in any order (TopK 11).
    if other.args[1] is None or not all(head.attribute("sorted", 1) for head in heads):
        return None
    keys = one.operands[0], other.operands[0]
    sources = [_source(terms, keys[n], keys[1 - n]) for n in (0, 1)]
    for n in (0, 1):
        if sources[n] is keys[1 - n]:  # one key is a function of the other
            sources = [keys[1 - n]] * 2
    orders = []
    for term, source in zip((one, other), sources, strict=True):
        order = None if source is None else _order_of(terms, term.operands[0], source)
        if order is None or source is None:
            return None
        largest = bool(term.head.attribute("largest", 1))
        above = order.nan_above
        orders.append(_Order(order.rises is largest, None if above is None else above is largest))
    a, b = sources
    if orders[0] != orders[1] or a is None or b is None or a.fact.elem_type != b.fact.elem_type:
        return None
    return [(a, b), (one.args[1], other.args[1])]


def _source(terms: Terms, key: Term, other: Term) -> Term | None:
    """Term of which a key is a function: another key, if it contains that. None if there is more
    than one."""
    waiting, visited = [key], {key}
    sources: set[Term] = set()
    while waiting and len(visited) <= _MOST_TERMS:
        term = waiting.pop()
        if term.head.name not in _THROUGH or term is other:
            if _constant(terms, term) is None:
                sources.add(term)
            continue
        if term.fact.shape is None or term.fact.shape not in ((), key.fact.shape):
            return None
        new = {arg for arg in term.args if arg is not None} - visited
        visited |= new
        waiting += new
    if waiting or len(sources) != 1:
        return None
    source = sources.pop()
    return source if source.fact.shape == key.fact.shape else None


def _constant(terms: Terms, term: Term) -> Number | None:
    """Number that all elements of a constant are."""
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable or tensor.size != 1:
        return None
    value = tensor.numpy().reshape(())
    return int(value) if value.dtype.kind in "iub" else float(value)


def _order_of(terms: Terms, key: Term, source: Term) -> _Order | None:
    """Order of a key by the numbers of its source; None unless it is strict."""
    limits = _limits(source.fact.elem_type)
    if limits is None:
        return None
    function = _Function(terms, source)
    pieces = list(_pieces(function.thresholds(key), *limits, source.fact.elem_type))
    images = [image for piece in pieces if (image := function.image(key, piece)) is not None]
    of_nan = function.image(key, _NAN)
    if len(images) < len(pieces):
        return None
    for rises in (True, False):
        ordered = images if rises else images[::-1]
        if not _is_strict(ordered) or not all(map(_keeps(rises), pieces, images)):
            continue
        if source.fact.elem_type in INTEGER_BITS:
            return _Order(rises, None)
        if of_nan is None:
            return None
        if math.isnan(of_nan.low) or _is_strict([ordered[-1], of_nan]):
            return _Order(rises, True)
        return _Order(rises, False) if _is_strict([of_nan, ordered[0]]) else None
    return None


def _keeps(rises: bool) -> Callable[[_Piece, _Piece], bool]:
    """Test of an image: no interval becomes a point or turns the other way."""
    return lambda piece, image: piece.is_point or (not image.is_point and image.rises is rises)


_NAN = _Piece(math.nan, math.nan)


def _limits(elem_type: int) -> tuple[Number, Number] | None:
    """Smallest and largest finite number of a type."""
    if elem_type in INTEGER_BITS:
        info = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
        return int(info.min), int(info.max)
    if elem_type in (_T.FLOAT16, _T.FLOAT, _T.DOUBLE, _T.BFLOAT16):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        most = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
        return -most, most
    return None


_T = onnx.TensorProto


def _pieces(thresholds: set[Number], low: Number, high: Number, elem_type: int) -> Iterator[_Piece]:
    """Points and open intervals that hold all numbers of a type, in order."""
    points = sorted({n for n in thresholds | {0, low, high} if low <= n <= high})
    if elem_type not in INTEGER_BITS:
        points = [-math.inf, *points, math.inf]
    yield _Piece(points[0], points[0])
    for start, end in itertools.pairwise(points):
        # No number of the type lies between its last finite one and infinity.
        beyond = start == high or end == low
        if not beyond and not (elem_type in INTEGER_BITS and math.floor(start) + 1 >= end):
            yield _Piece(start, end)
        yield _Piece(end, end)


def _is_strict(images: list[_Piece]) -> bool:
    """Test whether each image lies before the next one. No image is NaN."""
    if any(math.isnan(image.low) for image in images):
        return False
    for before, after in itertools.pairwise(images):
        touches = before.is_point and after.is_point
        if not (before.high < after.low or (before.high == after.low and not touches)):
            return False
    return True


class _Function:
    """Key as a function of the numbers of its source."""

    def __init__(self, terms: Terms, source: Term) -> None:
        self._terms, self._source = terms, source

    def thresholds(self, key: Term) -> set[Number]:
        """Constants of a key, with both signs."""
        constants: set[Number] = set()
        waiting, visited = [key], {key}
        while waiting:
            term = waiting.pop()
            number = _constant(self._terms, term)
            if number is not None and not math.isnan(number):
                constants |= {number, -number}
            elif term is not self._source:
                new = {arg for arg in term.args if arg is not None} - visited
                visited |= new
                waiting += new
        return constants

    def image(self, term: Term, piece: _Piece) -> _Piece | None:
        """Numbers that a term is on a piece: a point, or an interval on which it is the number or
        its negative. None if unknown. The depth is that of `_source`, which limits it."""
        number = None if term is self._source else _constant(self._terms, term)
        if term is self._source or number is not None:
            return piece if number is None else _Piece(number, number)
        operands = [arg for arg in term.args if arg is not None]
        if term.is_op("Where"):
            chosen = self._truth(operands[0], piece)
            return None if chosen is None else self.image(operands[1 if chosen else 2], piece)
        below = self.image(operands[0], piece) if term.head.name in ("Cast", "Neg") else None
        if below is None:
            return None
        kinds = operands[0].fact.elem_type, term.fact.elem_type
        if term.is_op("Cast"):
            return below if kinds[0] == kinds[1] or holds(*kinds) else None
        if kinds[1] in INTEGER_BITS and not _has_negatives(self._source.fact.elem_type, kinds[1]):
            return None
        return _Piece(-below.high, -below.low, not below.rises)

    def _truth(self, term: Term, piece: _Piece) -> bool | None:
        """Truth of a condition on a piece; None if unknown."""
        operands = [arg for arg in term.args if arg is not None]
        if term.is_op("Not"):
            truth = self._truth(operands[0], piece)
            return None if truth is None else not truth
        images = [self.image(arg, piece) for arg in operands]
        if None in images:
            return None
        sides = [image for image in images if image is not None]
        if term.is_op("IsNaN"):
            return math.isnan(sides[0].low)
        if term.head.name not in _COMPARISONS:
            return None
        # No comparison with NaN holds.
        if any(math.isnan(side.low) for side in sides):
            return False
        one, other = sides
        if one.is_point and other.is_point:
            return bool(_COMPARISONS[term.head.name](one.low, other.low))
        if one.high <= other.low:
            return not term.is_op("Equal")
        return False if one.low >= other.high else None


def _has_negatives(kind: int, wide: int) -> bool:
    """Test whether a type of integers holds the negatives of all numbers of another one."""
    return wide in SIGNED and holds(kind, wide)
