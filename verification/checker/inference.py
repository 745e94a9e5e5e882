"""Types and shapes of values, as onnx infers them from the declared inputs alone."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping

import onnx
from onnx import shape_inference

from ...ir.io.raw_data_splicing import copy_without
from .terms import UNKNOWN, CertificateError, Dim, Fact

_SHOWN = 1 << 10
"""Initializers of so many elements are shown to the inference, which reads sizes from them."""


class Facts:
    """Facts of the values of a graph by name. Sizes that no input of the original names (`shared`)
    have a prefix that distinguishes the models; without a prefix they are unknown. Without a graph,
    as in a function, nothing is known."""

    def __init__(
        self,
        graph: onnx.GraphProto | None = None,
        prefix: str | None = None,
        shared: Container[str] = (),
    ) -> None:
        self._graph = graph
        self._shows_shapes = graph is not None and not _has_sequences(graph)
        self._prefix = prefix
        self._shared = shared
        infos = [] if graph is None else [*graph.input, *graph.value_info, *graph.output]
        self._types = {info.name: info.type for info in infos}

    def __getitem__(self, name: str) -> Fact:
        type_ = self._types.get(name)
        fact = UNKNOWN if type_ is None else fact_of(type_)
        if fact.shape is None or not self._shows_shapes:
            return Fact(fact.elem_type)
        return Fact(fact.elem_type, tuple([self._dim(dim) for dim in fact.shape]))

    def body(self, node: int, attribute: str) -> Facts:
        """Facts of a body. Sizes that a body alone names differ by iteration."""
        if self._graph is None:
            return self
        for message in self._graph.node[node].attribute:
            if message.name == attribute:
                return Facts(message.g, None, self._shared)
        raise CertificateError(f"the inference lost the body '{attribute}'")

    def _dim(self, dim: Dim) -> Dim:
        if not isinstance(dim, str) or dim in self._shared:
            return dim
        return None if self._prefix is None else f"{self._prefix}:{dim}"


def fact_of(type_: onnx.TypeProto) -> Fact:
    """Fact of a tensor type; nothing is known of other values."""
    if type_.WhichOneof("value") != "tensor_type":
        return UNKNOWN
    tensor = type_.tensor_type
    if not tensor.HasField("shape"):
        return Fact(tensor.elem_type)
    dims = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in tensor.shape.dim]
    return Fact(tensor.elem_type, tuple([None if dim in ("", -1) else dim for dim in dims]))


def infer(model: onnx.ModelProto, inputs: Mapping[str, onnx.TypeProto], side: str) -> Facts:
    """Facts of a model, for inputs of the types of the original."""
    bare = copy_without(model, {"graph"})
    graph = bare.graph
    graph.CopyFrom(copy_without(model.graph, {"initializer", "value_info"}))
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
    _forget(graph, inputs=False)
    try:
        inferred = shape_inference.infer_shapes(
            bare, check_type=True, strict_mode=True, data_prop=True
        )
    except Exception as error:
        raise CertificateError(f"onnx refuses a node: {error}") from error
    shared = {d.dim_param for type_ in inputs.values() for d in type_.tensor_type.shape.dim}
    while any(name.startswith(side) for name in shared):
        side += "'"
    return Facts(inferred.graph, side, shared - {""})


def _has_sequences(graph: onnx.GraphProto) -> bool:
    """Test whether a graph holds sequences or optionals. Their elements differ in size, although
    the inference has one type for all of them."""
    for node in graph.node:
        if "Sequence" in node.op_type or "Optional" in node.op_type:
            return True
        if any(a.HasField("g") and _has_sequences(a.g) for a in node.attribute):
            return True
    return any(info.type.WhichOneof("value") != "tensor_type" for info in graph.input)


def _forget(graph: onnx.GraphProto, *, inputs: bool) -> None:
    """Drop what a graph declares of its values: it may be wrong."""
    del graph.value_info[:]
    for info in [*graph.output, *(graph.input if inputs else ())]:
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _forget(attribute.g, inputs=True)
