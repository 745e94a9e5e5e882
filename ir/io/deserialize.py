"""Deserialization of ONNX messages: resolves names to values, once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import onnx

from ..attributes import graphs_in
from ..checker import Frame, naming_odd_text
from ..checker.graphs import GraphChecker
from ..errors import ModelError
from ..gc_pause import paused_collector
from ..graph import Graph, NodeRow
from ..graph_queries import Annotation
from ..model import Function, Model
from ..node import Node, Value
from ..operator import Operator
from ..read_names import (
    in_order,
    named_tensors,
    named_tensors_of_training,
    names_in_bodies,
    put_in_order,
    trained_tensors,
)
from ..subgraph_arity import check_bodies, count_fed_inputs, surplus
from ..tensor import Tensor
from .operator_interning import Operators
from .protobuf.message_headers import (
    function_header,
    graph_header,
    imports_of,
    model_header,
    versions_of,
)

_LISTED = 4
"""The first IR version in which callers can feed only those initializers that are also inputs."""


class _Body(NamedTuple):
    """A function message in the form of a graph, without constants and types of inputs."""

    input: Sequence[onnx.ValueInfoProto]
    output: Sequence[onnx.ValueInfoProto]
    value_info: Sequence[onnx.ValueInfoProto]
    initializer: Sequence[onnx.TensorProto] = ()
    sparse_initializer: Sequence[onnx.SparseTensorProto] = ()
    quantization_annotation: Sequence[onnx.TensorAnnotation] = ()


class _Untyped(dict[str, onnx.ValueInfoProto]):
    """Cache of declarations with a name alone; declarations are immutable."""

    def __missing__(self, name: str) -> onnx.ValueInfoProto:
        info = self[name] = onnx.ValueInfoProto(name=name)
        return info


class Scope:
    """The names that a graph defines, and the scope of the graph around it."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.outer = outer

    def find(self, name: str) -> Value | None:
        """Find the innermost value of a name."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(name)
            if value is not None:
                return value
            scope = scope.outer
        return None

    def define(self, value: Value, graph: Graph) -> None:
        """Define a value.

        Raises:
            ModelError: the graph defines the name already.
        """
        if self.names.setdefault(value.name, value) is not value:
            raise ModelError(f"'{value.name}' is defined twice in {graph}; names must be unique")


class FlatModel(NamedTuple):
    """The content of a model of plain nodes: without bodies, functions, Constants and defaults.

    Attributes:
        kinds: the operators of its nodes, by `Operator.qualname`.
        computes_constants: true if a node reads constants alone.
        holds_unread: true if nothing reads an output of a node, or an initializer.
    """

    kinds: frozenset[str]
    computes_constants: bool
    holds_unread: bool
    rows: Sequence[tuple[Operator, Sequence[object], object, object]]

    @classmethod
    def of(cls, model: Model) -> FlatModel | None:
        """The content of a model; None for one that is not flat."""
        graph = model.graph
        if model.functions or model.training_info or graph.holders() or graph.annotations:
            return None
        kinds = frozenset(graph.kinds())
        if "Constant" in kinds:
            return None
        rows, computes = [], False
        for node in graph.unordered_nodes():
            inputs = node.inputs
            rows.append((node.op, inputs, node.outputs[0], node))
            computes = computes or all(v is None or v.constant is not None for v in inputs)
        unused = any(not (graph.is_used(v) or v.pinned) for v in graph.initializers)
        return cls(kinds, computes, unused or bool(graph.unneeded()), rows)

    def reads(self, readers: Collection[str], maker: str) -> bool:
        """Test for a node of some operators whose first operand another operator makes."""
        if maker not in self.kinds or self.kinds.isdisjoint(readers):
            return False
        results = {result for op, _, result, _ in self.rows if op.qualname == maker}
        return any(op.qualname in readers and names[0] in results for op, names, *_ in self.rows)


class PlainNodes:
    """The plain nodes at the beginning of the main graph of a message without functions.

    Args:
        proto: the message; it must not change as long as the nodes are used.

    Attributes:
        frame: the checks of the rest of the message.
        rows: the nodes.

    Raises:
        ModelError: the message is not well formed.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        self.proto = proto
        self.operators = Operators(())
        with naming_odd_text(proto):
            # Protobuf makes its Python objects once as long as they live.
            self._nodes, tensors = list(proto.graph.node), list(proto.graph.initializer)
            self.frame = Frame(proto)
            versions_of(imports_of(proto.opset_import), "the model")
            rows = self.operators.rows(self._nodes, self.frame.main.check_node)
            self.rows: list[NodeRow] = list(rows)
            self._constants = {tensor.name for tensor in tensors}

    def flat(self) -> FlatModel | None:
        """The content of the model; None if it holds other nodes, nodes out of order, or an output
        that no node or another output has."""
        proto, constants = self.proto, self._constants
        graph = proto.graph
        if len(self.rows) < len(self._nodes) or proto.training_info or proto.ir_version < _LISTED:
            return None
        if graph.sparse_initializer or graph.quantization_annotation:
            return None
        sources = constants.union([info.name for info in graph.input])
        if len(sources) != len(graph.initializer) + len(graph.input) or "" in sources:
            return None
        visible, read, computes = sources.copy(), set[str](), False
        for _, names, output, _ in self.rows:
            if output in visible or not visible.issuperset(names):
                return None
            visible.add(output)
            read.update(names)
            computes = computes or (names[0] in constants and constants.issuperset(names))
        results = {info.name for info in graph.output}
        if len(results) != len(graph.output) or not results <= visible - sources:
            return None
        unread = visible - read - results
        holds_unread = not unread.isdisjoint(constants) or not unread <= sources
        kinds = frozenset([operator.qualname for operator in {row[0] for row in self.rows}])
        return FlatModel(kinds, computes, holds_unread, self.rows)


