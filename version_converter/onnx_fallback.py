"""Conversion of nodes across one version by `onnx.version_converter`, many in one call.

A call takes milliseconds however little it converts, because it builds every adapter anew. So all
nodes of a step are converted together, as a graph without connections, each with its types and
constants; equal nodes are converted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import onnx.compose
import onnx.version_converter

from ..analysis.shapes.onnx_inference_cache import connected_message
from ..ir import Graph, Node, OnnxError, Template, Value, ask_onnx, load
from .types import Types

_READ = 1 << 12
"""Limit of elements; adapters read no larger constants."""


class _Kind(NamedTuple):
    """Equal nodes, and the graph of one with its types and constants."""

    nodes: list[Node]
    graph: onnx.GraphProto


class Batch:
    """The nodes of one step that onnx converts.

    Args:
        source: their version.
        target: the next one.
        ir_version: that of the model.
    """

    def __init__(self, source: int, target: int, types: Types) -> None:
        self.source = source
        self.target = target
        self.types = types
        self._kinds: dict[bytes, _Kind] = {}

    def add(self, node: Node) -> None:
        """Add a node."""
        proto = connected_message(node.op, node)
        proto.domain = ""
        graph = onnx.GraphProto(node=[proto])
        for name, value in zip(proto.input, node.inputs, strict=True):
            tensor = None if value is None else value.constant
            if tensor is not None and tensor.is_readable and tensor.size <= _READ:
                graph.initializer.append(onnx.numpy_helper.from_array(tensor.numpy(), name))
            elif name:
                graph.input.add(name=name, type=self.types.of(value))
        for name, value in zip(proto.output, node.outputs, strict=True):
            if name:
                graph.output.add(name=name, type=self.types.of(value))
        key = graph.SerializeToString(deterministic=True)
        self._kinds.setdefault(key, _Kind([], graph)).nodes.append(node)

    def run(self) -> tuple[list[tuple[Node, list[Value]]], list[tuple[Node, str]]]:
        """Convert all nodes of the batch.

        Returns: the converted nodes with the replacements of their outputs, and the nodes that onnx
            refuses, with its reason.
        """
        converted: list[tuple[Node, list[Value]]] = []
        refused: list[tuple[Node, str]] = []
        for kind, result in self._convert(list(self._kinds.values())):
            for node in kind.nodes:
                if isinstance(result, str):
                    refused.append((node, result))
                elif node.graph is not None:
                    copy = Template(result, node.graph, keep_infos=False)
                    converted.append((node, copy.instantiate(list(node.inputs))))
        return converted, refused

    def _convert(self, kinds: list[_Kind]) -> list[tuple[_Kind, Graph | str]]:
        """Convert together; where that fails, convert the halves, down to the node that fails."""
        if not kinds:
            return []
        try:
            converted = ask_onnx(
                kinds[0].nodes[0],
                onnx.version_converter.convert_version,
                self._model(kinds),
                self.target,
            )
        except OnnxError as error:
            if len(kinds) == 1:
                return [(kinds[0], f"onnx.version_converter: {_reason(error)}")]
            half = len(kinds) // 2
            return self._convert(kinds[:half]) + self._convert(kinds[half:])
        answer = _Answer(converted)
        return [(kind, answer.part(number, kind)) for number, kind in enumerate(kinds)]

    def _model(self, kinds: Sequence[_Kind]) -> onnx.ModelProto:
        model = onnx.ModelProto(ir_version=8)
        model.opset_import.add(domain="", version=self.source)
        for number, kind in enumerate(kinds):
            part = onnx.compose.add_prefix_graph(kind.graph, f"n{number}_", rename_nodes=False)
            model.graph.MergeFrom(part)
        model.graph.name = "batch"
        return model


class _Answer:
    """A converted batch: the result for a kind are the producers of its outputs."""

    def __init__(self, converted: onnx.ModelProto) -> None:
        self.nodes = converted.graph.node
        self.opset_import = converted.opset_import
        self.producers = {
            name: index for index, node in enumerate(self.nodes) for name in node.output if name
        }
        self.initializers = {tensor.name: tensor for tensor in converted.graph.initializer}

    def part(self, number: int, kind: _Kind) -> Graph:
        """The result for one kind, as a graph over the inputs of its node."""
        inputs = [
            f"n{number}_{name}" if name else f"n{number}_absent{index}"
            for index, name in enumerate(kind.graph.node[0].input)
        ]
        outputs = [f"n{number}_{info.name}" for info in kind.graph.output]
        nodes, constants = self._producers(outputs, inputs)
        graph = onnx.GraphProto(name="part", node=nodes, initializer=constants)
        graph.input.extend(onnx.ValueInfoProto(name=name) for name in inputs)
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
        model = onnx.ModelProto(ir_version=8, graph=graph, opset_import=self.opset_import)
        return load(model).graph

    def _producers(
        self, outputs: Sequence[str], inputs: Sequence[str]
    ) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
        """The nodes and initializers that compute outputs from inputs."""
        visited, open_ = {"", *inputs}, list(outputs)
        needed: set[int] = set()
        constants = []
        while open_:
            name = open_.pop()
            if name in visited:
                continue
            visited.add(name)
            if name in self.initializers:
                constants.append(self.initializers[name])
            else:
                needed.add(self.producers[name])
                open_ += self.nodes[self.producers[name]].input
        return [self.nodes[index] for index in sorted(needed)], constants


def _reason(error: OnnxError) -> str:
    """The last sentence of an error of onnx, without its source line."""
    text = (str(error.__cause__).strip() or "it failed").splitlines()[-1]
    return text.partition("failed: ")[2] or text
