"""Scan 8 and 9+: a Scan 8 is one Scan for each element of its batch, as long as its row is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ....reference.bodies import label
from ..budget import OpenError
from ..obligations import IS_PART, IS_SIZE, Guard
from ..simplify.choosing import choose
from ..simplify.filling import padded_to, zeros
from .recurrences import Recurrence, recur
from .registry import construct
from .rows import Scan, row
from .stacks import empty_stack, nothing, stack, trips_of

if TYPE_CHECKING:
    from ..compile_graph import Program, Step
    from ..symbolic_execution import Execution, Frame, Value
    from ..term_manager import Terms
    from ..terms import Term


@construct("Scan")
def run_scan(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Scan (operator specification, versions 8 to 25)."""
    if step.head.opset == 8:
        return _scan_8(execution, step, args, frame)
    count = step.head.attribute("num_scan_inputs")
    given = [arg for arg in args if arg is not None]
    if len(given) != len(args) or len(args) < count:
        raise OpenError(f"{label(step.node)} lacks an input")
    states, scanned = given[: len(given) - count], given[len(given) - count :]
    scan = Scan(execution, step, frame, states, scanned)
    return scan.run()


def _scan_8(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Scan 8: each element of the batch on its own, for its own length."""
    terms, body = execution.terms, step.bodies["body"]
    lengths, *rest = args
    given = [value for value in rest if value is not None]
    count = step.head.attribute("num_scan_inputs")
    states, scanned = given[: len(given) - count], given[len(given) - count :]
    batch, longest = trips_of(scanned[0].fact, 0).value, trips_of(scanned[0].fact, 1).value
    if len(given) != len(rest):
        raise OpenError(f"{label(step.node)} lacks an input")
    if lengths is not None and len(lengths.fact.shape or ()) != 1:
        raise OpenError(f"{label(step.node)}: lengths that are not known to be a vector")
    trips = terms.numbers(lengths)
    if batch is None or longest is None or (lengths is not None and trips is None):
        return _row_by_row(execution, step, frame, lengths, states, scanned)
    total = batch * longest if trips is None else sum(trips)
    padded = max(batch, total, batch * longest)  # a row that has ended takes room, too
    if not terms.runs_loop(padded, len(body.steps)):
        return _row_by_row(execution, step, frame, lengths, states, scanned)
    trips = [longest] * batch if trips is None else trips
    flags = list(step.head.attribute("directions") or [0] * count)
    call = execution.bound(body, frame)
    finals, rows = [], []
    for b, length in enumerate(trips):
        place = Dimension.constant(b)
        values, elements = _one_row(terms, call, states, scanned, place, (length, flags))
        finals.append(values)
        rows.append(elements)
    stacked = [
        stack(terms, [f[k] for f in finals], step.head) if finals else state
        for k, state in enumerate(states)
    ]
    sample = [_inner(state.fact, 1) for state in states] + [_inner(x.fact, 2) for x in scanned]
    empty = functools.partial(nothing, terms, body, sample=sample, captured={})
    return [*stacked, *_padded(execution, step, rows, longest, len(states), empty)]


def _one_row(
    terms: Terms,
    call: Callable[[Sequence[Value]], list[Value]],
    states: Sequence[Term],
    scanned: Sequence[Term],
    number: Dimension,
    trips: tuple[int, Sequence[int]],
) -> tuple[list[Value], list[list[Value]]]:
    """The final states of one element of the batch, and the elements that each trip gives; of the
    trips there are told their number, and which inputs are read backward."""
    values: list[Value] = [row(terms, state, 0, number) for state in states]
    elements, (length, backward) = [], trips
    for trip in range(length):
        places = [length - 1 - trip if flag else trip for flag in backward]
        read = [
            row(terms, row(terms, x, 0, number), 0, Dimension.constant(place))
            for x, place in zip(scanned, places, strict=True)
        ]
        results = call([*values, *read])
        values = results[: len(states)]
        elements.append(results[len(states) :])
    return values, elements


def _row_by_row(
    execution: Execution,
    step: Step,
    frame: Frame,
    lengths: Term | None,
    states: list[Term],
    scanned: list[Term],
) -> Sequence[Value]:
    """Scan 8 of a batch, a length or lengths that run time tells: for each element of the batch a
    Scan along the axis behind it."""
    terms, body = execution.terms, step.bodies["body"]
    known = [trips_of(term.fact, 0) for term in (*scanned, *states)]
    batch = next((size for size in known if size.value is not None), known[0])

    def one(place: Dimension) -> list[Value]:
        rows = [[row(terms, x, 0, place) for x in part] for part in (states, scanned)]
        if lengths is not None:
            own = row(terms, lengths, 0, place)
            return _of_length(execution, step, frame, own, rows[0], rows[1])
        return list(Scan(execution, step, frame, rows[0], rows[1]).run())

    if batch.value and terms.runs_loop(batch.value, len(body.steps)):
        made = [one(Dimension.constant(b)) for b in range(batch.value)]
        columns = zip(*made, strict=True)
        return [None if c[0] is None else stack(terms, c, step.head) for c in columns]
    sample = [_inner(s.fact, 1) for s in states] + [_inner(x.fact, 2) for x in scanned]
    empty = functools.partial(
        _empty_row, terms, body, sample, len(states), trips_of(scanned[0].fact, 1)
    )
    if batch.value == 0:
        return [empty_stack(terms, empty(k)) for k in range(len(body.outputs))]
    always = terms.constant(np.array(True))
    return recur(
        Recurrence(
            execution,
            trips=batch,
            limit=terms.size(batch),
            condition=None,
            inits=[],
            trip=lambda index, _: (always, one(index)),
            read=step.read,
            empty=empty,
            step=step,
        )
    )


def _empty_row(
    terms: Terms, body: Program, sample: list[Fact], states: int, length: Dimension, output: int
) -> Fact:
    """What an output of one element of the batch is, where there is none."""
    if output < states:
        return sample[output]
    inner = nothing(terms, body, output, sample=sample, captured={})
    return Fact(inner.elem_type, (length, *(inner.shape or ())))


def _of_length(
    execution: Execution,
    step: Step,
    frame: Frame,
    own: Term,
    states: list[Term],
    scanned: list[Term],
) -> list[Value]:
    """A row of which only run time tells the length: the Scan of what is in front, with zeros
    behind its scan outputs. Of a row without elements the states stay as they were.

    That a length is below 0, or above that of all, need not be asked: such a Scan fails.
    """
    terms, body = execution.terms, step.bodies["body"]
    known = [trips_of(x.fact, 0) for x in scanned]
    longest = next((n for n in known if n.value is not None), known[0])
    cut = [terms.narrow(x, 0, 0, terms.size_of(own)) for x in scanned]
    results = Scan(execution, step, frame, states, cut).run()
    sample = [term.fact for term in states] + [_inner(x.fact, 1) for x in scanned]
    flag = terms.op("Cast", step.head, terms.view(own, (ONE,)), to=onnx.TensorProto.BOOL)
    holds = terms.view(flag, ())
    _demand_length(execution, step, own, holds, [terms.size(longest), *cut])
    made: list[Value] = []
    for k, result in enumerate(results):
        if result is None:
            made.append(None)
        elif k < len(states):
            made.append(choose(terms, holds, result, states[k]))
        else:
            blank = nothing(terms, body, k, sample=sample, captured={}).shape or ()
            if result.fact.shape is None or result.fact.shape[1:] != blank:
                raise OpenError(f"{label(step.node)} pads elements of a size that run time tells")
            zero = zeros(terms, result.fact.elem_type, (longest, *blank))
            made.append(choose(terms, holds, padded_to(terms, result, longest), zero))
    return made


def _demand_length(
    execution: Execution, step: Step, own: Term, holds: Term, parts: list[Term]
) -> None:
    """Demand that the length of a row is one, unless it is 0.

    Args:
        execution: what runs the Scan.
        step: its node.
        own: the length.
        holds: whether it is not 0.
        parts: the largest length, and what is in front of so many elements.
    """
    terms, around = execution.terms, execution.guards
    longest, *cut = parts
    vectors = [terms.view(size, (ONE,)) for size in (longest, own)]
    rest = terms.op("Sub", step.head, *vectors)
    execution.guards = (*around, Guard(("if", holds, True), condition=holds))
    for size in (own, rest):
        execution.demand(terms.heads.own(IS_SIZE), (terms.view(size, ()),), step)
    for part in cut:
        execution.demand(terms.heads.own(IS_PART), (part,), step)
    execution.guards = around


def _inner(fact: Fact, axes: int) -> Fact:
    return Fact(fact.elem_type, None if fact.shape is None else fact.shape[axes:])


def _padded(
    execution: Execution,
    step: Step,
    rows: list[list[list[Value]]],
    longest: int,
    states: int,
    empty: Callable[[int], Fact],
) -> list[Term]:
    """Scan outputs of all rows, zeros where a row has ended."""
    terms, outputs = execution.terms, []
    for k in range(len(step.bodies["body"].outputs) - states):
        made = [element[k] for row in rows for element in row]
        fact = made[0].fact if made and made[0] is not None else empty(states + k)
        if not rows or not longest:
            sizes = (Dimension.constant(len(rows)), Dimension.constant(longest))
            outputs.append(terms.void(Fact(fact.elem_type, (*sizes, *(fact.shape or ())))))
            continue
        blank = None if all(len(row) == longest for row in rows) else _zeros(terms, step, fact)
        full = [
            stack(terms, [*(e[k] for e in row), *[blank] * (longest - len(row))], step.head)
            for row in rows
        ]
        outputs.append(stack(terms, full, step.head))
    return outputs


def _zeros(terms: Terms, step: Step, fact: Fact) -> Term:
    if not fact.elem_type:
        raise OpenError(f"{label(step.node)} pads elements of a type that is not known")
    if fact.shape is None or any(dim.value is None for dim in fact.shape):
        raise OpenError(f"{label(step.node)} pads elements of a size that run time tells")
    if not fact.elem_type:
        raise OpenError(f"{label(step.node)} pads elements of an unknown type")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    shape = [dim.value or 0 for dim in fact.shape]
    return terms.constant(np.full(shape, "" if dtype.kind in "OUS" else 0, dtype))
