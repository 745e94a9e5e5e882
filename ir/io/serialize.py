"""Serialization of the IR to ONNX messages."""

from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence
from itertools import islice

import onnx

from ..attributes import LARGE
from ..constant import constant_operator, takes_any, widen
from ..errors import ModelError
from ..gc_pause import paused_collector
from ..graph import Graph
from ..model import Function, Model
from ..node import Node, Value
from ..operator import Operator
from ..subgraph_arity import count_fed_inputs
from ..tensor import Tensor, TensorMessage
from .function_bytes import encode_function
from .name_authority import Names, assign_names
from .protobuf.message_headers import update_imports
from .protobuf.node_bytes import (
    NO_NAME,
    OF_FUNCTION,
    OF_GRAPH,
    characters,
    encode_nodes,
    encode_operator,
    to_bytes,
    with_sizes,
)

_BLOCK = 1 << 13
"""The most fields that protobuf is given at once."""
_CACHE_SIZE = 10_000
"""The most operators in the cache of encodings."""

MessageOf = Callable[[Tensor, Graph], TensorMessage]
"""Makes the message of an initializer of a graph."""


def _itself(tensor: Tensor, _: Graph) -> TensorMessage:
    return tensor.message()


@paused_collector
def serialize(model: Model, message_of: MessageOf = _itself) -> onnx.ModelProto:
    """Serialize a model; an unchanged model equals the loaded message.

    Constants become initializers, or Constant nodes where ONNX allows no initializers: directly in
    a function, and below IR version 4, where each must be an input too, in a graph with an
    interface. The bodies of Loop, If and Scan then list them as inputs that nothing feeds.

    Args:
        message_of: makes the message of an initializer of a graph, without its name.

    Raises:
        ModelError: the nodes of a graph form a cycle.
    """
    names = assign_names(model)
    proto = onnx.ModelProto()
    # The header holds all fields that the IR does not model, so nothing of the file is lost.
    proto.CopyFrom(model.header)
    update_imports(proto.opset_import, model.opset_imports)
    listing = Listing(model)
    writer = _Writer(names, listing, message_of)
    writer.write(model.graph, proto.graph)
    writer.write_functions(model.functions.values(), proto)
    proto.training_info.extend(model.training_info)
    return proto


class Listing:
    """Constants listed as inputs of bodies: all below IR version 4, then those already listed."""

    def __init__(self, model: Model) -> None:
        self.below_4 = not model.allows_overrides
        self.as_loaded = model.has_loaded_form

    def stands_alone(self, graph: Graph) -> bool:
        """Test whether a graph may have an initializer that is no input."""
        if isinstance(graph.owner, Function):
            return False
        # At load it was no input, for any IR version.
        return self.as_loaded or not self.below_4

    def of(self, graph: Graph) -> Mapping[Value, int]:
        """Return the places of constants among the inputs of a body.

        In a changed model they follow the other inputs, those listed at load first. Below IR
        version 4, nested bodies of a changed model list only those that cannot be Constant nodes,
        because the full check refuses others there.
        """
        holder = graph.holder
        # Only Loop, If and Scan fix how many inputs their node feeds. The inputs of an unknown
        # operator's body cannot be told from constants.
        if holder is None or count_fed_inputs(holder) is None:
            return {}
        if self.as_loaded:
            return graph.listed
        inputs, initializers = set(graph.inputs), graph.initializers
        end = len(inputs)
        if not self.below_4:
            return _number_from(end, [v for v in graph.listed if v in initializers])
        constants = [v for v in dict.fromkeys((*graph.listed, *initializers)) if v in initializers]
        deep = holder.graph is not None and holder.graph.holder is not None
        opset = graph.root.opset()
        additions = [
            v
            for v in constants
            if v not in inputs and not (deep and _has_constant_node(initializers[v], opset))
        ]
        return _number_from(end, additions)


def _has_constant_node(tensor: Tensor, opset: int) -> bool:
    """Test whether nodes can produce a constant without reading its data from a file."""
    if tensor.is_external:
        return False
    return takes_any(opset, tensor.elem_type) or widen(tensor) is not None


