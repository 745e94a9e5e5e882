"""Operators as folds: states that rows join one after the other, with one state for a result.

A reduction, an element of a CumSum, what a Compress or an ArgMax selects: each is read as a first
state, and the state after a row as a function of the one before. Sums of floats in another order
are read over the reals alone.

    ReduceSum (x)         s' = s + x[t] from 0, after all rows
    CumSum (x)[n]         s' = s + x[t] from 0, after n + 1 rows
    ReduceMax (x)         s' = max (s, x[t]) from -inf or the least integer, after all rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import onnx

from ....facts.fact import Shape, element
from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ir import Array
from ....ops.axes import ONE
from ..reals.real_terms import FLOATS, strip
from ..terms.term import Pair, Term, bare, descendants
from ..terms.term_manager import Terms
from .case_distinction import is_connective
from .slice_pushdown import SlicePushdown

_OPSET = 18
_MOST_DEPTH = 4
"""Limit of connectives below one another."""
CHOICES = ("Where", "choose")
_BOOL = onnx.TensorProto.BOOL
_EXPONENTS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64)


class _Join(NamedTuple):
    """Associative and commutative operator of rows.

    Attributes:
        neutral: function of a type: the element that changes none.
        of_none: whether a reduction of no row is that element in each opset.
    """

    neutral: Callable[[np.dtype[Any]], Any]
    of_none: bool


def _least(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _most(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


JOINS = {
    "Add": _Join(lambda dtype: 0, True),
    "Mul": _Join(lambda dtype: 1, True),
    "Max": _Join(_least, False),
    "Min": _Join(_most, False),
    "And": _Join(lambda dtype: True, False),
    "Or": _Join(lambda dtype: False, False),
    "Xor": _Join(lambda dtype: False, True),
}
REDUCTIONS = {"ReduceSum": "Add", "ReduceProd": "Mul", "ReduceMax": "Max", "ReduceMin": "Min"}
COMPARED = {"Max": "Greater", "Min": "Less"}
Step = Callable[[Sequence[Term], Dimension], list[Term]]
"""Function of the states before a row and its index: the states after it; empty if unknown."""

Form = Callable[[Term, Dimension, Term], "Pair | None"]
"""Function of the state before a row, its index and a term: terms that are equal if the term is the
state after the row."""


class Fold(NamedTuple):
    """State after some rows.

    Attributes:
        number: which one of the states.
        joined: number of rows that it has joined.
        rows: number of rows that there are.
        starts: states before the first row.
        step: function that returns the states after a row.
        form: function that compares in the form of another term; None for the state after a row.
        join: operator that joins a neutral element and the rows, if that is all.
        values: the rows, if that is all.
        needs_rows: whether it is something else without a row.
        shorter: the same of all rows but the last one, if it is a term.
        first_row: function that returns the state after the first row, if that is the row.
    """

    number: int
    joined: Dimension
    rows: Dimension
    starts: Sequence[Term]
    step: Step
    form: Form | None = None
    join: str = ""
    values: Term | None = None
    needs_rows: bool = False
    shorter: Term | None = None
    first_row: Callable[[], Term] | None = None

    def without_first(self) -> Fold:
        """Fold that begins after the first row (law: peel the first row)."""
        step, form = self.step, self.form
        return self._replace(
            joined=self.joined - 1,
            rows=self.rows - 1,
            values=None,
            starts=self.firsts(),
            step=lambda states, index: step(states, index + 1),
            form=form and (lambda state, index, like: form(state, index + 1, like)),
            needs_rows=False,
            first_row=None,
        )

    def firsts(self) -> list[Term]:
        """States after the first row."""
        if self.first_row is not None:
            return [self.first_row()]
        return self.step(self.starts, Dimension.constant(0))

    def pairs(self, states: Sequence[Term], index: Dimension, after: Sequence[Term]) -> list[Pair]:
        """Terms that are equal if others are the states after a row; empty if that is unknown."""
        if self.form is not None:
            pair = self.form(states[0], index, after[0])
            return [] if pair is None else [pair]
        return list(zip(after, self.step(states, index), strict=False))


Reader = Callable[["FoldForms", Term], Iterator[Fold]]
_READERS: dict[str, list[Reader]] = {}
"""Functions that read a term as folds, by head. The first fold that fits is compared."""


def reads_fold(*names: str, is_first: bool = False) -> Callable[[Reader], Reader]:
    """Register a function that reads operators as folds.

    Args:
        names: heads of the terms.
        is_first: whether its folds are compared before those of other functions.
    """

    def register(function: Reader) -> Reader:
        for name in names:
            readers = _READERS.setdefault(name, [])
            readers.insert(0 if is_first else len(readers), function)
        return function

    return register


class FoldForms:
    """Reads terms as folds along their first axis.

    Args:
        over_reals: whether floats are real numbers.
    """

    def __init__(self, pushdown: SlicePushdown, over_reals: bool) -> None:
        self.terms, self.pushdown, self.over_reals = pushdown.terms, pushdown, over_reals

    def of(self, whole: Term) -> Iterator[Fold]:
        """Folds that a term is."""
        part = bare(whole)
        for read in _READERS.get(part.head.name, ()):
            yield from read(self, part)

    def of_rows(
        self, join: str, values: Term, count: Dimension | None = None, start: Term | None = None
    ) -> Fold:
        """Rows joined by an operator.

        Args:
            values: the rows.
            count: number of rows that are joined; None for all.
            start: first state; None for the neutral element.
        """
        shape, first = values.shape[1:], start
        if first is None:
            first = self.neutral(join, values.fact.elem_type, shape)

        def step(states: Sequence[Term], index: Dimension) -> list[Term]:
            return [self.terms.op(join, _OPSET, states[0], self.row(values, index, shape))]

        def form(state: Term, index: Dimension, like: Term) -> Pair | None:
            row = self.row(values, index, shape)
            # A maximum may be written as a choice by a comparison; for a NaN the two differ in
            # bits, which the reals and integers do not know.
            if like.head.name in CHOICES and self.reorders(values.fact.elem_type):
                operand = self._operand(join, state, like)
                if operand is not None:
                    return operand, row
                if join in COMPARED:
                    better = self.terms.op(COMPARED[join], _OPSET, row, state)
                    return like, self.choice(better, row, state)
            return like, step([state], index)[0]

        total = values.shape[0]
        fold = Fold(0, total if count is None else count, total, [first], step, form)
        # Only from the neutral element is the state after the first row that row itself.
        if start is not None:
            return fold
        needs_rows = not JOINS[join].of_none
        first_row = partial(self.row, values, Dimension.constant(0), shape)
        return fold._replace(join=join, values=values, needs_rows=needs_rows, first_row=first_row)

    def _operand(self, join: str, state: Term, after: Term) -> Term | None:
        """Operand that an operator joins with a state, or that a condition chooses for it. Where
        the condition keeps the state, the operand is the neutral element (law: masks)."""
        if after is state:
            return self.neutral(join, after.fact.elem_type, after.shape)
        if after.fact.shape != state.fact.shape:
            return None
        if after.head.name in CHOICES:
            condition, *branches = after.operands
            one, other = (self._operand(join, state, branch) for branch in branches)
            if one is None or other is None:
                return None
            return self.terms.op("Where", _OPSET, condition, one, other)
        others = [other for one, other in both_ways(after, join) if one is state]
        # The state on both sides, as in s + s, leaves no operand.
        return others[0] if len(others) == 1 and others[0].fact.shape == after.shape else None

    def neutral(self, join: str, elem_type: int, shape: Shape) -> Term:
        """Element that changes no state."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        return self.spread(np.array(JOINS[join].neutral(dtype), dtype), shape)

    def is_neutral(self, join: str, term: Term) -> bool:
        """Test for a constant that changes no state."""
        term = bare(term.operands[0]) if term.is_op("Expand") else bare(term)
        tensor = self.terms.tensor(term)
        # An empty constant would pass the test for any number.
        if tensor is None or not tensor.is_readable or not tensor.size:
            return False
        array = tensor.numpy()
        return bool((array == JOINS[join].neutral(array.dtype)).all())

    def row(self, values: Term, index: Dimension, shape: Shape) -> Term:
        """Row of some values."""
        return self.terms.view(self.pushdown.of(values, 0, index, ONE), shape)

    def spread(self, number: Array, shape: Shape) -> Term:
        """Number in a shape."""
        return self.terms.op("Expand", 13, self.terms.constant(number), self.terms.sizes(shape))

    def choice(self, condition: Term, one: Term, other: Term) -> Term:
        """Choice of two rows."""
        return self.terms.op("Where", _OPSET, *map(self._formula, (condition, one)), other)

    def _formula(self, condition: Term, depth: int = _MOST_DEPTH) -> Term:
        """Truth value as connectives of scalars, which cases and rules of choices read; any other
        term itself."""
        if condition.fact.elem_type != _BOOL or condition.fact.shape != ():
            return condition
        settled = self.pushdown.settled(condition)
        if not depth or not is_connective(settled):
            return settled
        operands = [self._formula(operand, depth - 1) for operand in settled.operands]
        return self.terms.rebuild(settled, tuple(operands))

    def reorders(self, elem_type: int) -> bool:
        """Test for numbers whose sums may be made in any order."""
        return self.over_reals or elem_type in INTEGER_BITS


