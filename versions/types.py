"""The types of all values of a model, by one run of onnx's shape inference."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import onnx

from ..analysis.shapes.inference import ShapeInference
from ..ir import (
    Function,
    Graph,
    Model,
    Node,
    OnnxError,
    Operator,
    Tensor,
    Value,
    ask_onnx,
    normal_domain,
)
from ..ir.naming import Names, assign_names
from ..ir.serialize import serialize
from ..reference.functions import specialize
from .schemas import schema_at

_LARGEST = 1 << 10
"""Tensors with more elements are never shapes or axes; inference sees only their type."""


class Types:
    """What is known about the types of a model's values.

    A function that is called with different types has values of several types; `every` gives all of
    them, `of` what they have in common.
    """

    def __init__(self, model: Model) -> None:
        self._known: dict[Value, list[onnx.TypeProto]] = {}
        self._added: dict[Node, int] = {}
        with _light(model):
            proto = serialize(model, for_inference=True)
        _Inference(model, proto, assign_names(model), self).run()
        self._look_into_bodies(model)

    def _look_into_bodies(self, model: Model) -> None:
        """Find what onnx leaves open: it does not carry shapes into the bodies of Scans."""
        inference = ShapeInference(model)
        for graph in model.graphs():
            if graph.holder is None:
                continue
            for value in _values_of(graph):
                type_ = self.of(value)
                if type_ is None or (type_.HasField("tensor_type") and self.shape(value) is None):
                    found = inference.fact(value).type_proto()
                    if found is not None:
                        self._known[value] = [found]

    def known(self) -> Iterator[tuple[Value, onnx.TypeProto]]:
        """All values whose type is known, so far."""
        for value in self._known:
            type_ = self.of(value)
            if type_ is not None:
                yield value, type_

    def every(self, value: Value) -> list[onnx.TypeProto]:
        """All types that a value has; none where nothing is known."""
        known = self._known.get(value)
        producer = value.producer
        if known is None and producer is not None and producer in self._added:
            self._infer(producer, self._added.pop(producer))
            known = self._known.get(value)
        if known:
            return known
        return [value.type] if value.type is not None else []

    def add(self, node: Node, version: int) -> None:
        """Take note of a new node, whose types can be inferred, and of the opset it is written in.

        The nodes of the model itself are inferred together, once: later they may be in another
        version than the one that their graph is about to be in.
        """
        self._added[node] = version

    def of(self, value: Value | None) -> onnx.TypeProto | None:
        """The type of a value, with the dimensions on which all its types agree."""
        types = self.every(value) if value is not None else []
        return _common(types) if types else None

    def elem_type(self, value: Value | None) -> int | None:
        """The element type of a tensor; None where it is not known."""
        type_ = self.of(value)
        return (type_.tensor_type.elem_type or None) if type_ is not None else None

    def shape(self, value: Value | None) -> list[int | None] | None:
        """The dimensions of a tensor, None for those not known; None for an unknown rank."""
        type_ = self.of(value)
        if type_ is None or not type_.tensor_type.HasField("shape"):
            return None
        return dims_of(type_)

    def rank(self, value: Value | None) -> int | None:
        """The rank of a tensor; None where it is not known."""
        shape = self.shape(value)
        return None if shape is None else len(shape)

    def learn(self, value: Value, type_: onnx.TypeProto) -> None:
        """Note one more type of a value."""
        if type_.WhichOneof("value") is None:
            return
        known = self._known.setdefault(value, [])
        if type_ not in known:
            known.append(type_)

    def _infer(self, node: Node, version: int) -> None:
        """Find the types of one node's outputs from those of its inputs."""
        for value, type_ in zip(node.outputs, self.of_outputs(node, node.op, version), strict=True):
            if value is not None and type_ is not None:
                self.learn(value, type_)

    def of_outputs(self, node: Node, op: Operator, version: int) -> list[onnx.TypeProto | None]:
        """The types that a node's outputs would have if it were this operator of some opset."""
        unknown: list[onnx.TypeProto | None] = [None] * len(node.outputs)
        schema = schema_at(op.op_type, version) if op.domain in ("", "ai.onnx") else None
        inputs = [(f"i{i}", v, self.of(v)) for i, v in enumerate(node.inputs) if v is not None]
        if schema is None or node.bodies or any(t is None for _, _, t in inputs):
            return unknown
        proto = connected(op, node)
        data = {name: _small(v.constant) for name, v, _ in inputs if v.constant is not None}
        try:
            found = ask_onnx(
                node,
                onnx.shape_inference.infer_node_outputs,
                schema,
                proto,
                {name: type_ for name, _, type_ in inputs if type_ is not None},
                {name: tensor for name, tensor in data.items() if tensor is not None},
                opset_imports=[onnx.helper.make_opsetid("", version)],
            )
        except OnnxError:
            return unknown  # a type that cannot be inferred is one that is not known
        return [found.get(name) for name in proto.output]


