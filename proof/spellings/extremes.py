"""The larger and the smaller of integers, chosen by comparison or by name.

Of floats that is not the same: a comparison takes NaN for neither, and 0 for no more than -0.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx

from ...ir import Operator
from .registry import spelling

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..heads import Head
    from ..terms import Args, Term

_T = onnx.TensorProto
INTEGERS = frozenset(
    [_T.INT8, _T.INT16, _T.INT32, _T.INT64, _T.UINT8, _T.UINT16, _T.UINT32, _T.UINT64]
)

_EXTREMES = {"Greater": "Max", "GreaterOrEqual": "Max", "Less": "Min", "LessOrEqual": "Min"}
"""What is chosen by asking whether the one is this to the other, the one if so."""

_OPPOSITE = {"Max": "Min", "Min": "Max"}

_TAKES_INTEGERS = {"": 12}


def extreme(terms: Terms, name: str, one: Term, other: Term) -> Term:
    """The larger or the smaller of two terms."""
    result = terms.apply(terms.heads.of(Operator(name), _TAKES_INTEGERS), (one, other))[0]
    assert result is not None
    return result


@spelling("Where", "choose")
def chosen(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Of two integers the one that is larger, or smaller, than the other."""
    condition, x, y = args
    if condition is None or x is None or y is None or x.fact.elem_type not in INTEGERS:
        return None
    test = condition.args[0] if condition.head.name == "view" else condition
    name = None if test is None else _EXTREMES.get(test.head.name)
    if test is None or name is None:
        return None
    if condition is not test and any(term.fact.shape != () for term in (x, y)):
        return None
    if test.args == (y, x):
        name = _OPPOSITE[name]
    elif test.args != (x, y) and not _are(terms, test.args, (x, y)):
        return None
    return [extreme(terms, name, x, y)]


def _are(terms: Terms, args: Args, pair: Sequence[Term]) -> bool:
    """Whether what is compared is a pair of scalars, but for axes of length 1."""
    return all(
        arg is not None
        and term.fact.shape == ()
        and arg.fact.shape is not None
        and all(dim.value == 1 for dim in arg.fact.shape)
        and terms.view(arg, ()) is term
        for arg, term in zip(args, pair, strict=True)
    )


@spelling("Max", "Min")
def of_two(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Of one there is no choice; of several integers, two at a time."""
    given = [arg for arg in args if arg is not None]
    if len(given) == 1:
        return given
    if len(given) == 2 or any(arg.fact.elem_type not in INTEGERS for arg in given):
        return None
    return [functools.reduce(lambda a, b: extreme(terms, head.name, a, b), given)]
