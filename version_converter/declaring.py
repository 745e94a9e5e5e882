"""Declaring what new bodies give out: runtimes want its rank, and a Loop that makes no trip has
nothing else to tell the type of a scan output by."""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from ..ir import Graph, Node, Value
from .types import Types


def declare_results(nodes: Iterable[Node], types: Types) -> None:
    """Declare of all that the bodies of nodes give out what is known and was not declared."""
    for node in nodes:
        for body in node.graphs():
            _declare(body, types)


def _declare(body: Graph, types: Types) -> None:
    slots = zip(body.outputs, body.output_infos, strict=True)
    infos = [_completed(value, info, types) for value, info in slots]
    if any(new is not old for new, old in zip(infos, body.output_infos, strict=True)):
        body.set_outputs(body.outputs, infos)


def _completed(value: Value, info: onnx.ValueInfoProto, types: Types) -> onnx.ValueInfoProto:
    """The declaration with the type that is known, unless it tells as much."""
    declared = info.type.tensor_type
    if info.type.WhichOneof("value") not in (None, "tensor_type") or declared.HasField("shape"):
        return info
    known = types.of(value)
    if known is None or (declared.elem_type and not known.tensor_type.HasField("shape")):
        return info
    completed = onnx.ValueInfoProto()
    completed.CopyFrom(info)
    completed.type.CopyFrom(known)
    return completed
