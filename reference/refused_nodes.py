"""Nodes that onnx's shape inference refuses, as onnxruntime does when it loads a model.

    y = If (c) <then_branch: u = Neg (x), else_branch: v = Add (x, z)>   # x float[2], z float[3]

Inference covers every node, also in branches never taken. It gets a copy of the model without
weights and without the sizes that the model declares of its own values, since runtimes load a model
that declares other sizes than it computes.
"""

import re
from collections.abc import Mapping, Sequence

import onnx
from onnx import shape_inference

from ..ir.copying import forget_shape
from ..ir.io.external_data import external_tensors
from ..ir.io.protobuf.message_headers import copy_without
from ..ir.onnx_errors import OnnxError, ask_onnx, one_line
from .bodies import (
    askable_imports,
    drop_constants,
    hide_unaskable,
    label,
    opset_of,
    subgraphs,
    without_weights,
)

_MOST_BYTES = 1 << 26
"""Limit of a copy in bytes. Weights in bodies remain in it, and inference copies it twice."""

_REFUSAL = re.compile(
    r"\(op_type:[^\s(),]*, node name: #(\d+)\): \[(?:Shape|Type)InferenceError\] "
    r"(?!Inference error)(?!.*(?:\btype\b|was not a ))(.*)"
)
"""Innermost error, about sizes, at a node of the model. Where onnx does not know a type, since
it refused another node or does not know the operator, it complains of types. A node without a name
is part of onnx's own definition of an operator, and such a definition may be invalid
(MeanVarianceNormalization)."""


def refused_node(model: onnx.ModelProto) -> str:
    """Describe a node whose operands do not fit; empty without one, and for large models."""
    query = inference_query(model)
    if query.ByteSize() > _MOST_BYTES or external_tensors(query):
        return ""
    # Most models pass at once; only others are worth new names for all values.
    try:
        infer_strictly(query)
    except OnnxError:
        pass
    else:
        return ""
    labels = _with_unique_names(query)
    try:
        infer_strictly(query)
    except OnnxError as error:
        match = _REFUSAL.search(str(error.__cause__))
        if match is not None:
            detail = one_line(ValueError(match[2])).rstrip(".")
            return f"onnx's shape inference refuses {labels[int(match[1])]}: {detail}"
    return ""


def infer_strictly(query: onnx.ModelProto) -> None:
    """Infer all types and sizes of a model.

    Raises:
        OnnxError: onnx refuses a node, or knows no type of one of its operands.
    """
    infer = shape_inference.infer_shapes
    ask_onnx("the model", infer, query, check_type=True, strict_mode=True)


def inference_query(model: onnx.ModelProto, *, keeps_inputs: bool = True) -> onnx.ModelProto:
    """Copy a model for inference: without large weights, and without the sizes that it declares of
    its own values, but for the inputs of bodies where these are kept."""
    query = copy_without(model, {"graph", "functions", "opset_import"})
    query.graph.CopyFrom(without_weights(model))
    query.functions.extend(model.functions)
    imports = _imports(model.opset_import)
    query.opset_import.extend(askable_imports(imports))
    drop_constants(query.graph, opset_of(imports))
    hide_unaskable(query.graph)
    _forget_sizes(query.graph, keeps_inputs)
    for function in query.functions:
        own = _imports(function.opset_import)
        del function.opset_import[:], function.value_info[:]
        function.opset_import.extend(askable_imports(own))
        body = onnx.GraphProto(node=function.node)
        drop_constants(body, opset_of(own))
        hide_unaskable(body)
        _forget_sizes(body, keeps_inputs)
        del function.node[:]
        function.node.extend(body.node)
    return query


def _imports(entries: Sequence[onnx.OperatorSetIdProto]) -> Mapping[str, int]:
    return {entry.domain: entry.version for entry in entries}


def _forget_sizes(graph: onnx.GraphProto, keeps_inputs: bool) -> None:
    """Drop declarations of a graph and its bodies, except types, and inputs of the graph."""
    del graph.value_info[:]
    for info in graph.output:
        forget_shape(info.type)
    for body in [body for node in graph.node for body in subgraphs(node)]:
        for info in () if keeps_inputs else body.input:
            forget_shape(info.type)
        _forget_sizes(body, keeps_inputs)


def _with_unique_names(query: onnx.ModelProto) -> list[str]:
    """Number the nodes of a model and give its values names that are unique; list the nodes.

    Inside a body inference finds the outer value of a name that the body defines, too.
    """
    names = _Names()
    names.rename(query.graph, {})
    for function in query.functions:
        body = onnx.GraphProto(node=function.node)
        body.input.extend([onnx.ValueInfoProto(name=name) for name in function.input])
        body.output.extend([onnx.ValueInfoProto(name=name) for name in function.output])
        names.rename(body, {})
        for field in ("node", "input", "output"):
            function.ClearField(field)
        function.node.extend(body.node)
        function.input.extend([info.name for info in body.input])
        function.output.extend([info.name for info in body.output])
    return names.labels


class _Names:
    """Names of the values of a model, and labels of its nodes by number."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self._used = dict[str, int]()

    def rename(self, graph: onnx.GraphProto, outer: Mapping[str, str]) -> None:
        """Rename the values and nodes of a graph, in which outer values have new names."""
        scope = dict(outer)
        inputs = {info.name for info in graph.input}
        tensors = [*graph.initializer, *(each.values for each in graph.sparse_initializer)]
        for info in graph.input:
            info.name = self._define(info.name, scope)
        for tensor in tensors:
            # An initializer that is an input as well has its new name already.
            is_input = tensor.name in inputs
            tensor.name = scope[tensor.name] if is_input else self._define(tensor.name, scope)
        for node in graph.node:
            self.labels.append(label(node))
            node.name = f"#{len(self.labels) - 1}"
            operands = [scope.get(name, name) for name in node.input]
            # Before the outputs are defined, which no body of the node sees.
            for body in subgraphs(node):
                self.rename(body, scope)
            results = [self._define(name, scope) for name in node.output]
            del node.input[:], node.output[:]
            node.input.extend(operands)
            node.output.extend(results)
        for info in graph.output:
            info.name = scope.get(info.name, info.name)

    def _define(self, name: str, scope: dict[str, str]) -> str:
        """New name of a value, which is entered into its scope."""
        if not name:
            return ""
        unique = name
        while unique in self._used:
            self._used[name] += 1
            unique = f"{name}.{self._used[name]}"
        self._used[unique] = 0
        scope[name] = unique
        return unique