class _Encodings(dict[Operator, str | None]):
    """Cache of the encodings of operators; None for a large one, or one that varies by node."""

    def __missing__(self, op: Operator) -> str | None:
        if len(self) == _CACHE_SIZE:
            self.clear()
        # Most operators have no attribute at all, and their bytes need no message.
        if not (op.has_extra or op.attributes):
            self[op] = encode_operator(op.op_type, op.domain, op.overload)
        else:
            encoding = op.encoding
            plain = not op.is_sharded and all(a.type not in LARGE for a in op.attributes.values())
            if encoding is None and plain:
                encoding = op.node_proto().SerializeToString()
            self[op] = None if encoding is None else characters(encoding)
        return self[op]


class _Writer:
    """Writer that fills messages from graphs."""

    def __init__(self, names: Names, listing: Listing, message_of: MessageOf) -> None:
        self.names = names
        self.listing = listing
        self.message_of = message_of
        self._encodings = _Encodings()
        self._sized: dict[Value | Node | None, str] = {None: NO_NAME}

    def write(self, graph: Graph, proto: onnx.GraphProto) -> None:
        names = self.names
        proto.MergeFrom(graph.header)
        listed = self.listing.of(graph)
        for value in _merge(graph.inputs, listed):
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
        fields: list[str] = []
        for function in functions:
            encoding = self.encode_function(function)
            if encoding is not None:
                fields.append(encoding)
            if encoding is None or len(fields) == _BLOCK:
                # Merging appends to a repeated field, so blocks and single messages stay in order.
                proto.MergeFromString(to_bytes(fields))
                fields.clear()
            if encoding is None:
                self.write_function(function, proto.functions.add())
        proto.MergeFromString(to_bytes(fields))

    def encode_function(self, function: Function) -> str | None:
        """Encode a function as a field of a model; None where it has rare fields."""
        graph, stated = function.graph, function.stated
        # Rare fields come from the message that was loaded, and constants of a function are nodes:
        # such a function is written as a message.
        if isinstance(stated, onnx.FunctionProto) or graph.initializers or graph.value_infos:
            return None
        self.enter_sources(graph)
        fields, varying = self.encode(OF_FUNCTION, graph.nodes())
        if varying is not None:
            return None
        names = self._sized
        return encode_function(
            stated.domain,
            stated.name,
            function.opset_imports,
            [names[value] for value in graph.inputs],
            [names[value] for value in graph.outputs],
            fields,
        )

    def write_function(self, function: Function, proto: onnx.FunctionProto) -> None:
        names, graph = self.names, function.graph
        proto.CopyFrom(function.header)
        update_imports(proto.opset_import, function.opset_imports)
        proto.input.extend([names[value] for value in graph.inputs])
        for value, tensor in graph.initializers.items():
            self.write_constant(tensor, names[value], graph, proto.node)
        self.write_nodes(graph, proto)
        proto.output.extend([names[value] for value in graph.outputs])
        self.write_value_infos(graph, proto, ())

    def write_initializers(self, graph: Graph, proto: onnx.GraphProto, inputs: set[Value]) -> None:
        stand = self.listing.stands_alone(graph)
        for value, tensor in graph.initializers.items():
            name = self.names[value]
            if not stand and value not in inputs:
                self.write_constant(tensor, name, graph, proto.node)
                continue
            message = self.message_of(tensor, graph)
            if isinstance(message, onnx.SparseTensorProto):
                sparse = proto.sparse_initializer.add()
                sparse.CopyFrom(message)
                # Setting a field copies the message in protobuf's Python layer; most names are the
                # right ones.
                if sparse.values.name != name:
                    sparse.values.name = name
            else:
                dense = proto.initializer.add()
                dense.CopyFrom(message)
                if dense.name != name:
                    dense.name = name

    def write_constant(
        self, tensor: Tensor, name: str, graph: Graph, nodes: MutableSequence[onnx.NodeProto]
    ) -> None:
        """Write nodes that produce a constant; before opset 9, Constant produces only floats.

        Raises:
            ModelError: no cast from a float produces this constant.
        """
        if takes_any(graph.root.opset(), tensor.elem_type):
            nodes.append(self.constant_node(tensor, name, graph))
            return
        doubles = widen(tensor)
        if doubles is None:
            raise ModelError(
                f"the constant '{name}' cannot be written before opset 9 below IR version 4, where"
                " constants are floats; convert the model to a newer opset first"
            )
        wide = self.fresh(f"{name}_wide")
        nodes.append(self.constant_node(doubles, wide, graph))
        cast = onnx.helper.make_node("Cast", [wide], [name], to=tensor.elem_type)
        nodes.append(self.named(cast, graph))

    def constant_node(self, tensor: Tensor, name: str, graph: Graph) -> onnx.NodeProto:
        proto = constant_operator(tensor).node_proto()
        proto.output.append(name)
        return self.named(proto, graph)

    def named(self, proto: onnx.NodeProto, graph: Graph) -> onnx.NodeProto:
        """Name a node that the graph lacks."""
        name = self.names.of_new_node(graph, proto.op_type)
        if name:
            proto.name = name
        return proto

    def fresh(self, label: str) -> str:
        """Find a name that no value has."""
        names = set(self.names.all())
        while label in names:
            label += "_"
        return label

    def write_nodes(self, graph: Graph, proto: onnx.GraphProto | onnx.FunctionProto) -> None:
        """Write the nodes of a graph; as bytes, where only their names vary."""
        field = OF_GRAPH if isinstance(proto, onnx.GraphProto) else OF_FUNCTION
        self.enter_sources(graph)
        nodes = iter(graph.nodes())
        while True:
            fields, varying = self.encode(field, islice(nodes, _BLOCK))
            proto.MergeFromString(to_bytes(fields))
            if varying is not None:
                self.write_node(varying, proto.node.add())
            elif len(fields) < _BLOCK:
                break

    def encode(self, field: str, nodes: Iterable[Node]) -> tuple[list[str], Node | None]:
        """Encode nodes up to the first that is written as a message."""
        return encode_nodes(field, nodes, self._encodings, self.names.chosen, self._sized)

    def enter_sources(self, graph: Graph) -> None:
        """Encode the names of a graph's inputs and initializers."""
        sources: list[Value | Node] = [*graph.inputs, *graph.initializers]
        self._sized.update(zip(sources, with_sizes(self.names.of(sources)), strict=True))

    def write_node(self, node: Node, proto: onnx.NodeProto) -> None:
        names = self.names
        op = node.op
        op.fill(proto)
        proto.input.extend([names[v] if v is not None else "" for v in node.inputs])
        proto.output.extend([names[v] if v is not None else "" for v in node.outputs])
        if node.name:
            proto.name = names[node]
        if op.attributes:
            proto.attribute.extend(op.attributes.values())
            if node.bodies:
                self.write_bodies(node, proto)
        if op.is_sharded and op.extra is not None:
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
        self, graph: Graph, proto: onnx.GraphProto | onnx.FunctionProto, listed: Collection[Value]
    ) -> None:
        # Inputs and outputs are declared in their own slots, not a second time here.
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


