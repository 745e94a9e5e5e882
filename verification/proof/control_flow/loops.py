"""Loop: run by its definition where the trip count is known, else a recurrence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact, element
from ....facts.polynomial import Dimension
from ....ir.lazy import lazy_property
from ....reference.bodies import label
from ....reference.errors import EvaluationError
from ....reference.signature import is_static
from ..arithmetic.trip_counts import not_negative
from ..execution.compile_graph import ABSENT, Program, Step
from ..execution.symbolic_execution import Execution, Frame, Value, construct
from ..terms.budget import OpenError
from ..terms.facts import is_empty
from ..terms.term import Term
from .branches import BOOL, require_one, truth
from .recurrences import Recurrence, ask_once, recur
from .scan_outputs import declared_element, empty_stack, reader_of, require_same, stack

INT64 = onnx.TensorProto.INT64

_ITERATION = 8
"""Steps of an iteration, besides those of its nodes."""

MOST_TRIED = 40_000
"""Steps that a search for the end of a loop may take, if only its condition ends it."""


@construct("Loop")
def run_loop(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Loop (operator specification, versions 1 to 25), in every input mode."""
    limit, condition, *carried = (*args, None, None)[: max(len(args), 2)]
    terms, body = execution.terms, step.bodies["body"]
    run = execution.closure(body, frame)
    for value, elem_type in ((limit, INT64), (condition, BOOL)):
        if value is not None:
            require_one(execution, step, value, elem_type)
    if limit is not None and limit.fact.shape is not None:
        limit = terms.view(limit, ())
    # onnxruntime ends such a loop by the body's condition, which the specification ignores.
    if condition is None and limit is not None and terms.heeds_condition:
        condition = terms.constant(np.array(True))
    numbers = terms.numbers(limit)
    number = numbers[0] if numbers else limit and most_iterations(execution, limit).value
    keep = True if condition is None else truth(execution, _scalar(execution, condition))
    iterations = None if number is None else max(number, 0)
    small = iterations is not None and terms.runs_loop(iterations, body.weight)
    if keep is False or iterations == 0:
        return _stack(execution, step, run, carried, [])
    if keep and (small or limit is None or (iterations is not None and condition is not None)):
        start = len(execution.log)
        outputs = _iterate(
            execution, step, run, (iterations, small), condition is not None, carried
        )
        if outputs is not None:
            return outputs
        execution.forget(start)
    if keep is None and limit is not None and condition is not None:
        count = terms.iterations_if(
            _scalar(execution, condition), most_iterations(execution, limit)
        )
        if count.value == 0:
            return _stack(execution, step, run, carried, [])
    return _symbolic(execution, step, run, limit, condition, carried)


def _scalar(execution: Execution, condition: Term) -> Term:
    if condition.fact.shape is None:
        return condition
    return execution.terms.view(condition, ())


Run = Callable[[Sequence["Value"]], "list[Value]"]


def _iterate(
    execution: Execution,
    step: Step,
    run: Run,
    count: tuple[int | None, bool],
    conditional: bool,
    carried: Sequence[Value],
) -> Sequence[Value] | None:
    """Outputs by execution of each iteration. None if only run time determines whether there is
    another one, or there are too many."""
    iterations, small = count
    terms, values = execution.terms, list(carried)
    body = step.bodies["body"]
    elements: list[list[Value]] = []
    # A body may declare its iteration number and condition as [1] instead of scalars.
    index = _ones(one_of(body, 0))
    keep: Value = terms.constant(np.full(one_of(body, 1), True))
    iteration, steps = 0, terms.budget.steps
    while iterations is None or iteration < iterations:
        keep, *rest = run([terms.view(terms.size(iteration), index), keep, *values])
        values = rest[: len(carried)]
        elements.append(rest[len(carried) :])
        iteration += 1
        terms.budget.step(_ITERATION)
        # Nodes, as in `runs_loop`: the steps of a node depend on what is new about it.
        is_long = not small and not terms.runs_loop(iteration, body.weight)
        if is_long or (not small and steps - terms.budget.steps > MOST_TRIED):
            return None
        assert keep is not None
        require_one(execution, step, keep)
        holds = truth(execution, _scalar(execution, keep))
        if holds is None and (conditional and iteration != iterations):
            return None
        if not conditional and holds is not True:
            terms.has_two_readings = True
        if conditional and holds is False:
            break
    return _stack(execution, step, run, values, elements)


