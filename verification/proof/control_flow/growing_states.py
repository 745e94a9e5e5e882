"""Closed forms of states: numbers that grow evenly, and tensors to which iterations append rows.

The rows of all iterations are a scan output of a loop without states. A tensor that grows is a
prefix of it, and a register of the last rows is a window of it:

    s = Concat (s, row)         before iteration i:  Concat (init, rows[:i])
    s = Concat (s[1:], row)     before iteration i:  Concat (init, rows)[i : i + k]

Rows that stand in front are read from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....facts.fact import Fact, content_from, element
from ....facts.polynomial import Dimension
from ..simplify.slices import backward
from ..terms.free_variables import Bound
from ..terms.term import Term
from ..terms.term_manager import Terms

Form = Callable[[Dimension], Term]
"""Function of the iteration number: a state before it."""

_OPSET = 13
_NAMED = ("bound", "drawn")
"""Heads of variables, and of values of one iteration only."""


class Iterations(NamedTuple):
    """Iterations of a loop.

    Attributes:
        number: symbol of the iteration number.
        most: upper bound of the trip count.
    """

    number: Dimension
    most: Dimension


def counted(terms: Terms, init: Term, step: int, index: Dimension) -> Form | None:
    """Closed form of a number to which each iteration adds a step; None if it may wrap."""
    content = init.fact.content
    first = None if content is None else element(init.fact)
    if not step or content is None or not isinstance(first, Dimension):
        return None if step else lambda number: init
    if not terms.symbols.magnitudes.hold(first + index * step, init.fact.elem_type):
        return None

    def form(number: Dimension) -> Term:
        value = content_from(first + number * step).reshape(content.shape)
        return terms.content(value, init.fact.elem_type)

    return form


def appended(terms: Terms, init: Term, state: Term, update: Term, over: Iterations) -> Form | None:
    """Closed form of a state that each iteration appends rows to; None for any other state."""
    parts = _parts(state, update)
    if parts is None or not init.fact.shape:
        return None
    rest, row, axis, in_front = parts
    if not _fits(terms, row, init, axis):
        return None
    length, width = init.shape[axis], row.shape[axis].value
    # An unknown number of rows may differ by iteration.
    if not width:
        return None
    is_list = rest is state
    if not is_list and not _is_rest(rest, axis, 0 if in_front else width, length - width):
        return None
    added = _all_rows(terms, row, axis, in_front, over)
    both = (added, init) if in_front else (init, added)
    whole, zero = terms.op("Concat", update.head, *both, axis=axis), Dimension.constant(0)

    def form(number: Dimension) -> Term:
        grown = number * width
        first = over.most * width - grown if in_front else zero if is_list else grown
        return terms.narrow(whole, axis, first, length + grown if is_list else length)

    before = form(over.number)
    if not is_list:
        before = terms.narrow(before, axis, 0 if in_front else width, length - width)
    terms.joined[(row, before) if in_front else (before, row)] = form(over.number + 1)
    return form


def _parts(state: Term, update: Term) -> tuple[Term, Term, int, bool] | None:
    """Part of a state, the row beside it, its axis, and whether it leads."""
    if not update.is_op("Concat") or len(update.args) != 2 or None in update.args:
        return None
    axis = update.head.attribute("axis")
    for in_front, (rest, row) in enumerate((update.operands, update.operands[::-1])):
        below = rest.operands[0] if rest.head.name == "narrow" else rest
        if below is state and 0 <= axis < len(state.fact.shape or ()):
            return rest, row, axis, bool(in_front)
    return None


def _is_rest(rest: Term, axis: int, first: int, length: Dimension) -> bool:
    """Test for all rows of a state but those that make room."""
    start, size = (element(each.fact) for each in rest.operands[1:])
    return rest.head.key == axis and start == first and size == length


def _fits(terms: Terms, row: Term, init: Term, axis: int) -> bool:
    """Test for rows without variables, of the type and shape of the initial state."""
    one, other = row.fact.shape or (), init.shape
    if (row.fact.elem_type, len(one)) != (init.fact.elem_type, len(other)):
        return False
    if (*one[:axis], *one[axis + 1 :]) != (*other[:axis], *other[axis + 1 :]):
        return False
    if terms.symbols.vary({name for dim in one for name in dim.symbols}):
        return False
    return not terms.contains(row, *_NAMED)


def _all_rows(terms: Terms, row: Term, axis: int, in_front: bool, over: Iterations) -> Term:
    """Rows of all iterations along an axis."""
    (name,) = over.number.symbols
    head = terms.heads.own("recurrence", Bound(name, (), False, True), ())
    loop = terms.keep(head, (terms.size(over.most), None), Fact())
    kind = row.fact.elem_type, row.shape
    head = terms.heads.own("stacked", (name, kind), (row,))
    rows = terms.keep(head, (loop,), Fact(kind[0], (over.most, *row.shape)))
    if in_front:
        rows = backward(terms, rows, 0)
    perm = [*range(1, axis + 1), 0, *range(axis + 1, len(rows.shape))]
    moved = terms.op("Transpose", _OPSET, rows, perm=perm) if axis else rows
    shape = row.shape
    return terms.view(moved, (*shape[:axis], over.most * shape[axis], *shape[axis + 1 :]))
