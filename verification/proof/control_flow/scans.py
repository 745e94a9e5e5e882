"""Scan 8 and 9+: a Scan 8 is one Scan for each element of its batch."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ....reference.bodies import label
from ..execution.compile_graph import Step
from ..execution.obligations import IS_PART, IS_SIZE, SAME_SIZES, Guard
from ..execution.symbolic_execution import Execution, Frame, Value, construct
from ..simplify.padding import pad_to, zeros
from ..simplify.select import choose
from ..simplify.slices import backward
from ..terms.budget import OpenError
from ..terms.term import Term
from ..terms.term_manager import Terms
from .recurrences import recur_over
from .scan_outputs import empty_element, empty_stack, iterations_of, require_same, stack


@construct("Scan")
def run_scan(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Scan (operator specification, versions 8 to 25)."""
    first = 1 if step.head.opset == 8 else 0  # the lengths
    count = step.head.attribute("num_scan_inputs")
    operands = [arg for arg in args[first:] if arg is not None]
    if len(operands) != len(args) - first or len(operands) < count:
        raise OpenError(f"{label(step.node)} lacks an input")
    states, scanned = operands[: len(operands) - count], operands[len(operands) - count :]
    if first:
        return _scan_8(execution, step, frame, args[0], states, scanned)
    return Scan(execution, step, frame, states, scanned).run()


def _scan_8(
    execution: Execution,
    step: Step,
    frame: Frame,
    lengths: Term | None,
    states: list[Term],
    scanned: list[Term],
) -> Sequence[Value]:
    """Scan 8: one Scan for each element of the batch, over its own length."""
    terms, body = execution.terms, step.bodies["body"]
    if lengths is not None and len(lengths.fact.shape or ()) != 1:
        raise OpenError(f"{label(step.node)}: its lengths may not be a vector")
    sizes = [iterations_of(term.fact, 0) for term in (*scanned, *states)]
    batch = next((size for size in sizes if size.value is not None), sizes[0])
    batches = {*sizes, *([] if lengths is None else [iterations_of(lengths.fact, 0)])}
    if len(batches) > 1:
        each = tuple(map(terms.size, sorted(batches, key=str)))
        execution.demand(terms.heads.own(SAME_SIZES), each, step)

    def one(place: Dimension) -> list[Value]:
        rows = [[row(terms, x, 0, place) for x in part] for part in (states, scanned)]
        if lengths is not None:
            own = row(terms, lengths, 0, place)
            return _of_length(execution, step, frame, own, rows[0], rows[1])
        return list(Scan(execution, step, frame, rows[0], rows[1]).run())

    if batch.value and terms.runs_loop(batch.value, len(body.steps)):
        scanned_rows = [one(Dimension.constant(b)) for b in range(batch.value)]
        columns = zip(*scanned_rows, strict=True)
        return [None if c[0] is None else stack(terms, c, step.head) for c in columns]
    sample = [_inner(s.fact, 1) for s in states] + [_inner(x.fact, 2) for x in scanned]
    length = iterations_of(scanned[0].fact, 1)

    def empty(output: int) -> Fact:
        if output < len(states):
            return sample[output]
        inner = empty_element(terms, body, output, sample, frame)
        return Fact(inner.elem_type, (length, *(inner.shape or ())))

    if batch.value == 0:
        return [empty_stack(terms, empty(k)) for k in range(len(body.outputs))]
    return recur_over(execution, step, batch, [], lambda index, _: one(index), empty)


