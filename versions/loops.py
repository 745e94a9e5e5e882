"""Loops that carry one tensor, for what older opsets can say trip by trip only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import onnx

from ..ir import Graph, Operator, Value, empty_header
from .site import Site

Trip = Callable[[Value, Value], Value]
"""What is carried on, from the number of the trip, a vector of one, and what is carried."""


def carried_through(site: Site, trips: Value, start: Value, trip: Trip) -> Value:
    """What is left of a tensor that so many trips change one after the other.

    Raises:
        Refused: its type is not known.
    """
    type_ = site.types.of(start)
    if type_ is None:
        site.refuse("a Loop needs the type of what it carries")
    yes = site.const(np.array(True), "go_on")
    labels = [site.label("carried")]
    loop = site.graph.add_node(Operator("Loop"), [trips, yes, start], labels)
    body = site.graph.add_body(loop, "body", empty_header("trip"))
    number = body.add_input("number", _scalar("number", onnx.TensorProto.INT64))
    condition = body.add_input("condition", _scalar("condition", onnx.TensorProto.BOOL))
    given = body.add_input("given", onnx.helper.make_value_info("given", type_))
    with _inside(site, body):
        going = site.emit("Identity", [condition], "going")
        place = site.emit("Reshape", [number, site.ints([1], "one")], "place")
        changed = trip(place, given)
    infos = [_scalar("going", onnx.TensorProto.BOOL), onnx.helper.make_value_info("new", type_)]
    body.set_outputs([going, changed], infos)
    site.added.append(loop)
    site.types.add(loop, site.written_in)
    return loop.output()


def _scalar(name: str, elem_type: int) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, elem_type, [])


@contextlib.contextmanager
def _inside(site: Site, body: Graph) -> Iterator[None]:
    """Let what is emitted stand in a body; it comes with the node that holds it."""
    graph, added = site.graph, site.added
    site.graph, site.added = body, []
    try:
        yield
    finally:
        site.graph, site.added = graph, added
