"""Declarations of the outputs of new bodies. Runtimes need their ranks, and a Loop without
iterations has no other source for the type of a scan output."""

from collections.abc import Iterable

import onnx

from ..ir import Node, Value
from .types import Types


def declare_results(nodes: Iterable[Node], types: Types) -> None:
    """Complete the declared types of all outputs of the nodes' bodies."""
    for node in nodes:
        for body in node.graphs():
            slots = zip(body.outputs, body.output_infos, strict=True)
            infos = [_completed(value, info, types) for value, info in slots]
            if any(new is not old for new, old in zip(infos, body.output_infos, strict=True)):
                body.set_outputs(body.outputs, infos)


def _completed(value: Value, info: onnx.ValueInfoProto, types: Types) -> onnx.ValueInfoProto:
    """The declaration with the inferred type, unless it has as much."""
    declared = info.type.tensor_type
    if info.type.WhichOneof("value") not in (None, "tensor_type") or declared.HasField("shape"):
        return info
    type_ = types.of(value)
    if type_ is None or (declared.elem_type and not type_.tensor_type.HasField("shape")):
        return info
    declaration = onnx.ValueInfoProto()
    declaration.CopyFrom(info)
    declaration.type.CopyFrom(type_)
    return declaration
