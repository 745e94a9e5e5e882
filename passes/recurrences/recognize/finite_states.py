"""States of few values, as tables of the next value for each.

s' = Mod (s + e, 3)         rows of [f (0), f (1), f (2)], of which two are joined by one Gather:

(late after early)[v] = late[early[v]]

Which values there are follows from the bounds of the nodes between a state and its next value, for
each value and each truth value that they read: wrapping sums, remainders, counters between bounds,
choices by the state, elements of a table, floats that were truth values. The first iteration, which
may begin at another value, is the constant function of its result; where iterations may keep that
value, it is one more column.

s' = Gather (row, s), as of a back trace, has such rows from the start.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact, constant_fact
from ....facts.polynomial import Dimension
from ....ir import Node, Value
from ....ops import rules_of
from ....ops.batching import Operand
from ....ops.builder import Builder
from ..weights import Unfit
from .extents import hull
from .intervals import Interval, Intervals
from .recurrence import Recurrence, Replacement
from .reductions import is_small, replace_rows

_TYPES = onnx.TensorProto
_MOST = 16
"""The largest number of values, which are the columns of a table."""
_MOST_NODES = 64
"""The limit of nodes that compute tables."""
_MOST_FLAGS = 4
"""The limit of truth values whose combinations are told apart."""
_STILL = ("Expand", "Flatten", "Identity", "Reshape", "Tile")
"""The operators that keep all elements in their places if they keep the shape."""
_NO_TABLE = "it is not a state of few values"


def raise_finite(recurrence: Recurrence) -> Replacement:
    """Replace integers and truth values of which there are few, and places in rows."""
    if [node.op_type for node in recurrence.nodes] == ["Gather"]:
        return _look_up(recurrence)
    facts = [recurrence.fact(state.initial).without_content() for state in recurrence.states]
    shape = facts[0].shape
    own = [state.result for state in recurrence.states]
    mixes = False
    if shape is None or any(dim != 1 for dim in shape):
        own += [v for node in recurrence.nodes for v in node.outputs if v is not None]
        mixes = any(_mixes(recurrence, node) for node in recurrence.nodes)
    if mixes or shape is None or any(recurrence.fact(value).shape != shape for value in own):
        raise Unfit(_NO_TABLE)
    if any(fact.shape != shape for fact in facts):
        raise Unfit(_NO_TABLE)
    try:
        ranges, keeps, misses = _closed(recurrence)
    except Unfit as reason:
        raise Unfit(f"{_NO_TABLE}: {reason}") from reason
    count = _count(ranges) + keeps
    table = Fact(_TYPES.INT32, (*shape, Dimension.constant(count)))
    if not is_small(table) or count * len(recurrence.nodes) > _MOST_NODES:
        raise Unfit("its few values need tables that are too large for steps")
    recurrence.require_room(table)
    rows = _Tables(recurrence, ranges, keeps, misses).rows()
    (joined,) = recurrence.prefixes(_compose(len(shape) + 1), [rows], [table])
    return _replacement(recurrence, ranges, joined, facts, keeps, bool(misses))


def _mixes(recurrence: Recurrence, node: Node) -> bool:
    """Test for elements that may read others of the state, all values having its shape."""
    looks_up = node.is_op("Gather", "GatherElements") and node.input(0) not in recurrence.inside
    return not (looks_up or rules_of(node.op).elementwise or node.is_op(*_STILL))


def _look_up(recurrence: Recurrence) -> Replacement:
    """Replace a place in the row of an iteration, at which the next place stands."""
    (state,), (node,), emit = recurrence.states, recurrence.nodes, recurrence.emit
    row, place = node.inputs
    fact = Fact() if row is None else recurrence.fact(row).without_content()
    own = recurrence.state_fact
    same = place is state.argument and own.shape == recurrence.fact(state.result).shape
    if row is None or not same or node.op.references or len(fact.shape or ()) != 1:
        raise Unfit(_NO_TABLE)
    size = fact.dims[0].value
    if not size or not is_small(fact):
        raise Unfit("its rows are too large for steps, or of no fixed size")
    recurrence.require_room(fact)
    places = emit.constant(np.arange(size, dtype=np.int64), "places")
    first = emit.add("Cast", [emit.unsqueeze(places, 0, "first")], "first", to=fact.elem_type)
    tables = recurrence.feeding.every(recurrence.iterations.operand(row), "tables")
    least, most = (emit.number(end, fact.elem_type, "end") for end in (-size, size - 1))

    def join(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        # A place outside of the rows may stand where no iteration looks.
        inside = emit.clamp(early[0], least, most, "place")
        return [emit.add("GatherElements", [*late, inside], "tables", axis=1)]

    (joined,) = recurrence.prefixes(join, [emit.concat([first, tables], 0, "rows")], [fact])
    initial = recurrence.feeding.same(state.initial).value
    values = emit.add("Gather", [joined, initial], "places", axis=1)
    return _replace_looked_up(recurrence, [recurrence.feeding.after(values)], looks=True)


def _compose(axis: int) -> Callable[..., list[Value]]:
    """The composition of tables along an axis."""

    def join(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        return [emit.add("GatherElements", [*late, *early], "tables", axis=axis)]

    return join


class _Tables:
    """The tables of all iterations, one row each.

    Args:
        ranges: their values.
        keeps: true if the initial value is one more column.
        misses: the reads that may be outside of axes for a value that no run reaches.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        ranges: Sequence[Interval],
        keeps: bool,
        misses: Mapping[Node, Sequence[int]],
    ) -> None:
        self._keeps = keeps
        self._misses = misses
        self._recurrence = recurrence
        self._ranges = ranges
        self._emit = recurrence.emit
        self._shape = recurrence.fact(recurrence.states[0].initial).shape or ()
        self._axis = len(self._shape) + 1

    def rows(self) -> Value:
        """Emit the rows."""
        feeding, states = self._recurrence.feeding, self._recurrence.states
        values = itertools.product(*(range(first, last + 1) for first, last in self._ranges))
        arguments = [state.argument for state in states]
        cases = [zip(arguments, numbers, strict=True) for numbers in values]
        columns = [self._column({v: self._constant(v, n) for v, n in case}) for case in cases]
        start = {state.argument: feeding.same(state.initial) for state in states}
        after = self._column(start)
        columns += [after] * self._keeps
        first = feeding.cut(after, 0, 1)
        constant = self._emit.concat([first] * len(columns), self._axis, "first")
        table = self._emit.concat(columns, self._axis, "tables")
        return self._emit.concat([constant, feeding.after(table)], 0, "rows")

    def _constant(self, argument: Value, number: int) -> Operand:
        elem_type = self._recurrence.fact(argument).elem_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        sizes = [dim.value or 0 for dim in self._shape]
        value = self._emit.constant(np.full(sizes, number, dtype), "state")
        assert value.constant is not None
        return Operand(value, False, constant_fact(value.constant))

    def _column(self, states: Mapping[Value, Operand]) -> Value:
        """Emit the number of the next values, with an axis of size 1."""
        own, states = self._recurrence, dict(states)
        for node, sizes in self._misses.items():
            place = node.operand(1)
            (operand,) = own.iterations.replay(own.nodes, states, [place])
            states[place] = self._inside(operand, sizes)
        results = own.iterations.replay(own.nodes, states, [one.result for one in own.states])
        values = [own.iterations.feeding.every(operand, "next") for operand in results]
        code = _code(self._emit, values, self._ranges)
        if self._keeps:
            code = self._or_beyond(values[0], code)
        return self._emit.unsqueeze(code, self._axis, "column")

    def _inside(self, places: Operand, sizes: Sequence[int]) -> Operand:
        """Emit places within axes; a run that reaches another one fails, as the loop does."""
        emit, dtype = self._emit, onnx.helper.tensor_dtype_to_np_dtype(places.fact.elem_type)
        ends = np.array(sizes if len(sizes) > 1 else sizes[0], dtype)
        least, most = (emit.constant(end, "end") for end in (-ends, ends - 1))
        value = emit.clamp(places.value, least, most, "place")
        return Operand(value, places.batched, places.fact.without_content())

    def _or_beyond(self, value: Value, code: Value) -> Value:
        """Emit the number of a value, one more than all for the initial one."""
        ((first, last),), emit = self._ranges, self._emit
        elem_type = self._recurrence.fact(self._recurrence.states[0].initial).elem_type
        ends = [emit.number(end, elem_type, "end") for end in (first, last)]
        inside = emit.add(
            "And",
            [
                emit.add("GreaterOrEqual", [value, ends[0]], "inside"),
                emit.add("LessOrEqual", [value, ends[1]], "inside"),
            ],
            "inside",
        )
        beyond = emit.number(last - first + 1, _TYPES.INT32, "beyond")
        return emit.add("Where", [inside, code, beyond], "code")