def _of_length(
    execution: Execution,
    step: Step,
    frame: Frame,
    own: Term,
    states: list[Term],
    scanned: list[Term],
) -> list[Value]:
    """Row whose length only run time determines: a Scan of its prefix, padded with zeros. Without
    elements the states stay.

    That a length is below 0, or above that of all, need not be asked: such a Scan fails.
    """
    terms, body = execution.terms, step.bodies["body"]
    lengths = [iterations_of(x.fact, 0) for x in scanned]
    longest = next((n for n in lengths if n.value is not None), lengths[0])
    numbers = terms.numbers(own)
    size = Dimension.constant(numbers[0]) if numbers else terms.size_of(own)
    cut = [terms.narrow(x, 0, 0, size) for x in scanned]
    results = Scan(execution, step, frame, states, cut).run()
    sample = [term.fact for term in states] + [_inner(x.fact, 1) for x in scanned]
    flag = terms.op("Cast", step.head, terms.view(own, (ONE,)), to=onnx.TensorProto.BOOL)
    holds = terms.view(flag, ())
    if not numbers:
        _demand_length(execution, step, own, holds, [terms.size(longest), *cut])
    outputs: list[Value] = []
    for k, result in enumerate(results):
        if result is None:
            outputs.append(None)
        elif k < len(states):
            outputs.append(choose(terms, holds, result, states[k]))
        else:
            blank = empty_element(terms, body, k, sample, frame).shape or ()
            if result.fact.shape is None or result.fact.shape[1:] != blank:
                raise OpenError(f"{label(step.node)} pads elements of run-time size")
            elem_type = result.fact.elem_type
            if numbers:
                rest = zeros(terms, elem_type, (longest - size, *blank))
                outputs.append(terms.op("Concat", step.head, result, rest, axis=0))
                continue
            zero = zeros(terms, elem_type, (longest, *blank))
            outputs.append(choose(terms, holds, pad_to(terms, result, longest), zero))
    return outputs


def _demand_length(
    execution: Execution, step: Step, own: Term, holds: Term, parts: list[Term]
) -> None:
    """Demand that the length of a row is within bounds, unless it is 0.

    Args:
        execution: what runs the Scan.
        own: the length.
        holds: whether it is not 0.
        parts: the largest length, and the prefixes of that many elements.
    """
    terms, around = execution.terms, execution.guards
    longest, *cut = parts
    vectors = [terms.view(size, (ONE,)) for size in (longest, own)]
    rest = terms.op("Sub", step.head, *vectors)
    execution.guards = (*around, Guard.of_branch(holds, True))
    for size in (own, rest):
        execution.demand(terms.heads.own(IS_SIZE), (terms.view(size, ()),), step)
    for part in cut:
        execution.demand(terms.heads.own(IS_PART), (part,), step)
    execution.guards = around


def _inner(fact: Fact, axes: int) -> Fact:
    return Fact(fact.elem_type, None if fact.shape is None else fact.shape[axes:])


_NAMES_IN_8 = {"scan_input_directions": "directions"}


