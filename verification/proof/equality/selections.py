"""Selections as folds: the last row that a condition lets in, the best one, any, all, the parity.

What selects at once takes one row after the other: it begins with a first row, and each row changes
the state by a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx

from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ops.axes import ONE
from ..terms.iota import single_number
from ..terms.term import Pair, Term, bare
from .fold_forms import (
    CHOICES,
    REDUCTIONS,
    Fold,
    FoldForms,
    joined_rows,
    place_of,
    reads_fold,
    reduced,
)

_OPSET = 18
_BOOL = onnx.TensorProto.BOOL
_COUNTS = frozenset({*INTEGER_BITS, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE})
"""Types in which truth values are 0 and 1."""
_LONG = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64)
"""Types in which a number of truth values is not 0 unless all are false."""
_OF_TRUTH = {"ReduceMax": "Or", "ReduceMin": "And", "ReduceSum": "Or"}
_BETTER: dict[tuple[str, bool], tuple[str, Callable[..., Any]]] = {
    ("ArgMax", False): ("Greater", np.less_equal),
    ("ArgMax", True): ("GreaterOrEqual", np.less),
    ("ArgMin", False): ("Less", np.greater_equal),
    ("ArgMin", True): ("LessOrEqual", np.greater),
}
"""By operator, and whether the last one counts of equal ones: the comparison of a row and the best
one before it, and that of a number and the first row which shows that the number is never taken."""


@reads_fold("narrow")
def _held(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Last one of a first row and of the rows that a condition lets in."""
    joined, start, _ = whole.operands
    rows = joined_rows(joined) if whole.head.key == 0 else None
    if rows is None or not rows[1].is_op("Compress"):
        return
    (first, chosen), terms = rows, forms.terms
    values, condition = chosen.operands
    shape, axis = values.fact.shape, chosen.head.attribute("axis")
    if not shape or condition.fact.shape != shape[:1]:
        return
    # The last row of all, which is the first one where the condition lets none in.
    if start is not terms.size(joined.shape[0] - 1):
        return
    if len(shape) > 1 if axis is None else axis % len(shape):
        return

    def step(states: Sequence[Term], index: Dimension) -> list[Term]:
        lets_in = forms.row(condition, index, ())
        return [forms.choice(lets_in, forms.row(values, index, shape[1:]), states[0])]

    begin = terms.view(first, shape[1:])
    yield Fold(0, shape[0], shape[0], [begin], step)


