"""Refusal of models whose types do not fit, by onnx. Nothing else is asked of its inference."""

from __future__ import annotations

import math
from collections.abc import Mapping

import onnx
from onnx import shape_inference

from ...ir.io.protobuf.message_headers import copy_without
from .terms import CertificateError

_SHOWN = 1 << 10
"""Initializers of so many elements are shown to the inference, which reads sizes from them."""


def require_valid(model: onnx.ModelProto, inputs: Mapping[str, onnx.TypeProto]) -> None:
    """Require a model whose types onnx can infer from those of the original's inputs.

    Raises:
        CertificateError: it refuses a node, or the type of an output.
    """
    bare = copy_without(model, {"graph"})
    graph = bare.graph
    graph.CopyFrom(copy_without(model.graph, {"initializer"}))
    names = {info.name for info in graph.input}
    for tensor in model.graph.initializer:
        if tensor.name in names:  # a caller may override it
            continue
        if math.prod(tensor.dims) <= _SHOWN and not tensor.external_data:
            graph.initializer.add().CopyFrom(tensor)
        else:
            graph.input.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            )
    for info in graph.input:
        if info.name in inputs:
            info.type.CopyFrom(inputs[info.name])
    _forget_sizes(graph, inputs=False)
    try:
        shape_inference.infer_shapes(bare, check_type=True, strict_mode=True)
    except Exception as error:
        raise CertificateError(f"onnx refuses a node: {error}") from error


def _forget_sizes(graph: onnx.GraphProto, *, inputs: bool) -> None:
    """Drop what a graph declares of its values but the types of outputs: it may be wrong."""
    del graph.value_info[:]
    for info in [*graph.output, *(graph.input if inputs else ())]:
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _forget_sizes(attribute.g, inputs=True)
