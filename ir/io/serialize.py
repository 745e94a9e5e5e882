"""From the IR to ONNX messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence

import onnx
from google.protobuf.message import Message

from ..attributes import LARGE
from ..constant import constant_operator, takes_any, widened
from ..errors import ModelError
from ..gc_pause import paused_collector
from ..graph import Graph
from ..model import Function, Model
from ..node import Node
from ..operator import Operator
from ..subgraph_arity import count_fed_inputs
from ..tensor import Tensor, TensorMessage
from ..value import Value
from .function_bytes import function_in
from .name_authority import Names, assign_names
from .protobuf.node_bytes import (
    NO_NAME,
    OF_FUNCTION,
    OF_GRAPH,
    characters,
    in_bytes,
    node_in,
    operator_alone,
    sized,
)
from .protobuf.opset_imports import update_imports

_BLOCK = 1 << 20
"""So many bytes are handed to protobuf at a time."""
_MOST_KNOWN = 10_000
"""Of so many operators is kept what they say."""

MessageOf = Callable[[Tensor, Graph], TensorMessage]
"""What is written for an initializer of a graph."""


def _itself(tensor: Tensor, _: Graph) -> TensorMessage:
    return tensor.message()


@paused_collector
def serialize(model: Model, message_of: MessageOf = _itself) -> onnx.ModelProto:
    """The message of a model; a model that was loaded and not changed gives an equal one.

    Constants become initializers, or Constant nodes where initializers cannot stand: directly in a
    function, and below IR version 4, where each has to be an input too, in a graph whose inputs are
    a promise. The bodies of Loop, If and Scan then list them as inputs that nothing feeds.

    Args:
        model: the model.
        message_of: what is written for an initializer of a graph, but for its name.

    Raises:
        ModelError: the nodes of a graph form a cycle.
    """
    names = assign_names(model)
    proto = onnx.ModelProto()
    proto.CopyFrom(model.header)
    update_imports(proto.opset_import, model.opset_imports)
    listing = Listing(model)
    writer = _Writer(names, listing, message_of)
    writer.write(model.graph, proto.graph)
    writer.write_functions(model.functions.values(), proto)
    proto.training_info.extend(model.training_info)
    return proto


class Listing:
    """Constants that are inputs of their body too: all below IR version 4, then those that were."""

    def __init__(self, model: Model) -> None:
        self.below_4 = not model.allows_overrides
        self.as_loaded = model.has_loaded_form

    def stands_alone(self, graph: Graph) -> bool:
        """Whether a graph may have an initializer that is no input."""
        if isinstance(graph.owner, Function):
            return False
        # As loaded, it was no input, whatever the IR version asks for.
        return self.as_loaded or not self.below_4

    def of(self, graph: Graph) -> Mapping[Value, int]:
        """Return the constants of a body that are listed as inputs, each with its place there.

        In a changed model they follow the other inputs, those that came so first. Below IR version
        4, deep inside only those that cannot be Constant nodes, because full checking refuses them
        there, unless the model is as it was loaded.
        """
        holder = graph.holder
        if holder is None or count_fed_inputs(holder) is None:
            return {}
        if self.as_loaded:
            return graph.listed
        inputs, kept = set(graph.inputs), graph.initializers
        end = len(inputs)
        if not self.below_4:
            return _after(end, [v for v in graph.listed if v in kept])
        constants = [v for v in dict.fromkeys((*graph.listed, *kept)) if v in kept]
        deep = holder.graph is not None and holder.graph.holder is not None
        opset = graph.root.opset()
        written = [
            v
            for v in constants
            if v not in inputs and not (deep and _has_constant_node(kept[v], opset))
        ]
        return _after(end, written)


def _has_constant_node(tensor: Tensor, opset: int) -> bool:
    """Whether nodes can give a constant without its data being read from a file."""
    if tensor.is_external:
        return False
    return takes_any(opset, tensor.elem_type) or widened(tensor) is not None


class _Said(dict[Operator, str | None]):
    """What nodes of an operator say apart from names; None where that may be much, or differ from
    node to node."""

    def __missing__(self, op: Operator) -> str | None:
        if len(self) == _MOST_KNOWN:
            self.clear()
        if op.extra is None and not op.attributes:
            self[op] = operator_alone(op.op_type, op.domain, op.overload)
        else:
            plain = op.extra is None and all(a.type not in LARGE for a in op.attributes.values())
            self[op] = characters(op.node_proto().SerializeToString()) if plain else None
        return self[op]


class _Fields:
    """Fields of a message that are written as characters, handed to it a block at a time."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._written: list[str] = []
        self._size = 0

    def add(self, written: str) -> None:
        """Append a field."""
        self._written.append(written)
        self._size += len(written)
        if self._size > _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Have all that was added in the message."""
        self._message.MergeFromString(in_bytes(self._written))
        self._written, self._size = [], 0


class _Writer:
    """Fills messages from graphs."""

    def __init__(self, names: Names, listing: Listing, message_of: MessageOf) -> None:
        self.names = names
        self.listing = listing
        self.message_of = message_of
        self._said = _Said()
        self._sized: dict[Value | Node | None, str] = {None: NO_NAME}

    def write(self, graph: Graph, proto: onnx.GraphProto) -> None:
        names = self.names
        proto.MergeFrom(graph.header)
        listed = self.listing.of(graph)
        for value in _merged(graph.inputs, listed):
            if value in listed:
                _write_typed(value, graph.initializers[value], names[value], proto.input.add())
            else:
                _write_info(value.info, names[value], proto.input.add())
        self.write_initializers(graph, proto, {*graph.inputs, *listed})
        self.write_nodes(graph, proto)
        for value, info in zip(graph.outputs, graph.output_infos, strict=True):
            _write_info(info, names[value], proto.output.add())
        self.write_value_infos(graph, proto, listed)
        self.write_annotations(graph, proto)

    def write_functions(self, functions: Iterable[Function], proto: onnx.ModelProto) -> None:
        fields = _Fields(proto)
        for function in functions:
            written = self.function_in(function)
            if written is None:
                fields.flush()
                self.write_function(function, proto.functions.add())
            else:
                fields.add(written)
        fields.flush()

    def function_in(self, function: Function) -> str | None:
        """A function as a field of a model, in characters; None where it says more than most."""
        graph, stated = function.graph, function.stated
        if isinstance(stated, onnx.FunctionProto) or graph.initializers or graph.value_infos:
            return None
        nodes = graph.nodes()
        self.enter(graph, nodes)
        written = []
        for node in nodes:
            said = self._said[node._op]
            if said is None:
                return None
            written.append(self.node_in(OF_FUNCTION, said, node))
        names = self._sized
        return function_in(
            stated.domain,
            stated.name,
            function.opset_imports,
            [names[value] for value in graph.inputs],
            [names[value] for value in graph.outputs],
            written,
        )

    def write_function(self, function: Function, proto: onnx.FunctionProto) -> None:
        names, graph = self.names, function.graph
        proto.CopyFrom(function.header)
        update_imports(proto.opset_import, function.opset_imports)
        proto.input.extend([names[value] for value in graph.inputs])
        for value, tensor in graph.initializers.items():
            self.write_constant(tensor, names[value], function.opset(), proto.node)
        self.write_nodes(graph, proto)
        proto.output.extend([names[value] for value in graph.outputs])
        self.write_value_infos(graph, proto, ())

    def write_initializers(self, graph: Graph, proto: onnx.GraphProto, inputs: set[Value]) -> None:
        stand = self.listing.stands_alone(graph)
        for value, tensor in graph.initializers.items():
            name = self.names[value]
            if not stand and value not in inputs:
                self.write_constant(tensor, name, graph.root.opset(), proto.node)
                continue
            message = self.message_of(tensor, graph)
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
        """Write nodes that give a constant; before opset 9, Constant itself gives floats only.

        Raises:
            ModelError: it gives none that could be cast to this one.
        """
        if takes_any(opset, tensor.elem_type):
            nodes.append(_constant_node(tensor, name))
            return
        doubles = widened(tensor)
        if doubles is None:
            raise ModelError(
                f"the constant '{name}' cannot be written before opset 9 below IR version 4, where"
                " constants are floats; convert the model to a newer opset first"
            )
        wide = self.fresh(f"{name}_wide")
        nodes.append(_constant_node(doubles, wide))
        cast = onnx.helper.make_node("Cast", [wide], [name], to=tensor.elem_type)
        nodes.append(cast)

    def fresh(self, label: str) -> str:
        """A name that no value has."""
        taken = set(self.names.all())
        while label in taken:
            label += "_"
        return label

    def write_nodes(self, graph: Graph, proto: onnx.GraphProto | onnx.FunctionProto) -> None:
        """Write the nodes of a graph; as bytes, where that takes no more than their names."""
        nodes = graph.nodes()
        field = OF_GRAPH if isinstance(proto, onnx.GraphProto) else OF_FUNCTION
        self.enter(graph, nodes)
        said_by, fields = self._said, _Fields(proto)
        for node in nodes:
            said = said_by[node._op]
            if said is None:
                fields.flush()
                self.write_node(node, proto.node.add())
            else:
                fields.add(self.node_in(field, said, node))
        fields.flush()

    def node_in(self, field: str, said: str, node: Node) -> str:
        names = self._sized
        name = names[node] if node.name else None
        return node_in(field, said, node._inputs, node._outputs, name, names)

    def enter(self, graph: Graph, nodes: Sequence[Node]) -> None:
        """Take up the names of what a graph defines, for its nodes and those inside it."""
        outputs = [value for node in nodes for value in node._outputs if value is not None]
        own = [node for node in nodes if node.name]
        named: list[Value | Node] = [*graph.inputs, *graph.initializers, *outputs, *own]
        self._sized.update(zip(named, sized(self.names.of(named)), strict=True))

    def write_node(self, node: Node, proto: onnx.NodeProto) -> None:
        names = self.names
        op = node._op
        if op.extra is None:
            proto.op_type = op.op_type
            if op.domain:
                proto.domain = op.domain
            if op.overload:
                proto.overload = op.overload
        else:
            op.fill(proto)
        proto.input.extend([names[v] if v is not None else "" for v in node._inputs])
        proto.output.extend([names[v] if v is not None else "" for v in node._outputs])
        if node.name:
            proto.name = names[node]
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

    def write_value_infos(
        self,
        graph: Graph,
        proto: onnx.GraphProto | onnx.FunctionProto,
        listed: Collection[Value],
    ) -> None:
        declared = {*graph.inputs, *graph.outputs, *listed} if graph.value_infos else set()
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


def _after(end: int, constants: Iterable[Value]) -> Mapping[Value, int]:
    """Number the places from an end on."""
    return {value: place for place, value in enumerate(constants, end)}


def _merged(inputs: Sequence[Value], listed: Mapping[Value, int]) -> Sequence[Value]:
    """Join the inputs of a body and the constants that are listed there, in their order."""
    if not listed:
        return inputs
    merged = list(inputs)
    for value, place in listed.items():  # places ascend
        merged.insert(place, value)
    return merged


def _constant_node(tensor: Tensor, name: str) -> onnx.NodeProto:
    proto = constant_operator(tensor).node_proto()
    proto.output.append(name)
    return proto


def _write_info(info: onnx.ValueInfoProto | None, name: str, proto: onnx.ValueInfoProto) -> None:
    if info is not None:
        proto.CopyFrom(info)
    if proto.name != name:
        proto.name = name


def _write_typed(value: Value, tensor: Tensor, name: str, proto: onnx.ValueInfoProto) -> None:
    _write_info(value.info, name, proto)
    if not proto.HasField("type"):
        proto.type.CopyFrom(onnx.helper.make_tensor_type_proto(tensor.elem_type, tensor.dims))


def _rename_sharded(written: onnx.NodeProto, proto: onnx.NodeProto) -> None:
    """Make the sharding of a node speak of its tensors under their present names."""
    renamed = dict(zip(written.input, proto.input, strict=False))
    renamed.update(zip(written.output, proto.output, strict=False))
    for configuration in proto.device_configurations:
        for sharding in configuration.sharding_spec:
            sharding.tensor_name = renamed.get(sharding.tensor_name, sharding.tensor_name)
