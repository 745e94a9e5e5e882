"""Scan outputs, and the lists and tensors to which each iteration appends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ....reference.bodies import Body
from ....reference.errors import EvaluationError
from ..execution.compile_graph import Program, Step
from ..execution.obligations import SAME_SIZES
from ..execution.symbolic_execution import Execution, Value
from ..simplify.scatter import replaces
from ..simplify.sequences import elements_of, rows_as_sequence
from ..terms.budget import OpenError
from ..terms.term import Head, Term, descendants
from ..terms.term_manager import Terms


def stack(terms: Terms, elements: Sequence[Term | None], like: Head, axis: int = 0) -> Term:
    """Tensors stacked along a new axis, counted from the front."""
    viewed = []
    for element in elements:
        shape = None if element is None else element.fact.shape
        if element is None or shape is None:
            raise OpenError("the elements of a scan output have an unknown rank")
        viewed.append(terms.view(element, (*shape[:axis], ONE, *shape[axis:])))
    return terms.op("Concat", like, *viewed, axis=axis)


def reader_of(body: Program) -> Body:
    """Reader of the declarations of a body."""
    assert isinstance(body.proto, onnx.GraphProto)
    return Body(SimpleNamespace(proto_=body.proto), body.imports, len(body.inputs))


def require_same(execution: Execution, step: Step, elements: Sequence[Term | None]) -> None:
    """Demand one shape of all elements of a scan output."""
    shapes = {None if element is None else element.fact.shape for element in elements}
    if len(shapes) > 1 or None in shapes:
        execution.demand(execution.terms.heads.own(SAME_SIZES), tuple(elements), step)


def empty_element(
    terms: Terms,
    body: Program,
    index: int,
    sample: Sequence[Fact] | None = None,
    captured: Mapping[str, Fact] | None = None,
) -> Fact:
    """Element of a scan output of a body that never ran. Shape inference completes the declaration;
    an unknown size is 0.

    Args:
        terms: the terms.
        body: the body.
        index: index of the output.
        sample: facts of the body's inputs that complete the declaration.
        captured: facts of captured values.
    """
    reader = reader_of(body)
    types = None if sample is None else [_of(fact) for fact in sample]
    outer = {name: _of(fact) for name, fact in (captured or {}).items()}
    try:
        elem_type, dims = reader.completed(index, reader.inferred(index, types, outer))
    except EvaluationError as error:
        raise OpenError(str(error)) from error
    shape = tuple(
        [
            terms.symbols.named(d.dim_param) if d.dim_param else Dimension.constant(d.dim_value)
            for d in dims
        ]
    )
    return Fact(elem_type, tuple([dim.replaced(terms.case) for dim in shape]))


def _of(fact: Fact) -> onnx.TypeProto:
    type_ = fact.type_proto()
    if type_ is None or not fact.elem_type:
        raise OpenError("an empty scan output depends on an unknown type")
    return type_


def empty_stack(terms: Terms, element: Fact, axis: int = 0) -> Term:
    """Scan output without an iteration."""
    shape = element.shape or ()
    none = Dimension.constant(0)
    return terms.void(Fact(element.elem_type, (*shape[:axis], none, *shape[axis:])))


def trips_of(fact: Fact, axis: int) -> Dimension:
    """Length of a scan input."""
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        raise OpenError("a scan input has an unknown rank")
    return fact.shape[axis]


def rows_added(
    terms: Terms,
    inits: Sequence[Term],
    states: Sequence[Term],
    again: Term,
    outputs: Sequence[Value],
) -> dict[int, Term]:
    """Elements or rows that each iteration appends to a state, by state. The states are sequences
    and tensors that nothing else reads."""
    added: dict[int, Term] = {}
    for k, state in enumerate(states):
        update, init = outputs[k], inits[k]
        if update is None or state.head.name != "bound" or len(update.args) != 2:
            continue
        element = update.args[1]
        if update.args[0] is not state or element is None:
            continue
        listed = update.is_op("SequenceInsert") and _goes_on(terms, init, element)
        joined = update.is_op("Concat") and update.head.attribute("axis") == 0
        rows = element.fact.shape
        has_row_count = rows is not None and rows != () and rows[0].value is not None
        if listed or (joined and has_row_count and init.fact.shape):
            added[k] = element
    if not added:
        return {}
    others = [output for k, output in enumerate(outputs) if k not in added]
    reachable = set(descendants([again, *others, *added.values()]))
    return {k: term for k, term in added.items() if states[k] not in reachable}


def rows_written(
    terms: Terms,
    trips: Dimension,
    index: Dimension,
    states: Sequence[Term],
    again: Term,
    outputs: Sequence[Value],
) -> dict[int, Term]:
    """Rows of states of which each iteration replaces the one of its number, by state.

    Args:
        terms: the terms.
        trips: trip count; as many rows as the state has.
        index: iteration number.
        states: states.
        again: condition of the body.
        outputs: outputs of the body; nothing but its update reads such a state.
    """
    rows: dict[int, Term] = {}
    for k, state in enumerate(states):
        update = outputs[k]
        if update is None or state.head.name != "bound" or update.args[:1] != (state,):
            continue
        shape = state.fact.shape
        row = _row(terms, update, index) if shape and shape[0] == trips else None
        if row is not None and update.fact.shape == shape:
            rows[k] = row
    if not rows:
        return {}
    others = [output for k, output in enumerate(outputs) if k not in rows]
    reachable = set(descendants([again, *others, *rows.values()]))
    return {k: row for k, row in rows.items() if states[k] not in reachable}


def _row(terms: Terms, update: Term, index: Dimension) -> Term | None:
    """Row that a scatter writes at an index; None for other updates."""
    if not update.is_op("ScatterND", "ScatterElements") or not replaces(update.head):
        return None
    _, places, rows = update.args
    if places is None or rows is None or not update.fact.shape:
        return None
    rest, content = update.fact.shape[1:], _everywhere(places)
    if content != index or rows.fact.shape is None or product(rows.fact.shape) != product(rest):
        return None
    if update.is_op("ScatterND"):
        is_row = places.fact.content is not None and places.fact.content.size == 1
        return terms.view(rows, rest) if is_row and places.fact.shape else None
    axis = update.head.attribute("axis", 0)
    same = places.fact.shape == rows.fact.shape == (ONE, *rest)
    return terms.view(rows, rest) if same and axis == 0 else None


def _everywhere(term: Term) -> Dimension | None:
    """Number that all elements of an integer tensor are, if known."""
    while term.head.name in ("Expand", "view") and term.args[0] is not None:
        term = term.args[0]
    content = term.fact.content
    numbers = set() if content is None else set(content.reshape(-1))
    number = numbers.pop() if len(numbers) == 1 else None
    return number if isinstance(number, Dimension) else None


def _goes_on(terms: Terms, init: Term, element: Term) -> bool:
    """Test whether the initial elements of a list are known, of the appended shape."""
    elements, shape = elements_of(terms, init), element.fact.shape
    if elements is None:
        return False
    return not elements or (shape is not None and {e.fact.shape for e in elements} == {shape})


def append_all(terms: Terms, init: Term, update: Term, stacked: Term) -> Term:
    """Initial elements and the appended ones."""
    elements = elements_of(terms, init)
    if elements:
        return rows_as_sequence(
            terms, _concat(terms, stack(terms, elements, update.head), update, stacked)
        )
    if elements is not None:
        return rows_as_sequence(terms, stacked)
    shape = stacked.shape
    rows = terms.view(stacked, (shape[0] * shape[1], *shape[2:]))
    return _concat(terms, init, update, rows)


def _concat(terms: Terms, first: Term, update: Term, rows: Term) -> Term:
    return terms.op("Concat", update.head, first, rows, axis=0)
