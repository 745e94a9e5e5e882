"""Optional values: their content, or none."""

from collections.abc import Sequence

import numpy as np

from ....facts.fact import Fact
from ..execution.compile_graph import Step
from ..execution.symbolic_execution import Execution, Frame, Value, construct
from ..terms.term import Term


@construct("Optional")
def run_optional(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Optional(x) = x, as in the reference."""
    if args and args[0] is not None:
        return [args[0]]
    return [execution.terms.leaf("nothing", None, Fact())]


@construct("OptionalHasElement")
def run_has_element(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """True for a value that is no optional, false for none and an absent input."""
    terms = execution.terms
    value = args[0] if args else None
    if value is None or value.head.name == "nothing":
        return [terms.constant(np.array(False))]
    if _is_certain(value):
        return [terms.constant(np.array(True))]
    return terms.apply(step.head, args)


@construct("OptionalGetElement")
def run_get_element(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Content of an optional."""
    (value,) = args
    if value is not None and _is_certain(value):
        return [value]
    execution.demand(step.head, args, step)
    return execution.terms.apply(step.head, args)


def _is_certain(term: Term) -> bool:
    fact = term.fact
    if fact.other is not None:
        return not fact.other.HasField("optional_type")
    return bool(fact.elem_type)