def _number_from(end: int, constants: Iterable[Value]) -> Mapping[Value, int]:
    """Number the places of constants from an end on."""
    return {value: place for place, value in enumerate(constants, end)}


def _merge(inputs: Sequence[Value], listed: Mapping[Value, int]) -> Sequence[Value]:
    """Merge the inputs of a body and its listed constants in order."""
    if not listed:
        return inputs
    merged = list(inputs)
    for value, place in listed.items():  # places ascend
        merged.insert(place, value)
    return merged


def _write_info(info: onnx.ValueInfoProto | None, name: str, proto: onnx.ValueInfoProto) -> None:
    if info is not None:
        proto.CopyFrom(info)
    if proto.name != name:
        proto.name = name


def _write_typed(value: Value, tensor: Tensor, name: str, proto: onnx.ValueInfoProto) -> None:
    _write_info(value.info, name, proto)
    if not proto.HasField("type"):
        proto.type.CopyFrom(onnx.helper.make_tensor_type_proto(tensor.elem_type, tensor.dims))


def _rename_sharded(extra: onnx.NodeProto, proto: onnx.NodeProto) -> None:
    """Rename tensors in the sharding of a node."""
    # Operands may have come or gone since; a name that is not found stays as it was.
    renamed = dict(zip(extra.input, proto.input, strict=False))
    renamed.update(zip(extra.output, proto.output, strict=False))
    for configuration in proto.device_configurations:
        for sharding in configuration.sharding_spec:
            sharding.tensor_name = renamed.get(sharding.tensor_name, sharding.tensor_name)