def _replacement(
    recurrence: Recurrence,
    ranges: Sequence[Interval],
    joined: Value,
    facts: Sequence[Fact],
    keeps: bool,
    misses: bool,
) -> Replacement:
    """Replace states by the values in constant tables."""
    emit, types = recurrence.emit, [fact.elem_type for fact in facts]
    values = _decode(recurrence, ranges, joined, types)
    if keeps:
        beyond = emit.number(ranges[0][1] + 1, types[0], "beyond")
        flag = emit.add("Equal", [*values, beyond], "kept")
        values = [emit.add("Where", [flag, recurrence.first_row(), *values], "value")]
    return _replace_looked_up(recurrence, values, looks=misses)


def _replace_looked_up(recurrence: Recurrence, after: Sequence[Value], looks: bool) -> Replacement:
    """Replace states by their next values in all iterations.

    Args:
        looks: compute each again from those before: a read outside fails as in the loop.
    """
    rows = recurrence.from_first(after)
    rows = recurrence.from_first(recurrence.again(rows)) if looks else rows
    return replace_rows(recurrence, rows, "tables in steps of doubling distance", True)


def _decode(
    recurrence: Recurrence, ranges: Sequence[Interval], joined: Value, types: Sequence[int]
) -> list[Value]:
    """Read all values from the first column of tables, which are constant."""
    emit, feeding = recurrence.emit, recurrence.feeding
    axis = len(recurrence.fact(recurrence.states[0].initial).shape or ()) + 1
    code = emit.squeeze(feeding.cut(joined, 0, 1, axis), axis, "code")
    digits: list[Value] = []
    for first, last in ranges[:0:-1]:
        size = emit.number(last - first + 1, _TYPES.INT32, "k")
        digits.append(emit.add("Mod", [code, size], "digit"))
        code = emit.add("Div", [code, size], "code")
    values = []
    for digit, (first, _), elem_type in zip([code, *digits[::-1]], ranges, types, strict=True):
        if first:
            digit = emit.add("Add", [digit, emit.number(first, _TYPES.INT32, "k")], "value")
        values.append(emit.add("Cast", [digit], "value", to=elem_type))
    return values