class _Inference:
    """Runs shape inference on a model, then on each function as its calls type it."""

    def __init__(self, model: Model, proto: onnx.ModelProto, names: Names, types: Types) -> None:
        self.model = model
        self.proto = proto
        self.names = names
        self.types = types
        self.calls: deque[Node] = deque()
        self.functions = {(normal_domain(f.domain), f.name, f.overload): f for f in proto.functions}

    def run(self) -> None:
        self.infer(self.model.graph, self.proto)
        seen: set[tuple[object, ...]] = set()
        while self.calls:
            call = self.calls.popleft()
            function = self.model.functions[call.op.function_key]
            inputs = [self.types.of(value) for value in call.inputs]
            texts = tuple(None if t is None else t.SerializeToString() for t in inputs)
            attributes = tuple(a.SerializeToString() for a in call.op.attributes.values())
            if (function, texts, attributes) not in seen:
                seen.add((function, texts, attributes))
                self.infer(function.graph, self.specialized(function, call, inputs))

    def specialized(
        self, function: Function, call: Node, inputs: list[onnx.TypeProto | None]
    ) -> onnx.ModelProto:
        """A function's body as a model, typed and with attributes as one call gives them."""
        proto = specialize(self.functions[function.key], call.op.attributes.values())
        model = onnx.ModelProto(ir_version=self.proto.ir_version)
        model.opset_import.extend(proto.opset_import)
        model.functions.extend(self.proto.functions)
        model.graph.name = proto.name
        model.graph.node.extend(proto.node)
        model.graph.value_info.extend(proto.value_info)
        for index, name in enumerate(proto.input):
            info = model.graph.input.add(name=name)
            type_ = inputs[index] if index < len(inputs) else None
            if type_ is not None:
                info.type.CopyFrom(type_)
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in proto.output)
        return model

    def infer(self, graph: Graph, proto: onnx.ModelProto) -> None:
        """Infer one graph and note what was found, in its bodies too."""
        try:
            inferred = ask_onnx(graph, onnx.shape_inference.infer_shapes, proto, data_prop=True)
        except OnnxError:
            inferred = proto  # what is declared is still there
        self.note(graph, inferred.graph)

    def note(self, graph: Graph, proto: onnx.GraphProto) -> None:
        infos = (*proto.value_info, *proto.output, *proto.input)
        found = {info.name: info.type for info in infos}
        for value in _values_of(graph):
            type_ = found.get(self.names.get(value, ""))
            if type_ is not None:
                self.types.learn(value, type_)
        nodes = graph.nodes()
        # Constants that cannot be initializers come first.
        written = proto.node[len(proto.node) - len(nodes) :] if nodes else ()
        for node, message in zip(nodes, written, strict=True):
            if node.op.function_key in self.model.functions:
                self.calls.append(node)
            for name, bodies in node.bodies.items():
                attribute = next(a for a in message.attribute if a.name == name)
                single = attribute.type == onnx.AttributeProto.GRAPH
                messages = [attribute.g] if single else attribute.graphs
                for body, inner in zip(bodies, messages, strict=True):
                    self.note(body, inner)


