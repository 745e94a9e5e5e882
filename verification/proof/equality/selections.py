"""States that select among the rows of all iterations: the last one that a condition lets in, the
best one, any, all, and the parity of truth values.

What selects at once is defined as a loop over the rows: it begins with a first row and takes one
row after the other. So a state is what it selects if it begins with the first row, and if each
iteration changes it as that loop does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import onnx

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ops.axes import ONE
from ..terms.free_variables import binding
from ..terms.iota import single_number
from ..terms.term import Pair, Term, descendants
from .case_distinction import is_connective
from .induction import Induction, State
from .prefix_sums import PrefixSums
from .substitution import instantiate_iteration

_OPSET = 18
_MOST_DEPTH = 4
"""Limit of connectives below one another."""
_BOOL = onnx.TensorProto.BOOL
_COUNTS = frozenset({*INTEGER_BITS, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE})
"""Types in which truth values are 0 and 1."""

_BETTER: dict[tuple[str, bool], tuple[str, Callable[..., Any]]] = {
    ("ArgMax", False): ("Greater", np.less_equal),
    ("ArgMax", True): ("GreaterOrEqual", np.less),
    ("ArgMin", False): ("Less", np.greater_equal),
    ("ArgMin", True): ("LessOrEqual", np.greater),
}
"""By operator, and whether the last one counts of equal ones: the comparison of a row and the best
one before it, and that of a number and the first row which shows that the number is never taken."""

_OF_TRUTH = {"ReduceMax": "Or", "ReduceMin": "And"}
_EXTREMES = {"ReduceMax": ("Max", "Greater"), "ReduceMin": ("Min", "Less")}


class _Rows(NamedTuple):
    """First row, in the shape of the state, and the rows of all iterations."""

    first: Term
    rest: Term


class Selections:
    """Rules of comparison for a last state and what selects among the rows.

    Args:
        induction: rules for the states of recurrences.
        prefixes: rules for elements of a CumSum.
        over_reals: whether floats are real numbers.
    """

    def __init__(self, induction: Induction, prefixes: PrefixSums, over_reals: bool) -> None:
        self._terms, self._pushdown = induction.terms, induction.pushdown
        self._induction, self._prefixes = induction, prefixes
        self._over_reals = over_reals

    def selected(self, one: Term, other: Term) -> list[Pair] | None:
        """Last state, and what selects among the rows of all iterations."""
        for term, whole in ((one, other), (other, one)):
            pairs = self._pairs(term, whole)
            if pairs is not None:
                return pairs if term is one else [(b, a) for a, b in pairs]
        return None

    def _pairs(self, term: Term, whole: Term) -> list[Pair] | None:
        if whole.fact.elem_type == _BOOL:
            pairs = self._odd(term, whole)
            if pairs is not None:
                return pairs
        state = self._last_state(term)
        if state is None:
            return None
        for rule in (self._held, self._best, self._truth, self._extreme):
            pairs = rule(state, whole)
            if pairs is not None:
                return pairs
        return None

    def _last_state(self, term: Term) -> State | None:
        """State after all iterations, whose number is known."""
        below = _bare(term)
        return self._induction.before_iteration(below) if below.head.name == "final" else None

    def _held(self, state: State, whole: Term) -> list[Pair] | None:
        """Last one of a first row and of the rows that a condition lets in."""
        part = _bare(whole)
        joined = part.args[0] if part.head.name == "narrow" and part.head.key == 0 else None
        rows = None if joined is None else self._joined(joined, state)
        chosen = None if rows is None else rows.rest
        if joined is None or rows is None or chosen is None or not chosen.is_op("Compress"):
            return None
        values, condition = chosen.operands
        shape, axis = values.fact.shape, chosen.head.attribute("axis")
        if not shape or shape[0] != state.iteration or condition.fact.shape != (state.iteration,):
            return None
        if part.operands[1] is not self._terms.size(joined.shape[0] - 1):
            return None
        if len(shape) > 1 if axis is None else axis % len(shape):
            return None
        step = _Step(self, state)
        lets_in = step.row(condition, ())
        update = step.choice(lets_in, step.row(values, rows.first.shape), step.before(state.number))
        return [(step.init(state.number), rows.first), (step.after(state.number), update)]

    def _joined(self, joined: Term, state: State) -> _Rows | None:
        """First row, in the shape of a state, and the other rows of a Concat."""
        init = state.recurrence.args[2 + state.number]
        if not joined.is_op("Concat") or len(joined.args) != 2 or init is None:
            return None
        first, rest = joined.operands
        begin, shape = first.fact.shape, init.fact.shape
        if joined.head.attribute("axis") != 0 or shape is None or not begin or not rest.fact.shape:
            return None
        if begin != (ONE, *shape) or rest.fact.shape[1:] != shape:
            return None
        return _Rows(self._terms.view(first, shape), rest)

    def _best(self, state: State, whole: Term) -> list[Pair] | None:
        """Row at the place of the greatest or smallest one, and that one."""
        read = _bare(whole)
        if not read.is_op("Gather", "GatherElements") or read.head.attribute("axis", 0) != 0:
            return None
        rows, place = self._joined(read.operands[0], state), _bare(read.operands[1])
        if rows is None or not place.is_op("ArgMax", "ArgMin") or place.head.attribute("axis", 0):
            return None
        keys = place.operands[0]
        begin = keys.fact.shape
        if not begin or begin[0] != state.iteration + 1 or rows.rest.shape[0] != state.iteration:
            return None
        if read.is_op("Gather") and len(begin) != 1:
            return None
        if read.is_op("GatherElements") and read.operands[1].shape != (ONE, *begin[1:]):
            return None
        if read.is_op("GatherElements") and rows.first.shape != begin[1:]:
            return None
        for number in self._keys(state, keys, is_own=keys is read.operands[0]):
            pairs = self._of_place(state, number, rows, place)
            if pairs is not None:
                return pairs
        return None

    def _keys(self, state: State, keys: Term, *, is_own: bool) -> Iterator[int]:
        """States that may be the best row before an iteration."""
        bound = binding(state.recurrence)
        assert bound is not None
        if is_own:
            yield state.number
            return
        update = state.recurrence.head.parts[state.number]
        reached = set(descendants([update]))
        for number, variable in enumerate(bound.states):
            alike = variable.fact.elem_type == keys.fact.elem_type
            if number != state.number and alike and variable in reached:
                own = self._joined(keys, state._replace(number=number))
                if own is not None and own.first is state.recurrence.args[2 + number]:
                    yield number

    def _of_place(self, state: State, number: int, rows: _Rows, place: Term) -> list[Pair] | None:
        """Pairs for the best row, a state, and the row at its place, another state."""
        best = self._joined(place.operands[0], state._replace(number=number))
        if best is None:
            return None
        compared, never = _BETTER[
            place.head.name, bool(place.head.attribute("select_last_index", 0))
        ]
        keys = self._candidates(best, never)
        if keys is None:
            return None
        step = _Step(self, state)
        key, before = step.row(keys, best.first.shape), step.before(number)
        better = self._terms.op(compared, _OPSET, key, before)
        pairs = [
            (step.init(number), best.first),
            (step.after(number), step.choice(better, key, before)),
        ]
        if number != state.number:
            value = step.row(rows.rest, rows.first.shape)
            update = step.choice(better, value, step.before(state.number))
            pairs += [(step.init(state.number), rows.first), (step.after(state.number), update)]
        return pairs

    def _candidates(self, rows: _Rows, never: Callable[..., Any]) -> Term | None:
        """Rows that a comparison takes: no NaN, in whose place stands a number that is never
        taken."""
        rest = rows.rest
        if rest.fact.elem_type in INTEGER_BITS:
            return rest
        if rest.is_op("Where") and rest.operands[0].is_op("IsNaN"):
            (source,) = rest.operands[0].operands
            _, number, value = rest.operands
            tensors = self._terms.tensor(number), self._terms.tensor(rows.first)
            if source is value and source.fact.shape == rest.fact.shape and None not in tensors:
                arrays = [tensor.numpy() for tensor in tensors if tensor is not None]
                shapes = arrays[0].shape, arrays[1].shape
                if shapes[0] == () and bool(never(*arrays).all()):
                    return source
        return rest if self._over_reals else None

    def _truth(self, state: State, whole: Term) -> list[Pair] | None:
        """Any, or all, of truth values, as the maximum or minimum of numbers."""
        number = _cast_from(whole, _BOOL)
        reduction = None if number is None else _bare(number)
        if reduction is None or not reduction.is_op(*_OF_TRUTH):
            return None
        rows = self._reduced(reduction, state)
        step = _Step(self, state)
        if rows is None:
            return None
        row = step.row(rows.rest, rows.first.shape)
        update = self._terms.op(
            _OF_TRUTH[reduction.head.name], _OPSET, step.before(state.number), row
        )
        return [(step.init(state.number), rows.first), (step.after(state.number), update)]

    def _reduced(self, reduction: Term, state: State) -> _Rows | None:
        """Rows of truth values that a reduction of numbers reduces along the first axis."""
        if len(reduction.args) != 1 or list(reduction.head.attribute("axes") or ()) != [0]:
            return None
        truth = _truth_below(reduction.operands[0])
        rows = None if truth is None else self._joined(truth, state)
        return None if rows is None or rows.rest.shape[0] != state.iteration else rows

    def _extreme(self, state: State, whole: Term) -> list[Pair] | None:
        """Maximum or minimum by comparison, or in which a NaN stays; floats over the reals."""
        update = state.recurrence.head.parts[state.number]
        compares = update.is_op("Where") or update.head.name == "choose"
        reduction = _bare(whole if compares else self._without_nan(_bare(whole)))
        is_float = whole.fact.elem_type not in INTEGER_BITS
        if not reduction.is_op(*_EXTREMES) or (is_float and not self._over_reals):
            return None
        if len(reduction.args) != 1 or list(reduction.head.attribute("axes") or ()) != [0]:
            return None
        rows = self._joined(reduction.operands[0], state)
        if rows is None or rows.rest.shape[0] != state.iteration:
            return None
        join, compared = _EXTREMES[reduction.head.name]
        place = "ArgMax" if join == "Max" else "ArgMin"
        step = _Step(self, state)
        before = step.before(state.number)
        if compares:
            candidates = self._candidates(rows, _BETTER[place, False][1])
            if candidates is None:
                return None
            row = step.row(candidates, rows.first.shape)
            extreme = step.choice(self._terms.op(compared, _OPSET, row, before), row, before)
        else:
            row = step.row(rows.rest, rows.first.shape)
            extreme = self._terms.op(join, _OPSET, before, row)
        return [(step.init(state.number), rows.first), (step.after(state.number), extreme)]

    def _without_nan(self, whole: Term) -> Term:
        """Reduction without its case of a NaN: a NaN where one of its rows is NaN."""
        if whole.head.name not in ("Where", "choose"):
            return whole
        condition, nan, reduction = whole.operands
        tensor, count = self._terms.tensor(nan), _cast_from(condition, _BOOL)
        total = None if count is None else _bare(count)
        if tensor is None or total is None or not np.isnan(tensor.numpy()).all():
            return whole
        if not total.is_op("ReduceSum") or total.fact.elem_type in INTEGER_BITS:
            return whole
        tests = _truth_below(total.operands[0])
        below = _bare(reduction)
        if tests is None or not tests.is_op("IsNaN") or not below.is_op(*_EXTREMES):
            return whole
        axes = [list(each.head.attribute("axes") or ()) for each in (total, below)]
        if len(total.args) != 1 or tests.operands[0] is not below.operands[0]:
            return whole
        fits = axes[0] == axes[1] and reduction.fact.shape == whole.fact.shape
        return reduction if fits else whole

    def _odd(self, term: Term, whole: Term) -> list[Pair] | None:
        """Parity of truth values up to an iteration: the remainder of an element of their CumSum,
        and a state, or what an iteration makes of one."""
        number = _cast_from(_bare(whole), _BOOL)
        remainder = None if number is None else _bare(number)
        if remainder is None or not remainder.is_op("Mod"):
            return None
        count, two = remainder.operands
        if single_number(self._terms, two) != 2 or count.fact.elem_type not in INTEGER_BITS:
            return None
        place = self._prefixes.place(count)
        truth = None if place is None else _truth_below(place.values)
        if place is None or truth is None:
            return None
        for state, rest in self._states(term, place.at):
            rows = self._joined(truth, state)
            iterations = self._induction.iterations(state.recurrence)
            if rows is None or iterations is None or rows.rest.shape[0] != iterations:
                continue
            step = _Step(self, state)
            pairs = [
                (step.init(state.number), rows.first),
                (step.after(state.number), step.turned(state.number, rows)),
            ]
            return (
                pairs if rest is None else [*pairs, (term, step.turned(state.number, rows, rest))]
            )
        return None

    def _states(
        self, term: Term, at: Dimension
    ) -> Iterator[tuple[State, tuple[Term, Dimension] | None]]:
        """State before an iteration, or one in a term that is one iteration before it."""
        state = self._induction.before_iteration(_bare(term))
        if state is not None:
            if state.iteration == at:
                yield state, None
            return
        for each in descendants([term]):
            before = self._induction.before_iteration(each) if each.head.name == "state" else None
            if before is not None and before.iteration + 1 == at:
                yield before, (each, before.iteration)


class _Step:
    """Parts of a recurrence on any iteration.

    Args:
        rule: the rules.
        state: a state of the recurrence.
    """

    def __init__(self, rule: Selections, state: State) -> None:
        self._terms, self._pushdown = rule._terms, rule._pushdown
        self._recurrence = state.recurrence
        iterations = rule._induction.iterations(state.recurrence)
        self._index = rule._induction.symbol(iterations)

    def init(self, number: int) -> Term:
        """Initial state."""
        return self._recurrence.operands[2 + number]

    def before(self, number: int) -> Term:
        """State before the iteration."""
        bound = binding(self._recurrence)
        assert bound is not None
        return self._at(bound.states[number])

    def after(self, number: int) -> Term:
        """State after the iteration."""
        return self._at(self._recurrence.head.parts[number])

    def _at(self, part: Term) -> Term:
        return instantiate_iteration(self._terms, self._recurrence, part, self._index)

    def row(self, values: Term, shape: Shape, index: Dimension | None = None) -> Term:
        """Row of the iteration."""
        place = self._index if index is None else index
        return self._terms.view(self._pushdown.of(values, 0, place, ONE), shape)

    def choice(self, condition: Term, one: Term, other: Term) -> Term:
        """Choice of two rows."""
        return self._terms.op("Where", _OPSET, *map(self._formula, (condition, one)), other)

    def _formula(self, condition: Term, depth: int = _MOST_DEPTH) -> Term:
        """Truth value as connectives of scalars, which cases and rules of choices read; any other
        term itself."""
        if condition.fact.elem_type != _BOOL or condition.fact.shape != ():
            return condition
        settled = self._pushdown.settled(condition)
        if not depth or not is_connective(settled):
            return settled
        operands = [self._formula(operand, depth - 1) for operand in settled.operands]
        return self._terms.rebuild(settled, tuple(operands))

    def turned(self, number: int, rows: _Rows, at: tuple[Term, Dimension] | None = None) -> Term:
        """Truth value that the row of the iteration turns, or the row at another one."""
        before, index = (self.before(number), None) if at is None else at
        row = self.row(rows.rest, rows.first.shape, index)
        return self._terms.op("Xor", _OPSET, before, row)


def _bare(term: Term) -> Term:
    """Term below its views."""
    while term.head.name == "view" and term.args[0] is not None:
        term = term.args[0]
    return term


def _cast_from(term: Term, elem_type: int) -> Term | None:
    """Operand of a Cast to a type, from a type that counts truth values."""
    below = _bare(term)
    if not below.is_op("Cast") or below.fact.elem_type != elem_type:
        return None
    (operand,) = below.operands
    return operand if operand.fact.elem_type in _COUNTS else None


def _truth_below(numbers: Term) -> Term | None:
    """Truth values that numbers are cast from."""
    below = numbers.operands[0] if numbers.is_op("Cast") else None
    is_counted = numbers.fact.elem_type in _COUNTS
    return below if below is not None and below.fact.elem_type == _BOOL and is_counted else None