def prefix_tables(
    recurrence: Recurrence, firsts: Sequence[Value], columns: Sequence[Sequence[Value]]
) -> list[Value]:
    """Emit truth values before each iteration, iterations first.

    Args:
        recurrence: the states that they belong to.
        firsts: the initial ones, one row each.
        columns: for each combination of all, the false ones first, the next ones.

    Raises:
        Unfit: tables too large for steps of doubling distance.
    """
    shape = recurrence.fact(recurrence.states[0].initial).shape or ()
    table = Fact(_TYPES.INT32, (*shape, Dimension.constant(len(columns))))
    if not is_small(table):
        raise Unfit("its tables are too large for steps")
    recurrence.require_room(table)
    emit, axis = recurrence.emit, len(shape) + 1
    ranges = [(0, 1)] * len(firsts)
    codes = [emit.unsqueeze(_code(emit, row, ranges), axis, "column") for row in (firsts, *columns)]
    first = emit.concat([codes[0]] * len(columns), axis, "first")
    rows = emit.concat([first, emit.concat(codes[1:], axis, "tables")], 0, "rows")
    (joined,) = recurrence.prefixes(_compose(axis), [rows], [table])
    types = [_TYPES.BOOL] * len(firsts)
    return _decode(recurrence, ranges, recurrence.feeding.before(joined), types)


def _code(emit: Builder, values: Sequence[Value], ranges: Sequence[Interval]) -> Value:
    """Emit the number of a combination of values, of which the last one counts fastest."""
    code = None
    for value, (first, last) in zip(values, ranges, strict=True):
        digit = emit.add("Cast", [value], "digit", to=_TYPES.INT32)
        if first:
            digit = emit.add("Sub", [digit, emit.number(first, _TYPES.INT32, "k")], "digit")
        if code is not None:
            size = emit.number(last - first + 1, _TYPES.INT32, "k")
            digit = emit.add("Add", [emit.add("Mul", [code, size], "code"), digit], "code")
        code = digit
    assert code is not None
    return code


# Values that a state may have --------------------------------------------------------------------


def _closed(recurrence: Recurrence) -> tuple[list[Interval], bool, dict[Node, list[int]]]:
    """The values of each state from the first iteration on.

    Returns:
        their intervals, true if a single state may keep its initial value as well, and the reads
        that may be outside of axes, with the sizes of these.

    Raises:
        Unfit: no few values.
    """
    intervals = Intervals(recurrence)
    flags = intervals.flags()
    flags = flags if len(flags) <= _MOST_FLAGS else []
    worlds = [dict(zip(flags, ends, strict=True)) for ends in _products([(0, 1)] * len(flags))]
    # From the tightest start to the widest: constants, any next value, a kept initial value.
    starts = [intervals.begins(), intervals.next(intervals.limits)]
    starts += [] if intervals.are_floats else [intervals.replaced()]
    for index, ranges in enumerate(starts):
        while ranges is not None and _count(ranges) <= _MOST:
            intervals.misses.clear()
            values = _products(ranges)
            after = [intervals.next(value, world) for value in values for world in worlds]
            whole = [hull(ends) for ends in zip(ranges, *after, strict=True)]
            if whole == ranges:
                if index:
                    intervals.next(intervals.limits)
                return ranges, index == 2, intervals.misses
            ranges = whole
    raise Unfit(f"it may have more than {_MOST}")


def _products(ranges: Sequence[Interval]) -> list[list[Interval]]:
    """All combinations of numbers, as intervals of one number each."""
    numbers = [[(n, n) for n in range(first, last + 1)] for first, last in ranges]
    return [list(each) for each in itertools.product(*numbers)]


def _count(ranges: Sequence[Interval]) -> int:
    return math.prod(last - first + 1 for first, last in ranges)
