"""Integers that are compared as float32: from 2^24 on some are rounded to the same number.

Those of 32 bits lie 128 apart at most once they are rounded, so that no integer is rounded to the
same as one that is further away. The first integer that is not less than a bound, once both are
rounded, is found by counting which of the 128 before it are less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx

from ...facts.fact import Fact, element, vector
from ...facts.polynomial import Dimension
from .integers import bare, is_one_integer

if TYPE_CHECKING:
    from .term_manager import Terms
    from .terms import Term

INT64, FLOAT, BOOL = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL
SPACING = 128
_MOST = 1 << 31
COUNT = "count"
"""The head of how many of some things there are; its key says of which, and how many at most."""


def before_rounding(terms: Terms, term: Term) -> Term | None:
    """The integers that a term is as float32; None for what is none."""
    tensor = terms.tensor(term)
    if tensor is not None and tensor.elem_type == FLOAT and tensor.size == 1:
        number = tensor.numpy()
        is_whole = bool((abs(number) <= _MOST).all() and (number == np.floor(number)).all())
        return terms.constant(number.astype(np.int64)) if is_whole else None
    below = term.args[0] if term.is_op("Cast") and term.fact.elem_type == FLOAT else None
    return None if below is None or below.fact.elem_type == BOOL else below


def passed(terms: Terms, bound: Term, rising: bool) -> Term:
    """How many of the integers next to a bound, on the side where a counter comes from, are on
    that side of it once all are rounded.

    Args:
        terms: where terms are made.
        bound: one integer.
        rising: whether a counter comes from below.
    """
    told = element(bound.fact)
    if isinstance(told, Dimension) and told.value is not None:
        return terms.size(_count(told.value, rising))
    head = terms.heads.own(COUNT, ("below" if rising else "above", SPACING))
    return terms.keep(head, (_plain(terms, bound),), Fact(INT64, ()))


def _count(bound: int, rising: bool) -> int:
    away = np.arange(1, SPACING + 1) * (-1 if rising else 1)
    near, middle = (bound + away).astype(np.float32), np.float32(bound)
    return int((near < middle if rising else near > middle).sum())


def read_passed(terms: Terms, term: Term) -> Term | None:
    """The same, where a model counts them one by one; None for another sum."""
    counts = term.args[0] if term.is_op("ReduceSum") else None
    compared = counts.args[0] if counts is not None and counts.is_op("Cast") else None
    if compared is None or not compared.is_op("Less", "Greater") or not _is_row(compared):
        return None
    low, high = compared.args if compared.is_op("Less") else compared.args[::-1]
    rising = _is_row(low)
    near, bound = (low, high) if rising else (high, low)
    near = None if near is None else before_rounding(terms, near)
    bound = None if bound is None else before_rounding(terms, bound)
    if near is None or bound is None or not is_one_integer(bound):
        return None
    return passed(terms, bound, rising) if _are_near(terms, near, bound, rising) else None


def _is_row(term: Term | None) -> bool:
    shape = None if term is None else term.fact.shape
    return shape is not None and [dim.value for dim in shape] == [SPACING]


def _are_near(terms: Terms, near: Term, bound: Term, rising: bool) -> bool:
    """Whether they are the integers next to a bound, the nearest one first, as 64 bits."""
    away = [-n if rising else n for n in range(1, SPACING + 1)]
    told, plain = vector(near.fact), _plain(terms, bound)
    if near.fact.elem_type != INT64 or not _is_row(near):
        return False
    if told is not None and None not in told:
        middle = element(plain.fact)
        return isinstance(middle, Dimension) and told == [middle + n for n in away]
    if not near.is_op("Add"):
        return False
    for numbers, other in (near.args, near.args[::-1]):
        if terms.numbers(numbers) == away and other is not None and is_one_integer(other):
            return _plain(terms, other) is plain
    return False


def _plain(terms: Terms, bound: Term) -> Term:
    """An integer in one form, whatever its type is."""
    told = element(bound.fact)
    return terms.size(told) if isinstance(told, Dimension) else bare(terms, bound)
