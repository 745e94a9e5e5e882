"""Lists and tensors to which each trip of a loop adds: all that is added, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..sequence_terms import collected
from ..terms import Term, descendants
from .stacks import stack

if TYPE_CHECKING:
    from ..symbolic_execution import Value
    from ..term_manager import Terms


def rows_added(
    terms: Terms,
    inits: Sequence[Term],
    states: Sequence[Term],
    again: Term,
    outputs: Sequence[Value],
) -> dict[int, Term]:
    """The sequences to which each trip adds an element, and the tensors to which it adds rows,
    where nothing else reads them: what is added, by the number of the state."""
    added: dict[int, Term] = {}
    for k, state in enumerate(states):
        made, init = outputs[k], inits[k]
        if made is None or state.head.name != "bound" or len(made.args) != 2:
            continue
        element = made.args[1]
        if made.args[0] is not state or element is None:
            continue
        listed = made.is_op("SequenceInsert") and _goes_on(terms, init, element)
        if listed or (_is_grown(made) and _is_sized(element) and init.fact.shape):
            added[k] = element
    if not added:
        return {}
    others = [output for k, output in enumerate(outputs) if k not in added]
    used = set(descendants([again, *others, *added.values()]))
    return {k: term for k, term in added.items() if states[k] not in used}


def _goes_on(terms: Terms, init: Term, element: Term) -> bool:
    """Whether all that a list holds at first is known, and of one shape with what is added."""
    elements, shape = terms.elements_of(init), element.fact.shape
    if elements is None:
        return False
    return not elements or (shape is not None and {e.fact.shape for e in elements} == {shape})


def _is_grown(made: Term) -> bool:
    return made.is_op("Concat") and made.head.attribute("axis") == 0


def _is_sized(element: Term) -> bool:
    """Whether a trip adds as many rows as another."""
    shape = element.fact.shape
    return shape is not None and all(dim.value is not None for dim in shape[:1])


def together(terms: Terms, init: Term, made: Term, stacked: Term) -> Term:
    """All that was there first and that the trips added."""
    elements = terms.elements_of(init)
    if elements:
        return collected(terms, _joined(terms, stack(terms, elements, made.head), made, stacked))
    if elements is not None:
        return collected(terms, stacked)
    shape = stacked.shape
    rows = terms.view(stacked, (shape[0] * shape[1], *shape[2:]))
    return _joined(terms, init, made, rows)


def _joined(terms: Terms, first: Term, made: Term, rows: Term) -> Term:
    return terms.op("Concat", made.head, first, rows, axis=0)
