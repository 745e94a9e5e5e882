"""Refusal of models whose types do not fit, by onnx. Nothing else is asked of its inference."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from ...ir.copying import forget_shape
from ...ir.onnx_errors import OnnxError, one_line
from ...reference.bodies import subgraphs
from ...reference.refused_nodes import infer_strictly, inference_query
from .terms import CertificateError


def require_valid(model: onnx.ModelProto, inputs: Mapping[str, onnx.TypeProto]) -> None:
    """Require a model whose types onnx can infer from those of the original's inputs."""
    query = inference_query(model)
    for info in query.graph.input:
        if info.name in inputs:
            info.type.CopyFrom(inputs[info.name])
    _forget_inputs(query.graph)
    try:
        infer_strictly(query)
    except OnnxError as error:
        detail = one_line(error.__cause__ or error)
        raise CertificateError(f"onnx refuses a node: {detail}") from error


def _forget_inputs(graph: onnx.GraphProto) -> None:
    """Drop the sizes that bodies declare of their inputs: they may be wrong."""
    for node in graph.node:
        for body in subgraphs(node):
            for info in body.input:
                forget_shape(info.type)
            _forget_inputs(body)