@paused_collector
def deserialize(
    proto: onnx.ModelProto, base_dir: Path | None = None, plain: PlainNodes | None = None
) -> Model:
    """Read a model from a message. It shares tensors and attributes with the message.

    Args:
        base_dir: the folder of its external data.
        plain: the plain nodes of the message, if the caller has read them.

    Raises:
        ModelError: it is not well formed (see `checker`), a name is undefined or defined twice, the
            nodes form a cycle, a body does not fit its node, or an opset version is missing or
            unknown.
    """
    with naming_odd_text(proto):
        return _deserialize(proto, base_dir, plain)


def _deserialize(proto: onnx.ModelProto, base_dir: Path | None, plain: PlainNodes | None) -> Model:
    nodes, tensors = list(proto.graph.node), list(proto.graph.initializer)
    frame = Frame(proto) if plain is None else plain.frame
    model = Model(model_header(proto), base_dir)
    model.opset_imports = versions_of(imports_of(proto.opset_import), "the model")
    model.training_info.extend(proto.training_info)
    for function in _functions(proto, model, frame):
        key = function.key
        if model.functions.setdefault(key, function) is not function:
            raise ModelError(f"{function} is defined twice (overload '{key[-1]}')")
    reader = _Reader(model, base_dir, frame.main, plain)
    scope = Scope()
    model.graph.header = graph_header(proto.graph)
    reader.read(model.graph, proto.graph, scope, nodes)
    frame.finish()
    reader.pin_names(scope, named_tensors_of_training(model.training_info))
    _mark_trained(model, scope)
    model.mark_as_loaded()
    del tensors  # protobuf makes its Python objects once as long as they live
    return model


def _mark_trained(model: Model, scope: Scope) -> None:
    """Make initializers that training assigns to variable, although no caller can feed them."""
    for name in trained_tensors(model.training_info):
        value = scope.find(name)
        if value is not None and value in model.graph.initializers:
            value.constant = None
            model.trained.add(value)


def _functions(proto: onnx.ModelProto, model: Model, frame: Frame) -> Iterator[Function]:
    reader = _Reader(model, model.base_dir)
    untyped = _Untyped()
    for message in proto.functions:
        imports = imports_of(message.opset_import)
        reader.checker = checker = frame.of_function(message, imports)
        function = Function(function_header(message, imports), model.base_dir)
        function.opset_imports = versions_of(imports, function)
        inputs = [untyped[name] for name in message.input[:]]
        outputs = [untyped[name] for name in message.output[:]]
        body = _Body(inputs, outputs, message.value_info)
        reader.read(function.graph, body, Scope(), message.node)
        checker.close()
        yield function