@reads_fold(*REDUCTIONS)
def _reduction(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Reduction along the first axis alone."""
    values = reduced(forms, whole)
    # A reduction of floats adds up in an order of its own.
    if values is None or not forms.reorders(values.fact.elem_type):
        return
    yield forms.of_rows(REDUCTIONS[whole.head.name], *prefix_of(values))


@reads_fold("MatMul")
def _product(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Product of matrices as a sum: of outer products of a column and a row."""
    one, other = whole.operands
    shapes, terms = (one.fact.shape, other.fact.shape), forms.terms
    if not forms.over_reals or not all(shape and len(shape) < 3 for shape in shapes):
        return
    columns = terms.op("Transpose", _OPSET, one, perm=[1, 0]) if len(one.shape) > 1 else one
    lines = [size for size in one.shape[:-1] if size.value != 1]
    count, ends = other.shape[0], other.shape[1:]
    places = (count, *lines, *[ONE] * len(ends)), (count, *[ONE] * len(lines), *ends)
    sides = [terms.view(*each) for each in zip((columns, other), places, strict=True)]
    values = terms.op("Mul", _OPSET, *sides)
    if one.shape[-1] == count and values.fact.shape == (count, *lines, *ends):
        yield from _powers(forms, values)
        yield forms.of_rows("Add", *prefix_of(values))


@reads_fold("Add", is_first=True)
def _weighted(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Sum weighted by powers of a fixed factor: `s' = a * s + b`.

        s[n] = a^n * s[0] + sum of a^(n - 1 - t) * b[t]

    That holds for every a, with a^0 = 1, also for 0.
    """
    # Powers of a factor round otherwise than repeated products.
    if not forms.over_reals or whole.fact.elem_type not in FLOATS:
        return
    for added, begin in both_ways(whole, "Add"):
        values = reduced(forms, bare(added)) if bare(added).is_op("ReduceSum") else None
        if values is None or not are_aligned(added, begin):
            continue
        shape, count = values.shape[1:], values.shape[0]
        for power, start in both_ways(bare(begin), "Mul"):
            base = _base(forms, power, count)
            if base is None or start.fact.shape != shape or not are_aligned(bare(begin), start):
                continue
            yield from _powers(forms, values, base, start)


def _powers(
    forms: FoldForms, values: Term, base: Term | None = None, start: Term | None = None
) -> Iterator[Fold]:
    """Fold of rows that are multiplied by powers of a factor: that of the start, if there is one,
    or that of a row."""
    shape, count, terms = values.shape[1:], values.shape[0], forms.terms

    def summand(index: Dimension) -> Pair | None:
        row = forms.pushdown.of(values, 0, index, ONE)
        if row.fact.shape != (ONE, *shape) or not are_aligned(bare(row), row):
            return None
        for power, value in both_ways(bare(row), "Mul"):
            own = _base(forms, power, count - 1 - index)
            # A factor that depends on the row is not the fixed one.
            if own is not None and own is (base or own) and not depends_on(terms, own, index):
                return own, value
        return None

    def step(states: Sequence[Term], index: Dimension) -> list[Term]:
        pair = summand(index)
        if pair is None:
            return []
        scaled = terms.op("Mul", _OPSET, pair[0], terms.view(states[0], (ONE, *shape)))
        expected = terms.op("Add", _OPSET, scaled, pair[1])
        return [terms.view(expected, shape)] if expected.fact.shape == (ONE, *shape) else []

    def form(state: Term, index: Dimension, like: Term) -> Pair | None:
        parts = [bare(part) for part in like.args if part is not None]
        factors = [bare(each) for part in parts if part.is_op("Mul") for each in part.operands]
        after = step([state], index) if bare(state) in factors else []
        return (like, after[0]) if after else None

    if start is not None:
        yield Fold(0, count, count, [start], step)
    elif terms.contains(values, "Pow"):
        zero = forms.neutral("Add", values.fact.elem_type, shape)
        yield Fold(0, count, count, [zero], step, form)


def _base(forms: FoldForms, power: Term, exponent: Dimension) -> Term | None:
    """Base of a power with an exponent, a number of iterations; None for another term.

    It has the shape of the power but for leading axes of size 1.
    """
    whole, power = power, bare(power)
    if not power.is_op("Pow") or not are_aligned(whole, power):
        return None
    base, number = power.operands
    if not are_aligned(base, power) or number.fact.shape is None or strip(number.shape):
        return None
    number = forms.pushdown.settled(number)
    while number.head.name == "view" or number.is_op("Cast"):
        # A narrow type does not hold each exponent: bfloat16 has no 257.
        if number.fact.elem_type not in _EXPONENTS:
            return None
        number = number.operands[0]
    content = None if number.fact.content is None else element(number.fact)
    if content != exponent or base.fact.shape is None:
        return None
    return forms.pushdown.settled(forms.terms.view(base, strip(base.shape)))


@reads_fold(*JOINS)
def _with_start(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Fold of an operator, which joins another term: that is its first state."""
    if len(whole.args) != 2 or None in whole.args or not forms.reorders(whole.fact.elem_type):
        return
    for begin, rest in both_ways(whole, whole.head.name):
        if bare(rest).head.name not in _STARTING or begin.fact.shape != rest.fact.shape:
            continue
        for fold in forms.of(rest):
            # The term that is joined from outside is a start only if both are joined by one
            # operator.
            if fold.join == whole.head.name:
                start = forms.terms.view(begin, fold.starts[0].shape)
                yield Fold(0, fold.joined, fold.rows, [start], fold.step, fold.form)


_STARTING = frozenset([*REDUCTIONS, "narrow"])
"""Heads of folds from a neutral element."""


@reads_fold("narrow")
def _prefix(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Element of a forward CumSum along the first axis: one row after the other is added."""
    place = place_of(forms, whole)
    if place is None:
        return
    _, values, at, inclusive = place
    kind = onnx.helper.tensor_dtype_to_np_dtype(values.fact.elem_type)
    zero = -0.0 if inclusive and kind.kind == "f" else 0  # the first sum is the first row
    start = forms.spread(np.array(zero, kind), values.shape[1:])
    fold = forms.of_rows("Add", prefix_of(values)[0], at + inclusive)
    before, first_row = at - 1, fold.first_row if inclusive else None
    shorter = None
    if before.less(0) is False:
        shorter = forms.terms.narrow(whole.operands[0], whole.head.key, before, ONE)
    yield fold._replace(starts=[start], shorter=shorter, first_row=first_row)


@reads_fold("narrow")
def _shifted(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Element of a CumSum after a row of zeros, the sum of no row."""
    joined, start, size = whole.operands
    rows = joined_rows(joined) if whole.head.key == 0 and element(size.fact) == 1 else None
    if rows is None or not forms.is_neutral("Add", rows[0]):
        return
    sums = rows[1]
    if not sums.is_op("CumSum") or not forms.reorders(sums.fact.elem_type):
        return
    if forms.terms.numbers(sums.args[1]) == [0] and not (
        sums.head.attribute("reverse", 0) or sums.head.attribute("exclusive", 0)
    ):
        yield forms.of_rows("Add", prefix_of(sums.operands[0])[0], element(start.fact))


_IMAGES = {
    **{("Neg", "Add"): "Add", ("Neg", "Max"): "Min", ("Neg", "Min"): "Max"},
    **{("Not", "And"): "Or", ("Not", "Or"): "And"},
}
"""Joins of the images of rows under an operator, by that and the join of the rows."""


@reads_fold("Neg", "Not")
def _image(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Image of a fold: -max (x) is min (-x). The least integer has no opposite."""
    name, kind = whole.head.name, whole.fact.elem_type
    for fold in forms.of(whole.operands[0]):
        join = _IMAGES.get((name, fold.join))
        is_exact = kind == _BOOL or (forms.reorders(kind) and (join == "Add" or kind in FLOATS))
        if join is not None and fold.values is not None and is_exact:
            yield forms.of_rows(join, forms.terms.op(name, _OPSET, fold.values), fold.joined)


@reads_fold("Sub")
def _without_last(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Sum without its last row, that of one row fewer."""
    total, row = whole.operands
    for fold in forms.of(total) if forms.reorders(whole.fact.elem_type) else ():
        before, last = fold.joined - 1, bare(forms.pushdown.settled(row))
        if fold.values is None or fold.join != "Add" or before.less(0) is not False:
            continue
        if bare(forms.row(fold.values, before, fold.values.shape[1:])) is last:
            yield forms.of_rows("Add", fold.values, before)


@reads_fold("Cast")
def _count(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Number of iterations as a float: a sum of ones."""
    fact, terms = whole.operands[0].fact, forms.terms
    number = None if fact.content is None or fact.content.size != 1 else element(fact)
    kind = whole.fact.elem_type
    if not forms.over_reals or kind not in FLOATS or not isinstance(number, Dimension):
        return
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    one = terms.constant(np.array(1, dtype))

    def step(states: Sequence[Term], index: Dimension) -> list[Term]:
        return [terms.op("Add", _OPSET, states[0], one)]

    for first in {0, int(number.terms.get((), 0))}:
        start = forms.spread(np.array(first, dtype), whole.shape)
        yield Fold(0, number - first, number - first, [start], step)


class Place(NamedTuple):
    """Element of a CumSum.

    Attributes:
        part: slice of the CumSum.
        values: summands along the first axis.
        at: index.
        inclusive: 1 if the element counts itself, else 0.
    """

    part: Term
    values: Term
    at: Dimension
    inclusive: int


def place_of(forms: FoldForms, part: Term) -> Place | None:
    """Element of a forward CumSum along the first axis longer than 1; None for any other term."""
    if part.head.name != "narrow":
        return None
    (total, start, size), axis = part.operands, part.head.key
    if not total.is_op("CumSum") or total.head.attribute("reverse", 0) or element(size.fact) != 1:
        return None
    values, numbers = total.operands[0], forms.terms.numbers(total.args[1])
    if values.fact.shape is None or numbers not in ([axis], [axis - len(values.shape)]):
        return None
    if any(dim.value != 1 for dim in values.shape[:axis]):
        return None
    inclusive = 1 - int(total.head.attribute("exclusive", 0))
    rows = forms.terms.view(values, values.shape[axis:])
    return Place(part, rows, element(start.fact), inclusive)


def prefix_of(values: Term) -> tuple[Term, Dimension]:
    """Rows of which values are the first ones, and their number (law: a prefix is a state)."""
    if values.head.name == "narrow" and values.head.key == 0:
        whole, start, size = values.operands
        if element(start.fact) == 0:
            return whole, element(size.fact)
    return values, values.shape[0]


def both_ways(term: Term, op_type: str) -> Iterator[Pair]:
    """Operands of a commutative operator in both orders; none for another term."""
    if term.is_op(op_type) and len(term.args) == 2:
        one, other = term.operands
        yield one, other
        yield other, one


def reduced(forms: FoldForms, whole: Term) -> Term | None:
    """Rows that a reduction along the first axis longer than 1 reduces; None for another term."""
    values = whole.operands[0]
    axes, shape = list(whole.head.attribute("axes") or ()), values.fact.shape
    if len(whole.args) != 1 or not axes or shape is None:
        return None
    if not all(-len(shape) <= axis < len(shape) for axis in axes):
        return None
    axis, *others = sorted(axis % len(shape) for axis in axes)
    if any(dim.value != 1 for dim in shape[:axis]):
        return None
    if others:  # a reduction of rows that are reduced along the other axes
        if whole.head.name not in REDUCTIONS or axis in others:
            return None
        head = forms.terms.heads.with_attributes(whole.head, axes=others, keepdims=0)
        (inner,) = forms.terms.apply(head, (values,))
        if inner is None or inner.fact.shape is None:
            return None
        values, shape = inner, inner.fact.shape
    return forms.terms.view(values, shape[axis:])


def joined_rows(joined: Term) -> Pair | None:
    """First row and the other rows of a Concat."""
    if not joined.is_op("Concat") or len(joined.args) != 2 or joined.head.attribute("axis") != 0:
        return None
    first, rest = joined.operands
    if not first.fact.shape or not rest.fact.shape or first.shape[0].value != 1:
        return None
    return (first, rest) if first.shape[1:] == rest.shape[1:] else None


def are_aligned(one: Term, other: Term) -> bool:
    """Test for equal shapes but for leading axes of size 1."""
    if one.fact.shape is None or other.fact.shape is None:
        return False
    return strip(one.shape) == strip(other.shape)


def depends_on(terms: Terms, term: Term, index: Dimension) -> bool:
    """Test whether a size in a term holds the symbol of an iteration."""
    names, free = index.symbols, terms.symbols.free
    if free(term).isdisjoint(free(terms.size(index))):
        return False
    for part in descendants([term]):
        sizes = list(part.fact.shape or ())
        if part.fact.content is not None:
            sizes += list(part.fact.content.reshape(-1))
        if any(isinstance(size, Dimension) and names & size.symbols for size in sizes):
            return True
    return False