class Scan:
    """Scan of version 9 or later, or one row of a Scan 8.

    Args:
        frame: the frame around it.
    """

    def __init__(
        self,
        execution: Execution,
        step: Step,
        frame: Frame,
        states: list[Term],
        scanned: list[Term],
    ) -> None:
        self.execution, self.step, self.frame = execution, step, frame
        self.states, self.scanned = states, scanned
        self.terms = execution.terms
        self.body = step.bodies["body"]
        self.call = execution.closure(self.body, frame)
        self.outputs = len(self.body.outputs) - len(states)
        self.axes = [
            self._axis(axis, len(x.fact.shape or (0,)))
            for axis, x in zip(self._list("scan_input_axes", len(scanned)), scanned, strict=True)
        ]
        self.backward = self._list("scan_input_directions", len(scanned))
        self.output_axes = self._list("scan_output_axes", self.outputs)
        self.output_backward = self._list("scan_output_directions", self.outputs)
        lengths = [iterations_of(x.fact, axis) for x, axis in zip(scanned, self.axes, strict=True)]
        different = tuple(dict.fromkeys(lengths))
        if len(different) > 1:
            sizes = tuple(map(self.terms.size, different))
            execution.demand(self.terms.heads.own(SAME_SIZES), sizes, step)
        # Where the Scan runs all lengths are equal, and a known one says most.
        self.length = next((n for n in lengths if n.value is not None), lengths[0])

    def _list(self, name: str, count: int) -> list[int]:
        if self.step.head.opset == 8:
            name = _NAMES_IN_8.get(name, "")
        listed = list(self.step.head.attribute(name) or [0] * count)
        if len(listed) != count:
            raise OpenError(f"{label(self.step.node)}: {name} does not fit")
        return listed

    def _axis(self, axis: int, rank: int) -> int:
        """Axis counted from the front."""
        if not -rank <= axis < rank:
            raise OpenError(f"{label(self.step.node)} has no axis {axis} of {rank}")
        return axis % rank

    def run(self) -> Sequence[Value]:
        """Outputs of the Scan."""
        iterations = self.length.value
        if iterations is None or not self.terms.runs_loop(iterations, self.body.weight):
            return self._symbolic()
        values: list[Value] = list(self.states)
        elements: list[list[Value]] = []
        for iteration in range(iterations):
            results = self._iteration(values, Dimension.constant(iteration))
            values = results[: len(self.states)]
            elements.append(results[len(self.states) :])
        return [*values, *(self._output(k, elements) for k in range(self.outputs))]

    def _iteration(self, states: Sequence[Value], iteration: Dimension) -> list[Value]:
        """Outputs of the body on one iteration; its states must keep their shapes."""
        elements = [
            row(self.terms, x, axis, self.length - 1 - iteration if back else iteration)
            for x, axis, back in zip(self.scanned, self.axes, self.backward, strict=True)
        ]
        results = self.call([*states, *elements])
        for state, update in zip(states, results, strict=False):
            require_same(self.execution, self.step, [state, update])
        return results

    def _output(self, k: int, elements: list[list[Value]]) -> Term:
        if not elements:
            element = self._empty(len(self.states) + k)
            return empty_stack(
                self.terms, element, self._axis(self.output_axes[k], len(element.shape or ()) + 1)
            )
        column = [iteration[k] for iteration in elements]
        require_same(self.execution, self.step, column)
        shape = None if column[0] is None else column[0].fact.shape
        if shape is None:
            raise OpenError(f"{label(self.step.node)} has scan outputs of unknown rank")
        axis = self._axis(self.output_axes[k], len(shape) + 1)
        # Direction 1 puts each element before the earlier ones (Scan, scan_output_directions).
        ordered = column[::-1] if self.output_backward[k] else column
        return stack(self.terms, ordered, self.step.head, axis)

    def _empty(self, output: int) -> Fact:
        sample = [state.fact for state in self.states]
        for x, axis in zip(self.scanned, self.axes, strict=True):
            shape = x.fact.shape or ()
            sample.append(Fact(x.fact.elem_type, shape[:axis] + shape[axis + 1 :]))
        return empty_element(self.terms, self.body, output, sample, self.frame)

    def _symbolic(self) -> Sequence[Value]:
        results = recur_over(
            self.execution,
            self.step,
            self.length,
            self.states,
            lambda index, states: self._iteration(states, index),
            self._empty,
        )
        count = len(self.states)
        moved = [self._transpose(k, results[count + k]) for k in range(self.outputs)]
        return [*results[:count], *moved]

    def _transpose(self, k: int, stacked: Value) -> Value:
        """Scan output in its direction and along its axis."""
        if stacked is None:
            return None
        if self.output_backward[k]:
            if stacked.fact.shape is None:
                raise OpenError(f"{label(self.step.node)} has scan outputs of unknown rank")
            stacked = backward(self.terms, stacked, 0)
        if self.output_axes[k] == 0:
            return stacked
        if stacked.fact.shape is None:
            raise OpenError(f"{label(self.step.node)} has scan outputs of unknown rank")
        rank = len(stacked.fact.shape)
        axis = self._axis(self.output_axes[k], rank)
        perm = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        return self.terms.op("Transpose", self.step.head, stacked, perm=perm)


def row(terms: Terms, x: Term, axis: int, place: Dimension) -> Term:
    """Element of a tensor at an index of an axis, without that axis."""
    part = terms.narrow(x, axis, place, 1)
    return terms.view(part, x.shape[:axis] + x.shape[axis + 1 :])
