"""SequenceMap: its body on each element if these are known, else on any element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....reference.bodies import label
from ..arithmetic.trip_counts import not_negative
from ..execution.compile_graph import Step
from ..execution.symbolic_execution import Execution, Frame, Value, construct
from ..simplify.sequences import append, elements_of, empty_chain
from ..terms.budget import OpenError
from ..terms.term import Term
from .recurrences import recur_over

Call = Callable[["Sequence[Value]"], "list[Value]"]


@construct("SequenceMap")
def run_sequence_map(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """SequenceMap (17): the body on each element of the first sequence. Elements of further
    sequences, of equal length, and tensors come with it."""
    if any(arg is None or not (arg.fact.elem_type or arg.fact.other) for arg in args):
        raise OpenError(f"{label(step.node)} maps a value that may not be a sequence")
    elements = elements_of(execution.terms, args[0])
    body = step.bodies["body"]
    call = execution.closure(body, frame)
    if elements is None or not execution.terms.runs_loop(len(elements), len(body.steps)):
        return _any_element(execution, step, args, call)
    terms, chains = execution.terms, _empty(execution, step)
    for number in range(len(elements)):
        results = call(_at(execution, step, args, Dimension.constant(number)))
        for k, element in enumerate(results):
            assert element is not None
            if not number and element.fact.elem_type:
                chains[k] = empty_chain(terms, element.fact.elem_type)
            chains[k] = append(terms, chains[k], element)
    return list(chains)


def _any_element(
    execution: Execution, step: Step, args: tuple[Value, ...], call: Call
) -> list[Value]:
    """Outputs of a loop that appends one element on each iteration, as onnx's function."""
    terms, head = execution.terms, step.head
    iterations = not_negative(terms, terms.op("SequenceLength", head, args[0]))

    def body(index: Dimension, states: Sequence[Term]) -> list[Value]:
        results = call(_at(execution, step, args, index))
        pairs = zip(states, results, strict=True)
        return [terms.op("SequenceInsert", head, *pair) for pair in pairs]

    def empty(output: int) -> Fact:
        raise OpenError(f"{label(step.node)} has no scan output {output}")

    return recur_over(execution, step, iterations, _empty(execution, step), body, empty)


def _at(
    execution: Execution, step: Step, args: tuple[Value, ...], number: Dimension
) -> list[Value]:
    """Inputs of the body for the elements at an index."""
    terms, head = execution.terms, step.head
    place = terms.size(number)
    for arg in args[1:]:
        if arg is not None and not arg.fact.elem_type:
            execution.demand(terms.heads.like("SequenceAt", head), (arg, place), step)
    return [
        arg if arg is None or arg.fact.elem_type else terms.op("SequenceAt", head, arg, place)
        for arg in args
    ]


def _empty(execution: Execution, step: Step) -> list[Term]:
    outputs = step.bodies["body"].proto.output
    types = [info.type.tensor_type.elem_type for info in outputs]
    return [empty_chain(execution.terms, elem_type) for elem_type in types]