class _Reader:
    """Reader that fills graphs from messages.

    Args:
        checker: checks top-level nodes just before their reading; None for checked ones.
        plain: nodes at the beginning of the main graph that have been read.
    """

    def __init__(
        self,
        model: Model,
        base_dir: Path | None,
        checker: GraphChecker | None = None,
        plain: PlainNodes | None = None,
    ) -> None:
        self.model = model
        self.allows_overrides = model.allows_overrides
        self.base_dir = base_dir
        self.checker = checker
        self.plain = plain
        self.operators = Operators(model.functions) if plain is None else plain.operators

    def read(
        self,
        graph: Graph,
        proto: onnx.GraphProto | _Body,
        scope: Scope,
        nodes: Sequence[onnx.NodeProto],
    ) -> None:
        self.read_sources(graph, proto, scope)
        self.read_nodes(graph, nodes, scope)
        outputs = []
        for info in proto.output:
            value = scope.find(info.name)
            if value is None:
                raise ModelError(f"{graph} has an output '{info.name}', which nothing defines")
            outputs.append(value)
        self.read_infos(graph, proto, scope)
        graph.set_outputs(outputs, proto.output)
        self.read_annotations(graph, proto, scope)
        # Attributes may name tensors: `xs`, `zs` and `y` of Gradient.
        for op in graph.operators():
            if op.attributes:
                self.pin_names(scope, named_tensors(op))
        for node in graph.holders():
            check_bodies(node)

    def read_sources(self, graph: Graph, proto: onnx.GraphProto | _Body, scope: Scope) -> None:
        tensors: list[tuple[str, onnx.TensorProto | onnx.SparseTensorProto]] = [
            *((tensor.name, tensor) for tensor in proto.initializer),
            *((tensor.values.name, tensor) for tensor in proto.sparse_initializer),
        ]
        if not tensors:
            for info in proto.input:
                scope.define(graph.add_input(info.name, info), graph)
            return
        constants = {name for name, _ in tensors}
        feed_count = None if graph.holder is None else count_fed_inputs(graph.holder)
        # Below IR version 4, and in tf2onnx's files, bodies list constants that the node does not
        # feed.
        unfed = surplus([info.name for info in proto.input], constants, feed_count)
        for index, info in enumerate(proto.input):
            if info.name in unfed:
                value = Value(info.name, info)
                graph.listed[value] = index
            else:
                value = graph.add_input(info.name, info)
            scope.define(value, graph)
        if scope.names.keys().isdisjoint(constants):  # in half the time
            pairs = [(name, Tensor(message, base_dir=self.base_dir)) for name, message in tensors]
            for value in graph.add_initializers(pairs):
                scope.define(value, graph)
            return
        values = dict(scope.names)
        # From IR version 4 on such a tensor is a default; a node always feeds the inputs of its
        # body.
        overridable = self.allows_overrides or graph.holder is not None
        for name, message in tensors:
            tensor = Tensor(message, base_dir=self.base_dir)
            present = values.pop(name, None)
            if present is None:
                scope.define(graph.add_initializer(name, tensor), graph)
            elif present.owner is None:
                present.constant = tensor
                graph.place_initializer(present)
            else:
                graph.initializers[present] = tensor
                present.constant = None if overridable else tensor

    def read_nodes(
        self, graph: Graph, protos: Sequence[onnx.NodeProto], scope: Scope
    ) -> list[Node]:
        """Read nodes in any order, since some tools write users before producers."""
        protos = list(protos)  # so that protobuf makes its Python objects once
        if graph.holder is not None:
            # A later node may shadow a name from around, so sort all nodes first.
            return list(self.read_sorted(graph, protos, scope))
        waiting = iter(protos)
        if self.plain is None:
            nodes = self.read_plain(graph, waiting, scope)
        else:
            nodes = graph.add_rows(self.plain.rows, scope.names)
            waiting = iter(protos[len(nodes) + 1 :])  # the next one is no plain node
        while len(nodes) < len(protos):
            node = self.read_node(graph, protos[len(nodes)], scope, first=True)
            if node is None:
                break
            nodes += [node, *self.read_plain(graph, waiting, scope)]
        if len(nodes) < len(protos):
            nodes += self.read_sorted(graph, protos[len(nodes) :], scope)
        if self.checker is not None:  # joining fails for a name that is not UTF-8
            "".join(scope.names)
            "".join([node.name for node in nodes])
        return nodes

    def read_plain(
        self, graph: Graph, waiting: Iterator[onnx.NodeProto], scope: Scope
    ) -> list[Node]:
        """Read plain nodes of the main graph; the first other one is skipped."""
        if self.checker is None or self.checker.root is not None:
            next(waiting, None)  # each adds to the needs of its function
            return []
        return graph.add_rows(self.operators.rows(waiting, self.checker.check_node), scope.names)

    def read_sorted(
        self, graph: Graph, protos: Sequence[onnx.NodeProto], scope: Scope
    ) -> Iterator[Node]:
        """Sort nodes topologically, and read them."""
        if graph.holder is None and self.checker is not None:
            self.checker.check_nodes(protos)
        if not in_order(protos):
            self.model.was_unsorted = True
            protos = put_in_order(protos, graph, scope.names)
        for proto in protos:
            node = self.read_node(graph, proto, scope)
            if node is None:
                raise ModelError(_undefined_input(graph, proto, scope))
            yield node

    def read_node(
        self, graph: Graph, proto: onnx.NodeProto, scope: Scope, *, first: bool = False
    ) -> Node | None:
        """Read a node; None where one of its inputs is undefined.

        Args:
            first: true at the first attempt to read the node.
        """
        names, labels = proto.input[:], proto.output[:]  # slices, which protobuf makes in one go
        check = None
        if first and self.checker is not None:
            check = self.checker.check_node
            if self.checker.root is not None:  # each adds to the needs of its function
                check(proto, names, labels)
                check = None
        op = self.operators.of(proto, names, labels, check)
        inputs = list(map(scope.names.get, names))
        if None in inputs or "" in names:  # a value may have an empty name, too
            inputs = [scope.find(name) if name else None for name in names]
            if any(name and value is None for name, value in zip(names, inputs, strict=True)):
                return None
        # A body may capture what a later node defines; then the nodes must be sorted.
        if first and op.holds_graphs and not all(map(scope.find, names_in_bodies(proto))):
            return None
        node = graph.add_node(op, inputs, labels, proto.name)
        define = scope.names.setdefault
        for value in node.outputs:
            if value is not None and define(value.name, value) is not value:
                scope.define(value, graph)  # raises
        if op.holds_graphs:
            for attribute in proto.attribute:
                for body in graphs_in(attribute):
                    inner = graph.add_body(node, attribute.name, graph_header(body))
                    self.read(inner, body, Scope(scope), body.node)
        return node

    def pin_names(self, scope: Scope, names: Iterable[str]) -> None:
        for name in names:
            value = scope.find(name)
            if value is not None:
                value.pinned = True

    def read_infos(self, graph: Graph, proto: onnx.GraphProto | _Body, scope: Scope) -> None:
        fixed = {info.name for info in (*proto.input, *proto.output)} if proto.value_info else ()
        for info in proto.output:
            value = scope.names.get(info.name)
            if value is not None and value.info is None:
                value.info = info
        declared: set[Value] = set()
        for info in proto.value_info:
            value = scope.names.get(info.name)
            if value is None:
                graph.reserved.add(info.name)
            # Further declarations stay as messages, so that an unchanged model is written as it
            # was.
            if value is None or info.name in fixed or value in declared:
                graph.value_infos.append(info)
            else:
                value.info = info
                graph.value_infos.append(value)
                declared.add(value)

    def read_annotations(self, graph: Graph, proto: onnx.GraphProto | _Body, scope: Scope) -> None:
        def resolve(name: str) -> Value | str:
            value = scope.find(name)
            if value is None:
                graph.reserved.add(name)
                return name
            value.pinned = True
            return value

        for message in proto.quantization_annotation:
            parameters = [
                (entry.key, resolve(entry.value)) for entry in message.quant_parameter_tensor_names
            ]
            graph.annotations.append(Annotation(resolve(message.tensor_name), tuple(parameters)))


def _undefined_input(graph: Graph, proto: onnx.NodeProto, scope: Scope) -> str:
    """Describe a node with an undefined input."""
    name = next(name for name in proto.input if name and scope.find(name) is None)
    label = proto.name or next(iter(proto.output), "")
    return f"{proto.op_type} '{label}' in {graph} reads '{name}', which nothing defines"
