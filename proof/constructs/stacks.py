"""Scan outputs: elements of all trips, one after the other along a new axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ...facts.dimension import Dimension
from ...facts.fact import Fact
from ...operators.axes import ONE
from ...reference.bodies import Array, Body
from ...reference.errors import EvaluationError
from ..budget import OpenError

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..heads import Head
    from ..programs import Program
    from ..terms import Term

MOST_EMPTY = 1 << 24


def stack(terms: Terms, elements: Sequence[Term | None], like: Head, axis: int = 0) -> Term:
    """Tensors along a new axis, counted from the front."""
    viewed = []
    for element in elements:
        shape = None if element is None else element.fact.shape
        if element is None or shape is None:
            raise OpenError("a scan output is made of elements of unknown rank")
        viewed.append(terms.view(element, (*shape[:axis], ONE, *shape[axis:])))
    return terms.op("Concat", like, *viewed, axis=axis)


def nothing(
    terms: Terms,
    body: Program,
    index: int,
    sample: Sequence[Fact] | None = None,
    captured: Mapping[str, Fact] | None = None,
) -> Array:
    """An element of a scan output of a body that was never run, as zeros: what the body declares.

    Args:
        terms: the terms.
        body: the body.
        index: which output of the body.
        sample: what is known of the body's inputs, where the declaration is completed by that.
        captured: the same of what it captures.
    """
    proto = body.proto
    assert isinstance(proto, onnx.GraphProto)
    reader = Body(SimpleNamespace(proto_=proto), body.imports, len(body.inputs))
    try:
        given = None if sample is None else [_of(fact) for fact in sample]
        outer = {name: _of(fact) for name, fact in (captured or {}).items()}
        dtype, shape = reader.element(index, given, outer)
    except EvaluationError as error:
        raise OpenError(str(error)) from error
    if np.prod(shape, dtype=object) > MOST_EMPTY:
        raise OpenError("an empty scan output is too large to be written down")
    return np.full(shape, "" if dtype.kind in "OUS" else 0, dtype)


def _of(fact: Fact) -> Any:
    """An array of a type and shape, which takes no memory."""
    if not fact.elem_type or fact.shape is None or any(d.value is None for d in fact.shape):
        raise OpenError("an empty scan output has the size of what run time decides")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    return np.broadcast_to(np.zeros((), dtype), [d.value or 0 for d in fact.shape])


def empty_stack(terms: Terms, element: Array, axis: int = 0) -> Term:
    """The scan output of no trips."""
    shape = (*element.shape[:axis], 0, *element.shape[axis:])
    return terms.constant(np.full(shape, "" if element.dtype.kind in "OUS" else 0, element.dtype))


def trips_of(fact: Fact, axis: int) -> Dimension:
    """How many elements a scan input has."""
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        raise OpenError("a scan input has an unknown rank")
    return fact.shape[axis]