def one_of(body: Program, index: int) -> tuple[int, ...]:
    """Shape of a body's iteration number or condition, as declared."""
    assert isinstance(body.proto, onnx.GraphProto)
    name = body.names[index]
    tensor = next(info for info in body.proto.input if info.name == name).type.tensor_type
    return (1,) * (len(tensor.shape.dim) if tensor.HasField("shape") else 0)


def _stack(
    execution: Execution, step: Step, run: Run, values: Sequence[Value], elements: list[list[Value]]
) -> list[Value]:
    body = step.bodies["body"]
    outputs = list(values)
    first = 1 + len(values)
    read, untouched = step.read, EmptyScanOutputs(execution, step, run)
    for k in range(len(body.outputs) - first):
        if len(values) + k not in read:
            outputs.append(None)
        elif elements:
            elements_of_iteration = [iteration[k] for iteration in elements]
            require_same(execution, step, elements_of_iteration)
            outputs.append(stack(execution.terms, elements_of_iteration, step.head))
        else:
            outputs.append(empty_stack(execution.terms, untouched.of(len(values) + k)))
    return outputs


class EmptyScanOutputs:
    """Elements of the scan outputs of a Loop without an iteration.

    A size is a number if the body declares it and inference does not contradict, or if onnx's plain
    shape inference finds it, with which all runtimes begin. Else it is 0 if the proof finds no
    number either, for any initial states. Any other size is unknown: it depends on how much of the
    model a runtime folds while it loads it.

    Args:
        step: the Loop.
        run: the closure of the body.
    """

    def __init__(self, execution: Execution, step: Step, run: Run) -> None:
        self._execution, self._step, self._run = execution, step, run

    def of(self, k: int) -> Fact:
        """Element of a scan output.

        Args:
            k: index of the output.

        Raises:
            OpenError: runtimes may differ.
        """
        index, step, types = 1 + k, self._step, self._execution.element_types
        declared = declared_element(step.bodies["body"], index)
        inferred = None if types is None else types.of(step.node, index)
        is_sure = inferred is None or is_static(inferred)  # else inference contradicts it
        if declared is not None and not is_empty(declared) and is_sure:
            return declared
        reader = reader_of(step.bodies["body"])
        try:
            if inferred is None:
                inferred = reader.inferred(index)
            elem_type, _ = reader.completed(index, inferred)
        except EvaluationError:
            elem_type = self._in_body[index].elem_type
        if not elem_type:
            raise OpenError(f"{label(step.node)}: its type is unknown if there is no iteration")
        sizes = [] if inferred is None else [dim.dim_value for dim in inferred.shape.dim]
        shape = () if all(sizes) else self._in_body[index].shape
        if all(sizes):
            return Fact(elem_type, tuple(map(Dimension.constant, sizes)))
        if shape is None or len(shape) != len(sizes):
            raise OpenError(
                f"{label(step.node)}: without an iteration runtimes may give its scan output"
                " other sizes"
            )
        fresh = self._execution.terms.symbols.fresh
        pairs = zip(sizes, shape, strict=True)
        dims = [
            fresh() if dim.value and not number else Dimension.constant(number)
            for number, dim in pairs
        ]
        return Fact(elem_type, tuple(dims))

    @lazy_property
    def _in_body(self) -> list[Fact]:
        """Facts of the outputs of the body, from the declarations of its states alone."""
        execution, step = self._execution, self._step
        terms, body = execution.terms, step.bodies["body"]
        terms.symbols.depth += 1
        start, around = len(execution.log), execution.is_untouched
        execution.is_untouched = True
        try:
            inputs = reader_of(body).inputs
            facts = [terms.symbols.fact(info.type) for info in inputs]
            leaves: list[Value] = [
                terms.leaf("bound", (execution.level, "untouched", k, step.node.output[0]), fact)
                for k, fact in enumerate(facts)
            ]
            outputs = self._run(leaves)
        finally:
            terms.symbols.depth -= 1
            execution.is_untouched = around
            execution.forget(start)
        if any(terms.contains(output, "drawn") for output in outputs if output is not None):
            raise OpenError(
                f"{label(step.node)}: without an iteration its sizes depend on an unknown operator"
            )
        return [Fact() if value is None else value.fact for value in outputs]


