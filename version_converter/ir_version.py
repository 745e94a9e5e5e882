"""IR version of a converted model, and its rules for initializers."""

import functools
from collections.abc import Collection, Iterator, Sequence

import onnx

from ..ir import Graph, Model, Operator, Tensor, Value
from ..ir.constant import constant_tensor
from ..ir.subgraph_arity import count_fed_inputs
from .errors import ConversionError
from .schemas import constant_takes

NEWEST = int(onnx.IR_VERSION)
OLDEST = 3
"""Opset imports, and with them opset 2 and later, came with IR version 3."""

_OVERRIDES = 4
WITHOUT_LISTS = _OVERRIDES
"""IR version from which initializers need not be inputs as well."""

_ANNOTATIONS = 5
_SPARSE = 6
_TRAINING = 7
_FUNCTIONS = 8
_METADATA = 10
_SHARDING = 11

_TensorType = onnx.TensorProto
_ELEMENTS: dict[int, int] = {
    _TensorType.BFLOAT16: 4,
    _TensorType.FLOAT8E4M3FN: 9,
    _TensorType.FLOAT8E4M3FNUZ: 9,
    _TensorType.FLOAT8E5M2: 9,
    _TensorType.FLOAT8E5M2FNUZ: 9,
    _TensorType.UINT4: 10,
    _TensorType.INT4: 10,
    _TensorType.FLOAT4E2M1: 11,
    _TensorType.FLOAT8E8M0: 12,
    _TensorType.UINT2: 13,
    _TensorType.INT2: 13,
}
"""The IR version that introduced an element type (`onnx.proto`, enum Version)."""

_OPTIONALS = 8


@functools.cache
def released_with(opset: int) -> int:
    """The IR version of the first ONNX release with an opset."""
    for row in onnx.helper.VERSION_TABLE:
        if row[2] >= opset:
            return int(row[1])
    return NEWEST


def needed(model: Model) -> tuple[int, str]:
    """The lowest IR version that supports a model, and the feature that needs it."""
    return max(_needs(model), key=lambda need: need[0])


def _needs(model: Model) -> Iterator[tuple[int, str]]:
    yield OLDEST, "opset imports"
    if model.functions:
        yield _FUNCTIONS, "functions"
        if any(f.metadata or f.key[-1] for f in model.functions.values()):
            yield _METADATA, "metadata or overloads of functions"
    if model.training_info:
        yield _TRAINING, "training information"
    if len(model.header.ListFields()) and model.header.configuration:
        yield _SHARDING, "device configurations"
    for graph in model.graphs():
        yield from _needs_of_graph(graph)
        for op in graph.operators():
            yield from _needs_of_operator(op)


def _needs_of_graph(graph: Graph) -> Iterator[tuple[int, str]]:
    if graph.annotations:
        yield _ANNOTATIONS, "quantization annotations"
    if graph.metadata:
        yield _METADATA, "metadata of graphs"
    if graph.is_interface and any(v.constant is None for v in graph.initializers):
        yield _OVERRIDES, "initializers that callers may override"
    yield from _needs_of_tensors(graph.initializers.values())
    infos = [v.info for v in (*graph.inputs, *graph.value_infos) if isinstance(v, Value)]
    for info in (*infos, *graph.output_infos):
        if info is not None:
            yield from _needs_of_type(info.type)
            if info.metadata_props:
                yield _METADATA, "metadata of values"


def _needs_of_operator(op: Operator) -> Iterator[tuple[int, str]]:
    extra = op.extra
    if extra is not None and extra.metadata_props:
        yield _METADATA, "metadata of nodes"
    if extra is not None and extra.device_configurations:
        yield _SHARDING, "device configurations"
    if op.qualname == "Constant":
        tensor = constant_tensor(op)
        if tensor is not None:
            yield from _needs_of_tensors([tensor])
    if op.qualname == "Cast" and not op.references:
        yield _ELEMENTS.get(op.attribute("to", 0), OLDEST), "element types"


def _needs_of_tensors(tensors: Collection[Tensor]) -> Iterator[tuple[int, str]]:
    if any(tensor.is_sparse for tensor in tensors):
        yield _SPARSE, "sparse tensors"
    for elem_type in {tensor.elem_type for tensor in tensors}:
        yield _ELEMENTS.get(elem_type, OLDEST), "element types"


