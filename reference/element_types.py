"""Types of what bodies give out, as shape inference over the whole model finds them.

A runtime infers shapes once, before any input is there. A Loop that makes no iterations takes the
sizes of its scan outputs from there: a size that inference does not find is 0. So is one that the
body declares otherwise than inference finds it, and a wrong rank leaves none.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import onnx
from onnx import helper

from ..ir.io.protobuf.message_headers import copy_without
from ..ir.lazy import lazy_property
from ..ir.onnx_errors import OnnxError, ask_onnx
from .argument_types import Calls, Instance, common_type
from .bodies import (
    askable_imports,
    drop_constants,
    hide_unaskable,
    opset_of,
    output_types,
    show_constants,
    subgraphs,
    without_weights,
)

Nodes = Sequence[onnx.NodeProto]
Types = list[onnx.TypeProto.Tensor]


class ElementTypes:
    """Output types of all bodies of a model, inferred at the first use."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model

    @property
    def functions(self) -> Sequence[onnx.FunctionProto]:
        """The functions of the model."""
        return self._model.functions

    def of(self, node: onnx.NodeProto, index: int) -> onnx.TypeProto.Tensor | None:
        """The type of an output of a Loop's body; None where the model has no such node.

        Args:
            index: the position among the body's outputs.
        """
        types = self._by_node.get(_key(node))
        return None if types is None else types[index]

    @lazy_property
    def _by_node(self) -> dict[bytes, Types]:
        """Types by node. A function is inferred with what all calls of the same attributes agree
        on: their arguments' types and constants, as a runtime that inlines them sees them."""
        types: dict[bytes, Types] = {}
        calls = Calls(self._model.functions)
        for nodes, inferred, bare in (self._main(calls), *map(self._function, calls)):
            for (loop, same), (_, other) in zip(
                _loops(nodes, inferred), _loops(nodes, bare), strict=True
            ):
                sides = [output_types(_body(each)) for each in (same, other)]
                own = list(map(_joined, *sides))
                entry = types.setdefault(_key(loop), own)
                if entry is not own:  # the same node in two places, which may capture other sizes
                    types[_key(loop)] = list(map(common_type, entry, own))
        return types

    def _main(self, calls: Calls) -> tuple[Nodes, Nodes, Nodes]:
        model, query = self._model, without_weights(self._model)
        return model.graph.node, *self._inferred(query, _imports(model), calls, {})

    def _function(self, instance: Instance) -> tuple[Nodes, Nodes, Nodes]:
        function, arguments = instance.function, instance.arguments
        query = onnx.GraphProto(name=function.name, node=function.node)
        constants: dict[str, onnx.NodeProto] = {}
        for name, argument in itertools.zip_longest(function.input, arguments):
            if isinstance(argument, onnx.TensorProto):
                constants[name] = helper.make_node("Constant", [], [name], value=argument)
            else:
                query.input.append(onnx.ValueInfoProto(name=name, type=argument))
        imports = _imports(function)
        return function.node, *self._inferred(query, imports, instance.calls, constants)

    def _inferred(
        self,
        graph: onnx.GraphProto,
        imports: Mapping[str, int],
        calls: Calls,
        constants: Mapping[str, onnx.NodeProto],
    ) -> tuple[Nodes, Nodes]:
        """The nodes of a graph with inferred types, with and without shapes that bodies declare."""
        drop_constants(graph, opset_of(imports))
        hide_unaskable(graph)
        show_constants(graph, constants)
        query = copy_without(self._model, {"graph"})
        query.graph.CopyFrom(graph)
        del query.opset_import[:]
        query.opset_import.extend(askable_imports(imports))
        inferred = _ask(query)
        calls.read(inferred.graph)
        # Without declared shapes a second query would find the same.
        if not _drop_shapes(query.graph.node):
            return inferred.graph.node, inferred.graph.node
        return inferred.graph.node, _ask(query).graph.node


def _ask(query: onnx.ModelProto) -> onnx.ModelProto:
    try:
        inferred: onnx.ModelProto = ask_onnx("the model", onnx.shape_inference.infer_shapes, query)
    except OnnxError:  # it finds nothing then
        return query
    return inferred


def _drop_shapes(nodes: Nodes) -> bool:
    """Drop the shapes that bodies of Loops declare for their outputs; true if there are any."""
    any_shape = False
    for node in nodes:
        outputs = _body(node).output[1:] if node.op_type == "Loop" and not node.domain else ()
        for info in outputs:
            if info.type.tensor_type.HasField("shape"):
                any_shape = True
                info.type.tensor_type.ClearField("shape")
        for body in subgraphs(node):
            any_shape |= _drop_shapes(body.node)
    return any_shape


def _joined(declared: onnx.TypeProto.Tensor, bare: onnx.TypeProto.Tensor) -> onnx.TypeProto.Tensor:
    """A type without sizes that inference contradicts, or without a shape of another rank."""
    if not (declared.HasField("shape") and bare.HasField("shape")):
        return declared
    common = onnx.TypeProto.Tensor(elem_type=declared.elem_type)
    if len(declared.shape.dim) == len(bare.shape.dim):
        common.shape.SetInParent()
        for dim, other in zip(declared.shape.dim, bare.shape.dim, strict=True):
            sizes = {d.dim_value for d in (dim, other) if d.HasField("dim_value")}
            one = other if other.HasField("dim_value") else dim
            common.shape.dim.add().CopyFrom(type(dim)() if len(sizes) > 1 else one)
    return common


def _key(node: onnx.NodeProto) -> bytes:
    return node.SerializeToString(deterministic=True)


def _imports(proto: onnx.ModelProto | onnx.FunctionProto) -> dict[str, int]:
    return {entry.domain: entry.version for entry in proto.opset_import}


def _body(loop: onnx.NodeProto) -> onnx.GraphProto:
    return next(attribute.g for attribute in loop.attribute if attribute.name == "body")


def _loops(nodes: Nodes, inferred: Nodes) -> Iterator[tuple[onnx.NodeProto, onnx.NodeProto]]:
    """Pairs of each Loop, at any depth, and the same Loop after inference."""
    for node, same in zip(reversed(nodes), reversed(inferred), strict=False):
        if node.op_type == "Loop" and not node.domain:
            yield node, same
        for one, other in zip(subgraphs(node), subgraphs(same), strict=True):
            yield from _loops(one.node, other.node)
