"""The larger and the smaller of integers, chosen by comparison or by name.

Of floats that is not the same: a comparison takes NaN for neither, and 0 for no more than -0.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx

from ....facts.fact import Shape
from ....ir import Operator
from .casts import in_type
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
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
    one, other = test.args
    if _is(terms, one, y) and _is(terms, other, x):
        name = _OPPOSITE[name]
    elif not (_is(terms, one, x) and _is(terms, other, y)):
        return None
    viewed = condition is not test or _shapes(one, other) not in (_shapes(x, y), _shapes(y, x))
    if viewed and _shapes(condition, x, y) != [(), (), ()]:
        return None
    return [extreme(terms, name, x, y)]


def _shapes(*terms: Term | None) -> list[Shape | None]:
    return [None if term is None else term.fact.shape for term in terms]


def _is(terms: Terms, compared: Term | None, term: Term) -> bool:
    """Whether what is compared is a term, but for axes of length 1 of a scalar, and for a cast to a
    type that holds all its numbers."""
    if compared is None or compared is term:
        return compared is term
    if compared.fact.shape is None or (compared.fact.shape != term.fact.shape and term.fact.shape):
        return False
    if any(dim.value != 1 for dim in compared.fact.shape) and not term.fact.shape:
        return False
    bare = compared if term.fact.shape else terms.view(compared, ())
    return bare is term or bare is in_type(terms, term, bare.fact.elem_type)


@spelling("Max", "Min")
def of_two(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Of one there is no choice, nor of an integer and itself; of several, two at a time."""
    given = [arg for arg in args if arg is not None]
    if len(given) == 1:
        return given
    if any(arg.fact.elem_type not in INTEGERS for arg in given):
        return None
    if len(given) == 2:
        return given[:1] if given[0] is given[1] else None
    return [functools.reduce(lambda a, b: extreme(terms, head.name, a, b), given)]
