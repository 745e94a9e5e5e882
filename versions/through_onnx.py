"""Carrying nodes across one version by `onnx.version_converter`, many in one call.

A call takes milliseconds however little it converts, because it builds every adapter anew. So the
nodes of a step that need it go in together, as a graph in which nothing is connected, each with the
types and the constants that it sees; nodes that are alike go in once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import onnx
import onnx.version_converter

from ..ir import Graph, Node, OnnxError, Template, Value, ask_onnx, load
from .types import Types, connected

_READ = 1 << 12
"""Constants with more elements are never what an adapter looks at."""


@dataclasses.dataclass
class _Kind:
    """Nodes that are alike, with what they become."""

    nodes: list[Node]
    proto: onnx.NodeProto
    types: dict[str, onnx.TypeProto]
    constants: dict[str, onnx.TensorProto]


class Batch:
    """The nodes of one step that onnx converts.

    Args:
        source: the version in which they are written.
        target: the next one.
        ir_version: that of the model.
    """

    def __init__(self, source: int, target: int, types: Types) -> None:
        self.source = source
        self.target = target
        self.types = types
        self._kinds: dict[bytes, _Kind] = {}

    def add(self, node: Node) -> None:
        """Enter a node."""
        proto = connected(node.op, node)
        kind = _Kind([], proto, {}, {})
        for prefix, values in (("i", node.inputs), ("o", node.outputs)):
            for index, value in enumerate(values):
                if value is None:
                    continue
                type_ = self.types.of(value)
                if type_ is not None:
                    kind.types[f"{prefix}{index}"] = type_
                tensor = value.constant
                if prefix != "i" or tensor is None or not tensor.is_readable:
                    continue
                if tensor.size <= _READ:
                    kind.constants[f"i{index}"] = onnx.numpy_helper.from_array(tensor.numpy())
        key = b"|".join(
            [proto.SerializeToString(deterministic=True)]
            + [n.encode() + t.SerializeToString() for n, t in kind.types.items()]
            + [n.encode() + t.SerializeToString() for n, t in kind.constants.items()]
        )
        self._kinds.setdefault(key, kind).nodes.append(node)

    def run(self) -> tuple[list[tuple[Node, list[Value]]], list[tuple[Node, str]]]:
        """Convert all nodes entered.

        Returns:
            the converted nodes with the values that replace their outputs, and the nodes that onnx
            refuses with its reason.
        """
        done: list[tuple[Node, list[Value]]] = []
        refused: list[tuple[Node, str]] = []
        for kind, result in self._convert(list(self._kinds.values())):
            for node in kind.nodes:
                if isinstance(result, str):
                    refused.append((node, result))
                else:
                    done.append((node, _splice(node, result)))
        return done, refused

    def _convert(self, kinds: list[_Kind]) -> list[tuple[_Kind, Graph | str]]:
        """Convert together; where that fails, each half apart, down to the one that fails."""
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
        return [(kind, _part(converted, number, kind)) for number, kind in enumerate(kinds)]

    def _model(self, kinds: Sequence[_Kind]) -> onnx.ModelProto:
        model = onnx.ModelProto(ir_version=8)
        model.opset_import.add(domain="", version=self.source)
        model.graph.name = "batch"
        for number, kind in enumerate(kinds):
            node = model.graph.node.add()
            node.CopyFrom(kind.proto)
            node.domain = ""
            _rename(node, number)
            for index, name in enumerate(kind.proto.input):
                if name in kind.constants:
                    tensor = model.graph.initializer.add()
                    tensor.CopyFrom(kind.constants[name])
                    tensor.name = node.input[index]
                elif name:
                    _declare(model.graph.input.add(), node.input[index], kind.types.get(name))
            for index, name in enumerate(kind.proto.output):
                if name:
                    _declare(model.graph.output.add(), node.output[index], kind.types.get(name))
        return model


def _rename(node: onnx.NodeProto, number: int) -> None:
    for names in (node.input, node.output):
        for index, name in enumerate(names):
            if name:
                names[index] = f"n{number}_{name}"


def _declare(info: onnx.ValueInfoProto, name: str, type_: onnx.TypeProto | None) -> None:
    info.name = name
    if type_ is not None:
        info.type.CopyFrom(type_)


def _part(converted: onnx.ModelProto, number: int, kind: _Kind) -> Graph:
    """What became of one kind: the nodes behind its outputs, as a graph over the node's inputs."""
    producers = {name: node for node in converted.graph.node for name in node.output if name}
    initializers = {tensor.name: tensor for tensor in converted.graph.initializer}
    inputs = [
        f"n{number}_{name}" if name else f"n{number}_absent{index}"
        for index, name in enumerate(kind.proto.input)
    ]
    graph = onnx.GraphProto(name="part")
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in inputs)
    graph.output.extend(
        onnx.ValueInfoProto(name=f"n{number}_{name}") for name in kind.proto.output if name
    )
    seen = set(inputs)
    nodes: list[onnx.NodeProto] = []

    def collect(name: str) -> None:
        if not name or name in seen:
            return
        seen.add(name)
        if name in initializers:
            graph.initializer.append(initializers[name])
            return
        node = producers[name]
        seen.update(node.output)
        for read in node.input:
            collect(read)
        nodes.append(node)

    for info in graph.output:
        collect(info.name)
    graph.node.extend(nodes)
    return load(
        onnx.ModelProto(ir_version=8, graph=graph, opset_import=converted.opset_import)
    ).graph


def _splice(node: Node, part: Graph) -> list[Value]:
    assert node.graph is not None
    return Template(part, node.graph, keep_infos=False).instantiate(list(node.inputs))


def _reason(error: OnnxError) -> str:
    """The last sentence of an error of onnx, without the source line it starts with."""
    text = (str(error.__cause__).strip() or "it failed").splitlines()[-1]
    return text.partition("failed: ")[2] or text
