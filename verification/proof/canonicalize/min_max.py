"""Min, Max and Clip of integers, also where comparisons and Where compute them.

Floats differ: a comparison selects no NaN, and takes 0 for no more than -0.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import onnx

from ....facts.fact import Shape
from ....ir import Operator
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form
from .attribute_to_input import number_like
from .casts import in_type

_T = onnx.TensorProto
INTEGERS = frozenset(
    [_T.INT8, _T.INT16, _T.INT32, _T.INT64, _T.UINT8, _T.UINT16, _T.UINT32, _T.UINT64]
)

_EXTREMES = {"Greater": "Max", "GreaterOrEqual": "Max", "Less": "Min", "LessOrEqual": "Min"}
"""Extreme that Where selects, by the comparison in its condition."""

_OPPOSITE = {"Max": "Min", "Min": "Max"}

_TAKES_INTEGERS = {"": 12}


def extreme(terms: Terms, name: str, one: Term, other: Term) -> Term:
    """Maximum or minimum of two terms."""
    result = terms.apply(terms.heads.of(Operator(name), _TAKES_INTEGERS), (one, other))[0]
    assert result is not None
    return result


@canonical_form("Where", "choose")
def select(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite Where of a comparison of two integers to Min or Max."""
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
    """Test whether a compared operand is a term, up to axes and casts. Unit axes of a scalar and a
    cast to a type that holds all its numbers do not count."""
    if compared is None or compared is term:
        return compared is term
    if compared.fact.shape is None or (compared.fact.shape != term.fact.shape and term.fact.shape):
        return False
    if any(dim.value != 1 for dim in compared.fact.shape) and not term.fact.shape:
        return False
    bare = compared if term.fact.shape else terms.view(compared, ())
    return bare is term or bare is in_type(terms, term, bare.fact.elem_type)


@canonical_form("Max", "Min")
def of_two(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Drop Min and Max of one integer, and nest those of several."""
    operands = [arg for arg in args if arg is not None]
    if len(operands) == 1:
        return operands
    if any(arg.fact.elem_type not in INTEGERS for arg in operands):
        return None
    if len(operands) == 2:
        return operands[:1] if operands[0] is operands[1] else None
    return [functools.reduce(lambda a, b: extreme(terms, head.name, a, b), operands)]


_BOUNDS_ARE_INPUT = 11


def _of_integers(terms: Terms, x: Term | None, bounds: Args) -> Sequence[Term | None] | None:
    if x is None or x.fact.elem_type not in INTEGERS or x.fact.shape is None:
        return None
    if any(bound is not None and bound.fact.shape != () for bound in bounds):
        return None
    for name, bound in zip(("Max", "Min"), bounds, strict=False):
        x = x if bound is None else extreme(terms, name, x, bound)
    return [x]


@canonical_form("Clip")
def clip(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Make bounds inputs of the type of the data (11), and rewrite Clip of integers. Min applies
    last (operator specification: where the bounds cross, all is the upper one)."""
    x = args[0]
    if head.opset >= _BOUNDS_ARE_INPUT:
        return _of_integers(terms, x, args[1:])
    if x is None or not x.fact.elem_type:
        return None
    bounds = [number_like(terms, x, head.attribute(name)) for name in ("min", "max")]
    newest = terms.heads.of(Operator.make("Clip"), {"": _BOUNDS_ARE_INPUT})
    return terms.apply(newest, (x, *bounds))