@reads_fold("Gather", "GatherElements")
def _best(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Row at the place of the greatest or smallest one, and that one."""
    if whole.head.attribute("axis", 0) != 0:
        return
    table, place = whole.operands[0], bare(whole.operands[1])
    if not place.is_op("ArgMax", "ArgMin") or place.head.attribute("axis", 0):
        return
    keys = place.operands[0]
    begin, others = joined_rows(keys), joined_rows(table)
    if begin is None or others is None or others[1].shape[0] != begin[1].shape[0]:
        return
    # A Gather takes whole rows, and only scores of rank 1 have one best row.
    if whole.is_op("Gather") and len(keys.shape) != 1:
        return
    if whole.is_op("GatherElements") and (
        whole.operands[1].shape != (ONE, *keys.shape[1:]) or table.shape[1:] != keys.shape[1:]
    ):
        return
    is_last = bool(place.head.attribute("select_last_index", 0))
    compared, never = _BETTER[place.head.name, is_last]
    shape, terms = keys.shape[1:], forms.terms
    first = terms.view(begin[0], shape)
    scores = _candidates(forms, begin[1], first, never)
    if scores is None:
        return

    def step(states: Sequence[Term], index: Dimension) -> list[Term]:
        key = forms.row(scores, index, shape)
        better = terms.op(compared, _OPSET, key, states[0])
        results = [forms.choice(better, key, states[0])]
        if len(states) > 1:
            value = forms.row(others[1], index, table.shape[1:])
            results.append(forms.choice(better, value, states[1]))
        return results

    starts = [first] if keys is table else [first, terms.view(others[0], table.shape[1:])]
    count = begin[1].shape[0]
    yield Fold(len(starts) - 1, count, count, starts, step)


@reads_fold("Cast", "Equal", "Less")
def _truth(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Any, all or none of truth values, by their number or largest one."""
    number, terms = _tested(forms, whole), forms.terms
    if number is None or not number.is_op(*_OF_TRUTH):
        return
    values, join = reduced(forms, number), _OF_TRUTH[number.head.name]
    truth = None if values is None else _truth_of(forms, values)
    # A number of few bits wraps to 0.
    if truth is None or (number.is_op("ReduceSum") and number.fact.elem_type not in _LONG):
        return
    if whole.is_op("Equal"):
        join, truth = ("Or", "And")[join == "Or"], terms.op("Not", _OPSET, truth)
    yield forms.of_rows(join, truth)._replace(needs_rows=not number.is_op("ReduceSum"))


@reads_fold("Cast", "Equal", "Less")
def _count(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Any, none or the parity of the first truth values, by their CumSum."""
    number = _tested(forms, whole)
    if number is None:
        return
    is_parity = number.is_op("Mod") and single_number(forms.terms, number.operands[1]) == 2
    place = place_of(forms, bare(number.operands[0]) if is_parity else number)
    truth = None if place is None else _truth_of(forms, place.values)
    # Wrapping keeps the parity, and rounding the rest.
    types = INTEGER_BITS if is_parity else _LONG
    if place is None or truth is None or place.part.fact.elem_type not in types:
        return
    count = place.at + place.inclusive
    if is_parity:
        if whole.is_op("Cast"):
            yield forms.of_rows("Xor", truth, count)
    elif whole.is_op("Equal"):
        yield forms.of_rows("And", forms.terms.op("Not", _OPSET, truth), count)
    else:
        yield forms.of_rows("Or", truth, count)


@reads_fold("ReduceMax", "ReduceMin", is_first=True)
def _without_nan_rows(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Extreme by a comparison, which takes no NaN, in the form of another comparison."""
    values, join = reduced(forms, whole), REDUCTIONS[whole.head.name]
    rows = None if values is None else joined_rows(values)
    if values is None or rows is None:
        return
    start = forms.terms.view(rows[0], values.shape[1:])
    source = _candidates(forms, rows[1], start, _BETTER[f"Arg{join}", False][1])
    if source is None or source is rows[1]:
        return
    fold = forms.of_rows(join, source, None, start)

    def form(state: Term, index: Dimension, like: Term) -> Pair | None:
        if fold.form is None or like.head.name not in CHOICES:
            return None
        return fold.form(state, index, like)

    yield fold._replace(form=form)


@reads_fold(*CHOICES)
def _without_nan(forms: FoldForms, whole: Term) -> Iterator[Fold]:
    """Extreme but for its case of a NaN, where one of its rows is NaN."""
    condition, nan, extreme = whole.operands
    tensor, total = forms.terms.tensor(nan), _tested(forms, condition)
    is_sum = total is not None and total.is_op("ReduceSum") and bare(condition).is_op("Cast")
    if total is None or tensor is None or not is_sum or not forms.over_reals:
        return
    if not np.isnan(tensor.numpy()).all() or total.fact.elem_type in INTEGER_BITS:
        return
    tests, below = reduced(forms, total), bare(extreme)
    truth = None if tests is None else _truth_of(forms, tests)
    if truth is None or not truth.is_op("IsNaN") or not below.is_op("ReduceMax", "ReduceMin"):
        return
    if truth.operands[0] is reduced(forms, below) and extreme.fact.shape == whole.fact.shape:
        for fold in forms.of(below):
            if fold.join:
                yield fold._replace(form=None)  # a comparison never takes a NaN


def _tested(forms: FoldForms, whole: Term) -> Term | None:
    """Numbers, of truth values, that a truth value compares with 0."""
    test = bare(whole)
    operands = [arg for arg in test.args if arg is not None and not _is_zero(forms, arg)]
    if test.fact.elem_type != _BOOL or len(operands) != 1:
        return None
    is_tested = test.is_op("Cast", "Equal") or (test.is_op("Less") and operands[0] is test.args[1])
    return bare(operands[0]) if is_tested and operands[0].fact.elem_type in _COUNTS else None


def _is_zero(forms: FoldForms, term: Term) -> bool:
    tensor = forms.terms.tensor(bare(term))
    return tensor is not None and tensor.size == 1 and not tensor.numpy().any()


def _candidates(
    forms: FoldForms, rows: Term, first: Term, never: Callable[..., Any]
) -> Term | None:
    """Rows that a comparison takes: no NaN, in whose place stands a number that is never
    taken."""
    if rows.fact.elem_type in INTEGER_BITS:
        return rows
    if rows.is_op("Where") and rows.operands[0].is_op("IsNaN"):
        (source,) = rows.operands[0].operands
        _, number, value = rows.operands
        tensors = forms.terms.tensor(number), forms.terms.tensor(first)
        if source is value and source.fact.shape == rows.fact.shape and None not in tensors:
            arrays = [tensor.numpy() for tensor in tensors if tensor is not None]
            if arrays[0].shape == () and bool(never(*arrays).all()):
                return source
    return rows if forms.over_reals else None


def _truth_of(forms: FoldForms, numbers: Term) -> Term | None:
    """Truth values that numbers are cast from."""
    if numbers.fact.elem_type not in _COUNTS:
        return None
    if numbers.is_op("Cast"):
        below = numbers.operands[0]
        return below if below.fact.elem_type == _BOOL else None
    tensor = forms.terms.tensor(numbers)
    if tensor is not None and tensor.is_readable and tensor.size <= 1:
        array = tensor.numpy()
        is_truth = bool(((array == 0) | (array == 1)).all())
        return forms.terms.constant(array.astype(bool)) if is_truth else None
    if numbers.is_op("Concat"):
        parts = [_truth_of(forms, part) for part in numbers.operands]
        return None if None in parts else forms.terms.rebuild(numbers, tuple(parts))
    return None
