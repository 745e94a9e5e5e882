"""From the IR to ONNX messages."""

from __future__ import annotations

from collections.abc import MutableSequence

import onnx

from .collector import paused_collector
from .constant import FLOATS_OF_FIRST_CONSTANT, constant_operator, widened
from .graph import Graph
from .model import Function, Model
from .naming import Names, assign_names
from .node import Node
from .tensor import Tensor
from .value import Value


@paused_collector
def serialize(model: Model) -> onnx.ModelProto:
    """The message of a model; a model that was loaded and not changed gives an equal one.

    Constants become initializers, or Constant nodes where initializers cannot stand: directly in a
    function, and below IR version 4, where each would have to be an input too.

    Raises:
        ModelError: the nodes of a graph form a cycle.
    """
    names = assign_names(model)
    proto = onnx.ModelProto()
    proto.CopyFrom(model.header)
    _update_opset_imports(proto.opset_import, model.opset_imports)
    writer = _Writer(names, model.allows_overrides)
    writer.write(model.graph, proto.graph)
    for function in model.functions.values():
        _write_function(function, proto.functions.add(), names, model.allows_overrides)
    proto.training_info.extend(model.training_info)
    return proto


def _update_opset_imports(
    entries: MutableSequence[onnx.OperatorSetIdProto], imports: dict[str, int]
) -> None:
    """Make the entries that came with the file say what is imported now."""
    for entry in list(entries):
        if entry.domain not in imports:
            entries.remove(entry)
        elif entry.version != imports[entry.domain]:
            entry.version = imports[entry.domain]
    present = {entry.domain for entry in entries}
    for domain, version in imports.items():
        if domain not in present:
            entries.append(onnx.OperatorSetIdProto(domain=domain, version=version))


def _write_function(
    function: Function, proto: onnx.FunctionProto, names: Names, allows_overrides: bool
) -> None:
    proto.CopyFrom(function.header)
    _update_opset_imports(proto.opset_import, function.opset_imports)
    body = onnx.GraphProto()
    _Writer(names, allows_overrides).write(function.graph, body)
    proto.input.extend(info.name for info in body.input)
    proto.output.extend(info.name for info in body.output)
    proto.node.extend(body.node)
    proto.value_info.extend(body.value_info)


class _Writer:
    """Fills messages from graphs."""

    def __init__(self, names: Names, allows_overrides: bool) -> None:
        self.names = names
        self.allows_overrides = allows_overrides

    def write(self, graph: Graph, proto: onnx.GraphProto) -> None:
        names = self.names
        proto.MergeFrom(graph.header)
        for value in graph.inputs:
            _write_info(value.info, names[value], proto.input.add())
        self.write_initializers(graph, proto)
        for node in graph.nodes():
            self.write_node(node, proto.node.add())
        for value, info in zip(graph.outputs, graph.output_infos, strict=True):
            _write_info(info, names[value], proto.output.add())
        self.write_value_infos(graph, proto)
        self.write_annotations(graph, proto)

    def write_initializers(self, graph: Graph, proto: onnx.GraphProto) -> None:
        inputs = set(graph.inputs)
        stand = self.allows_overrides and not isinstance(graph.owner, Function)
        for value, tensor in graph.initializers.items():
            name = self.names[value]
            if not stand and value not in inputs:
                self.write_constant(tensor, name, graph.root.opset(), proto.node)
                continue
            message = tensor.message()
            if isinstance(message, onnx.SparseTensorProto):
                sparse = proto.sparse_initializer.add()
                sparse.CopyFrom(message)
                if sparse.values.name != name:
                    sparse.values.name = name
            else:
                dense = proto.initializer.add()
                dense.CopyFrom(message)
                if dense.name != name:
                    dense.name = name

    def write_constant(
        self, tensor: Tensor, name: str, opset: int, nodes: MutableSequence[onnx.NodeProto]
    ) -> None:
        """Write nodes that give a constant; before opset 9, Constant itself gives floats only."""
        if opset >= 9 or tensor.elem_type in FLOATS_OF_FIRST_CONSTANT:
            nodes.append(_constant_node(tensor, name))
            return
        wide = self.fresh(f"{name}_wide")
        nodes.append(_constant_node(widened(tensor, name), wide))
        cast = onnx.helper.make_node("Cast", [wide], [name], to=tensor.elem_type)
        nodes.append(cast)

    def fresh(self, label: str) -> str:
        """A name that no value has."""
        taken = set(self.names.values())
        while label in taken:
            label += "_"
        return label

    def write_node(self, node: Node, proto: onnx.NodeProto) -> None:
        names = self.names
        op = node.op
        if op.extra is None:
            proto.op_type = op.op_type
            if op.domain:
                proto.domain = op.domain
            if op.overload:
                proto.overload = op.overload
        else:
            op.fill(proto)
        proto.input.extend([names[v] if v is not None else "" for v in node.inputs])
        proto.output.extend([names[v] if v is not None else "" for v in node.outputs])
        name = names.get(node)
        if name:
            proto.name = name
        if op.attributes:
            proto.attribute.extend(op.attributes.values())
            if node.bodies:
                self.write_bodies(node, proto)
        if op.extra is not None and op.extra.device_configurations:
            _rename_sharded(op.extra, proto)

    def write_bodies(self, node: Node, proto: onnx.NodeProto) -> None:
        for attribute in proto.attribute:
            graphs = node.bodies.get(attribute.name, ())
            if attribute.type == onnx.AttributeProto.GRAPH:
                for graph in graphs:
                    self.write(graph, attribute.g)
            elif attribute.type == onnx.AttributeProto.GRAPHS:
                for graph in graphs:
                    self.write(graph, attribute.graphs.add())

    def write_value_infos(self, graph: Graph, proto: onnx.GraphProto) -> None:
        declared = {*graph.inputs, *graph.outputs} if graph.value_infos else set()
        for entry in graph.value_infos:
            if isinstance(entry, onnx.ValueInfoProto):
                proto.value_info.append(entry)
            elif entry.graph is graph and entry not in declared and entry.info is not None:
                _write_info(entry.info, self.names[entry], proto.value_info.add())

    def write_annotations(self, graph: Graph, proto: onnx.GraphProto) -> None:
        for annotation in graph.annotations:
            message = proto.quantization_annotation.add()
            message.tensor_name = self.reference(annotation.value)
            for key, value in annotation.parameters:
                message.quant_parameter_tensor_names.add(key=key, value=self.reference(value))

    def reference(self, value: Value | str) -> str:
        return value if isinstance(value, str) else self.names[value]


def _constant_node(tensor: Tensor, name: str) -> onnx.NodeProto:
    proto = constant_operator(tensor).node_proto()
    proto.output.append(name)
    return proto


def _write_info(info: onnx.ValueInfoProto | None, name: str, proto: onnx.ValueInfoProto) -> None:
    if info is not None:
        proto.CopyFrom(info)
    if proto.name != name:
        proto.name = name


def _rename_sharded(written: onnx.NodeProto, proto: onnx.NodeProto) -> None:
    """Make the sharding of a node speak of its tensors under their present names."""
    renamed = dict(zip(written.input, proto.input, strict=False))
    renamed.update(zip(written.output, proto.output, strict=False))
    for configuration in proto.device_configurations:
        for sharding in configuration.sharding_spec:
            sharding.tensor_name = renamed.get(sharding.tensor_name, sharding.tensor_name)
