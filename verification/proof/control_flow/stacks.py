"""Scan outputs: elements of all trips, one after the other along a new axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ....reference.bodies import Body
from ....reference.errors import EvaluationError
from ..budget import OpenError
from ..obligations import SAME_SIZES

if TYPE_CHECKING:
    from ..compile_graph import Program, Step
    from ..function_symbols import Head
    from ..symbolic_execution import Execution
    from ..term_manager import Terms
    from ..terms import Term


def stack(terms: Terms, elements: Sequence[Term | None], like: Head, axis: int = 0) -> Term:
    """Tensors along a new axis, counted from the front."""
    viewed = []
    for element in elements:
        shape = None if element is None else element.fact.shape
        if element is None or shape is None:
            raise OpenError("a scan output is made of elements of unknown rank")
        viewed.append(terms.view(element, (*shape[:axis], ONE, *shape[axis:])))
    return terms.op("Concat", like, *viewed, axis=axis)


def reader_of(body: Program) -> Body:
    """What reads the declarations of a body."""
    assert isinstance(body.proto, onnx.GraphProto)
    return Body(SimpleNamespace(proto_=body.proto), body.imports, len(body.inputs))


def require_same(execution: Execution, step: Step, elements: Sequence[Term | None]) -> None:
    """Demand that tensors are of one shape, as what a scan output is made of must be."""
    shapes = {None if element is None else element.fact.shape for element in elements}
    if len(shapes) > 1 or None in shapes:
        execution.demand(execution.terms.heads.own(SAME_SIZES), tuple(elements), step)


def nothing(
    terms: Terms,
    body: Program,
    index: int,
    sample: Sequence[Fact] | None = None,
    captured: Mapping[str, Fact] | None = None,
) -> Fact:
    """An element of a scan output of a body that was never run: what the body declares, completed
    by shape inference; a size that nobody tells is 0.

    Args:
        terms: the terms.
        body: the body.
        index: which output of the body.
        sample: what is known of the body's inputs, where the declaration is completed by that.
        captured: the same of what it captures.
    """
    reader = reader_of(body)
    given = None if sample is None else [_of(fact) for fact in sample]
    outer = {name: _of(fact) for name, fact in (captured or {}).items()}
    try:
        elem_type, dims = reader.element_type(index, given, outer)
    except EvaluationError as error:
        raise OpenError(str(error)) from error
    shape = tuple(
        [
            terms.symbols.named(d.dim_param) if d.dim_param else Dimension.constant(d.dim_value)
            for d in dims
        ]
    )
    return Fact(elem_type, shape)


def _of(fact: Fact) -> onnx.TypeProto:
    type_ = fact.type_proto()
    if type_ is None or not fact.elem_type:
        raise OpenError("an empty scan output depends on an unknown type")
    return type_


def empty_stack(terms: Terms, element: Fact, axis: int = 0) -> Term:
    """The scan output of no trips."""
    shape = element.shape or ()
    none = Dimension.constant(0)
    return terms.void(Fact(element.elem_type, (*shape[:axis], none, *shape[axis:])))


def trips_of(fact: Fact, axis: int) -> Dimension:
    """How many elements a scan input has."""
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        raise OpenError("a scan input has an unknown rank")
    return fact.shape[axis]