def _needs_of_type(type_: onnx.TypeProto) -> Iterator[tuple[int, str]]:
    kind = type_.WhichOneof("value")
    if kind == "tensor_type":
        yield _ELEMENTS.get(type_.tensor_type.elem_type, OLDEST), "element types"
    elif kind == "sequence_type":
        yield from _needs_of_type(type_.sequence_type.elem_type)
    elif kind == "optional_type":
        yield _OPTIONALS, "optional types"
        yield from _needs_of_type(type_.optional_type.elem_type)


def set_ir_version(model: Model, source: int, target: int, request: int | None = None) -> None:
    """Set the IR version of a converted model, with its initializers in the matching form.

    Without a request the version is, up, at least the one that ONNX released with the target opset;
    down, at most that one; and never below what the model's own features need.

    Below 4 every initializer is an input of the graph as well. The bodies of Loop, If and Scan are
    written so; constants of other operators' bodies become Constant nodes when the model is
    written, or go to the main graph where the opset has no such Constant. From 4 on such inputs
    would be defaults that a caller may override, so they stop being inputs.

    Raises:
        ConversionError: the version does not exist, or the model needs a higher one.
    """
    if source == target and request in (None, model.ir_version):
        return
    if request is None or request != model.ir_version:
        _choose(model, source, target, request)
    if model.allows_overrides:  # onnx's full check wants no constant among the inputs of a body
        for graph in model.graphs():
            graph.listed.clear()


def _choose(model: Model, source: int, target: int, request: int | None) -> None:
    least, why = needed(model)
    version = request
    if version is None:
        bound = max if target > source else min
        version = max(bound(model.ir_version, released_with(target)), least)
    if not max(OLDEST, least) <= version <= NEWEST:
        raise ConversionError(
            f"IR version {version} does not fit: this model needs {least} ({why}), and the newest"
            f" known is {NEWEST}"
        )
    before = model.ir_version
    if version == before:
        return
    model.header.ir_version = version
    if version < _OVERRIDES:
        _list_among_inputs(model)
    elif before < _OVERRIDES:
        for value in model.graph.inputs:
            if value in model.graph.initializers:
                model.graph.freeze_input(value)


def keep_constants(model: Model) -> None:
    """Keep the constants of a changed model initializers below IR version 4. There, a constant that
    its graph does not list among its inputs is written as a node, and so is one in a body inside a
    body."""
    if model.allows_overrides or model.has_loaded_form:
        return
    for body in list(model.graph.walk())[1:]:
        holder = body.holder
        assert holder is not None and holder.graph is not None
        if holder.graph is not model.graph or count_fed_inputs(holder) is None:
            _hoist(model, body, list(body.initializers))
    _list_initializers(model.graph)


def _list_among_inputs(model: Model) -> None:
    """List every initializer among the inputs of its graph or of the main graph."""
    for body in list(model.graph.walk())[1:]:
        if body.holder is not None and count_fed_inputs(body.holder) is None:
            opset, tensors = model.opset(), body.initializers
            lost = [v for v in tensors if not constant_takes(tensors[v].elem_type, opset)]
            _hoist(model, body, lost)
    _list_initializers(model.graph)


def _list_initializers(graph: Graph) -> None:
    """Make every initializer of the main graph an input."""
    listed = set(graph.inputs)
    for value, tensor in list(graph.initializers.items()):
        if value not in listed:
            _make_input(graph, value, tensor)


def _hoist(model: Model, body: Graph, constants: Sequence[Value]) -> None:
    """Move constants of a body to the main graph."""
    listed = set(body.inputs)
    for value in constants:
        if value not in listed:
            hoisted = model.graph.add_initializer(value.name, body.initializers[value])
            body.supersede(value, hoisted)
            body.remove_initializer(value)


def _make_input(graph: Graph, value: Value, tensor: Tensor) -> None:
    """Replace an initializer by an input with the tensor as its default."""
    info = onnx.ValueInfoProto()
    if value.info is not None:
        info.CopyFrom(value.info)
    info.name = value.name
    if not info.HasField("type"):
        info.type.CopyFrom(onnx.helper.make_tensor_type_proto(tensor.elem_type, tensor.dims))
    new_input = graph.add_input(value.name, info)
    graph.initializers[new_input] = tensor
    # No caller may override it below IR version 4.
    new_input.constant = tensor
    graph.supersede(value, new_input)
    graph.remove_initializer(value)
