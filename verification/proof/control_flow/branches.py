"""If: the branch whose condition is decided, or a choice between the outputs of both."""

from collections.abc import Sequence

import onnx

from ..execution.compile_graph import Program, Step
from ..execution.obligations import ONE_ELEMENT, Guard
from ..execution.symbolic_execution import Execution, Frame, Value, construct
from ..simplify.select import choose
from ..terms.budget import OpenError
from ..terms.term import Term

BOOL = onnx.TensorProto.BOOL


@construct("If")
def run_if(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """If (operator specification): each branch runs under its condition."""
    (test,) = args
    assert test is not None
    terms = execution.terms
    shape = test.fact.shape
    require_one(execution, step, test)
    condition = test if shape is None else terms.view(test, ())
    holds = truth(execution, condition)
    if holds is not None:
        branch = step.bodies["then_branch" if holds else "else_branch"]
        return execution.run(branch, [], frame)
    sign, condition = strip_not(condition)
    one, other = ("then_branch", "else_branch") if sign else ("else_branch", "then_branch")
    x = _under(execution, step.bodies[one], condition, True, frame)
    y = _under(execution, step.bodies[other], condition, False, frame)
    return [_select(execution, condition, *pair) for pair in zip(x, y, strict=True)]


def require_one(execution: Execution, step: Step, term: Term, elem_type: int = BOOL) -> None:
    """Demand one element, of a type, of a condition or a trip count."""
    shape = term.fact.shape
    has_type = term.fact.elem_type in (0, elem_type)
    if shape is None or not has_type or any(dim.value != 1 for dim in shape):
        execution.demand(execution.terms.heads.own(ONE_ELEMENT), (term,), step)


def truth(execution: Execution, condition: Term) -> bool | None:
    """Value of a condition; None if only run time determines it."""
    tensor = execution.terms.tensor(condition)
    if tensor is not None and tensor.size == 1:
        return bool(tensor.numpy().reshape(-1)[0])
    sign, bare = strip_not(condition)
    value = execution.assumed.get(bare)
    return None if value is None else value is sign


def strip_not(condition: Term) -> tuple[bool, Term]:
    """Condition without Not, and whether the parity is even."""
    sign = True
    while condition.is_op("Not") and condition.args[0] is not None:
        sign, condition = not sign, condition.args[0]
    return sign, condition


def _under(
    execution: Execution, branch: Program, condition: Term, holds: bool, frame: Frame
) -> list[Value]:
    before, around = execution.assumed, execution.guards
    execution.guards = (*around, Guard.of_branch(condition, holds))
    forced = execution.forced.get(tuple([guard.key for guard in execution.guards]), {})
    execution.assumed = {**before, condition: holds, **forced}
    try:
        return execution.run(branch, [], frame)
    finally:
        execution.assumed, execution.guards = before, around


def _select(execution: Execution, condition: Term, x: Value, y: Value) -> Value:
    if x is y:
        return x
    if x is None or y is None:
        raise OpenError("a branch of an If has an absent output")
    return choose(execution.terms, condition, x, y)