def _symbolic(
    execution: Execution,
    step: Step,
    run: Run,
    limit: Value,
    condition: Value,
    carried: Sequence[Value],
) -> list[Value]:
    """Outputs as terms over the iterations, of any number."""
    terms, body = execution.terms, step.bodies["body"]
    if condition is None and limit is None:
        raise OpenError(f"{label(step.node)} has neither a trip count nor a condition")
    shapes = one_of(body, 0), one_of(body, 1)
    goes_on = condition is None and _reads_condition(body)
    if any(value is None for value in carried):
        raise OpenError(f"{label(step.node)} has an absent initial value")

    def iteration(index: Dimension, states: Sequence[Term]) -> tuple[Term, list[Value]]:
        number = terms.view(terms.size(index), _ones(shapes[0]))
        keep = terms.constant(np.full(shapes[1], True))
        next_condition, *rest = run([number, keep, *states])
        assert next_condition is not None
        require_one(execution, step, next_condition)
        # Each iteration but the first reads the condition of the one before.
        if goes_on and not terms.holds(next_condition):
            raise OpenError(
                f"the body of {label(step.node)} reads a condition that does not end it"
            )
        return _scalar(execution, next_condition), rest

    iterations = None if limit is None else most_iterations(execution, limit)
    loop = Recurrence(
        execution,
        iterations=iterations,
        condition=condition and _scalar(execution, condition),
        inits=[value for value in carried if value is not None],
        iteration=iteration,
        empty=EmptyScanOutputs(execution, step, run).of,
        step=step,
    )
    if (
        loop.condition is not None
        and iterations is not None
        and iterations != 0
        and _goes_on(execution, body)
    ):
        loop = ask_once(loop, loop.condition, iterations)
    return recur(loop)


def _reads_condition(body: Program) -> bool:
    """Test for a body that computes with the condition of the iteration before."""
    place = body.inputs[1]
    return place in body.outputs or any(
        place in step.inputs
        or any(place == outer for each in step.bodies.values() for outer, _ in each.captures)
        for step in body.steps
    )


def _goes_on(execution: Execution, body: Program) -> bool:
    """Test whether a body passes its condition on, which holds, or a constant that holds."""
    makers = {place: step for step in body.steps for place in step.outputs if place != ABSENT}
    place, constants = body.outputs[0], dict(body.constants)
    while place in makers and makers[place].operation.head is not None:
        if makers[place].operation.op_type != "Identity":
            return False
        (place,) = makers[place].inputs
    if place in constants:
        return execution.terms.holds(execution.constant(constants[place]))
    return place == body.inputs[1]


def _ones(shape: tuple[int, ...]) -> tuple[Dimension, ...]:
    return tuple([Dimension.constant(n) for n in shape])


def most_iterations(execution: Execution, limit: Term) -> Dimension:
    """Trip count of a limit: 0 if it is negative."""
    content: Dimension | None = element(limit.fact)
    if content is not None and content.less(0) is False:
        return content
    return not_negative(execution.terms, limit)