def connected(op: Operator, node: Node) -> onnx.NodeProto:
    """A message of an operator with a node's inputs i0, i1, ... and outputs o0, o1, ..."""
    proto = op.node_proto()
    proto.input.extend("" if v is None else f"i{i}" for i, v in enumerate(node.inputs))
    proto.output.extend("" if v is None else f"o{i}" for i, v in enumerate(node.outputs))
    return proto


def dims_of(type_: onnx.TypeProto) -> list[int | None]:
    """The dimensions of a tensor type that has a shape; None for those not known."""
    dims = type_.tensor_type.shape.dim
    return [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]


def _values_of(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    for node in graph.unordered_nodes():
        yield from (v for v in node.outputs if v is not None)


def _common(types: list[onnx.TypeProto]) -> onnx.TypeProto | None:
    """What several types agree on; None where their element types or kinds differ."""
    if len(types) == 1:
        return types[0]
    merged = onnx.TypeProto()
    merged.CopyFrom(types[0])
    if not merged.HasField("tensor_type"):
        return None
    tensor = merged.tensor_type
    for type_ in types[1:]:
        other = type_.tensor_type
        if other.elem_type != tensor.elem_type:
            return None
        if len(other.shape.dim) != len(tensor.shape.dim) or not other.HasField("shape"):
            tensor.ClearField("shape")
            continue
        for dim, also in zip(tensor.shape.dim, other.shape.dim, strict=False):
            if dim != also:
                dim.Clear()
    return merged


def _small(tensor: Tensor | None) -> onnx.TensorProto | None:
    if tensor is None or tensor.size > _LARGEST or tensor.is_external:
        return None
    message = tensor.message()
    return message if isinstance(message, onnx.TensorProto) else None


@contextmanager
def _light(model: Model) -> Iterator[None]:
    """Hide the elements of large tensors, so that a model of any size fits into a message."""
    initializers: list[tuple[Graph, Mapping[Value, Tensor]]] = []
    constants: list[tuple[Node, Operator, Tensor]] = []
    for graph in model.graphs():
        initializers.append((graph, dict(graph.initializers)))
        for value, tensor in graph.initializers.items():
            if tensor.size > _LARGEST and not tensor.is_sparse:
                graph.initializers[value] = Tensor(_stub(tensor))
            elif tensor.is_external and tensor.is_readable:
                # Inference reads axes and shapes, but follows no references to files.
                graph.initializers[value] = Tensor(array=tensor.numpy())
        for node in graph.unordered_nodes():
            if node.is_op("Constant") and node.outputs[0] is not None:
                tensor_ = node.outputs[0].constant
                if tensor_ is not None and tensor_.size > _LARGEST:
                    constants.append((node, node.op, tensor_))
                    attribute = onnx.AttributeProto(name="value", t=_stub(tensor_))
                    attribute.type = onnx.AttributeProto.TENSOR
                    graph.set_operator(
                        node, Operator("Constant", {"value": attribute}, node.domain)
                    )
    try:
        yield
    finally:
        for graph, tensors in initializers:
            graph.initializers.update(tensors)
        for node, op, tensor_ in constants:
            assert node.graph is not None
            node.graph.set_operator(node, op)
            node.output().constant = tensor_


def _stub(tensor: Tensor) -> onnx.TensorProto:
    """A tensor message with type and dimensions, whose elements are said to lie elsewhere."""
    stub = onnx.TensorProto(dims=tensor.dims, data_type=tensor.elem_type)
    stub.data_location = onnx.TensorProto.EXTERNAL
    stub.external_data.add(key="location", value="none")
    return stub
