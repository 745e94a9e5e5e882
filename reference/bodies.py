"""Bodies of Loop, Scan and If: execution, captures and declarations."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from ..ir.attributes import graphs_in
from ..ir.io.protobuf.message_headers import copy_without
from ..ir.lazy import lazy_property
from ..ir.onnx_errors import ends_inference
from ..ir.subgraph_arity import fed_inputs, surplus
from .errors import EvaluationError, ask_onnx
from .signature import is_static

Array = np.ndarray[Any, Any]
Attributes = Mapping[str, Any] | None


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """The graphs held by the attributes of ``node``."""
    attributes = node.attribute
    return [g for a in attributes for g in graphs_in(a)] if attributes else []


def label(node: onnx.NodeProto) -> str:
    """How messages name ``node``: its operator and its name, or else its first output."""
    return f"{node.op_type} {node.name or next((o for o in node.output if o), '')!r}"


def captured_names(graph: onnx.GraphProto) -> tuple[str, ...]:
    """The outer names that ``graph``, or a graph nested in it at any depth, uses.

    A name that the graph itself defines (input, initializer, output of an earlier node) is
    never captured, whatever the outer graph calls its values: the inner name wins.
    """
    defined = {"", *(i.name for i in graph.input), *(i.name for i in graph.initializer)}
    defined.update(sparse.values.name for sparse in graph.sparse_initializer)
    captured: dict[str, None] = {}
    for node in graph.node:
        names = [*node.input, *(n for g in subgraphs(node) for n in captured_names(g))]
        captured.update((name, None) for name in names if name not in defined)
        defined.update(node.output)
    # An output may be an outer value itself.
    captured.update((o.name, None) for o in graph.output if o.name not in defined)
    return tuple(captured)


class Body:
    """One body graph, ready to be run again and again.

    ``evaluator`` is the evaluator of the graph, as ``OpRun`` makes it for a graph attribute. The
    node feeds ``fed`` of its inputs; others are constants of the body that it lists as inputs, too.
    ``functions`` are those of the model, for inference.
    """

    def __init__(
        self,
        evaluator: Any,
        opsets: Mapping[str, int],
        feed_count: int,
        functions: Sequence[onnx.FunctionProto] = (),
    ) -> None:
        self.functions = functions
        self.evaluator = evaluator
        self.opsets = opsets
        self.opset = opset_of(opsets)
        self.graph: onnx.GraphProto = evaluator.proto_
        self.inputs = fed_of(self.graph, feed_count)
        self.input_names = [info.name for info in self.inputs]
        self.output_count = len(self.graph.output)
        first = first_outputs(self.graph)
        self.declared = [first[info.name].type.tensor_type for info in self.graph.output]
        self.captures = captured_names(self.graph)

    def bind(self, context: Mapping[str, Any] | None, attributes: Attributes) -> "BoundBody":
        """The body with the outer values it captures, looked up once for all iterations."""
        context = context or {}
        missing = [name for name in self.captures if name not in context]
        if missing:
            raise EvaluationError(f"the body uses {missing[0]!r}, which no outer graph defines")
        return BoundBody(self, {name: context[name] for name in self.captures}, attributes)

    def output_label(self, index: int) -> str:
        """How messages name body output ``index``."""
        return f"body output {self.graph.output[index].name!r}"

    def declared_rank(self, index: int) -> int:
        """The rank the body declares for input ``index``; 0 where it declares none."""
        tensor = self.inputs[index].type.tensor_type
        return len(tensor.shape.dim) if tensor.HasField("shape") else 0

    def element(
        self,
        index: int,
        inputs: Sequence[Any] | None = None,
        captured: Mapping[str, Any] | None = None,
        inferred: onnx.TypeProto.Tensor | None = None,
    ) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Element type and shape of body output ``index``, without running the body.

        What the body declares, completed by shape inference over the body (see `inferred`), unless
        the ``inferred`` type is at hand. A dimension nobody tells is 0 and an unknown shape is a
        scalar's, as in onnxruntime.
        """
        if inferred is None:
            inferred = self.inferred(index, inputs, captured)
        elem_type, dims = self.completed(index, inferred)
        return helper.tensor_dtype_to_np_dtype(elem_type), tuple(d.dim_value for d in dims)

    def stacked(self, index: int, elements: Sequence[Any], **options: Any) -> Array:
        """A scan output from its elements, along a new first axis; ``options`` are those of
        `element`, which tells the type and shape where there are none."""
        if elements:
            return stack(elements, self.output_label(index))
        dtype, shape = self.element(index, **options)
        return empty((0, *shape), dtype)

    def inferred(
        self,
        index: int,
        inputs: Sequence[Any] | None = None,
        captured: Mapping[str, Any] | None = None,
    ) -> onnx.TypeProto.Tensor:
        """The type of body output ``index``, as far as inference finds it: with the types of
        ``inputs`` where given, else with the declared input types, and with those of what is
        ``captured``, or with its constants. Each may be a type instead of an array."""
        declared = self.declared[index]
        if declared.elem_type and is_static(declared):
            return declared
        types = self._infer(inputs, captured or {}) if inputs or captured else self._by_declarations
        return types[index]

    def completed(self, index: int, inferred: onnx.TypeProto.Tensor) -> tuple[int, Sequence[Any]]:
        """Type of output ``index``: the declaration joined with the inferred type, whose dimensions
        may be symbols."""
        elem_type = self.declared[index].elem_type or inferred.elem_type
        if not elem_type:
            raise EvaluationError(
                f"no iteration ran and the body does not declare the element type "
                f"of its output {self.graph.output[index].name!r}; declare it"
            )
        return elem_type, inferred.shape.dim

    @lazy_property
    def _by_declarations(self) -> Sequence[onnx.TypeProto.Tensor]:
        return self._infer(None, {})

    def _infer(
        self, inputs: Sequence[Any] | None, captured: Mapping[str, Any]
    ) -> Sequence[onnx.TypeProto.Tensor]:
        """The types of the outputs of the graph with what shape inference adds to them."""
        alone = onnx.GraphProto()
        alone.CopyFrom(self.graph)
        alone.name = alone.name or "body"
        _keep_fed(alone, len(self.inputs))
        drop_constants(alone, self.opset)
        hide_unaskable(alone)
        for info, value in zip(alone.input, inputs or (), strict=False):
            _declare(info, value)
        constants = {}
        for name, value in captured.items():
            if isinstance(value, onnx.TensorProto):
                constants[name] = helper.make_node("Constant", [], [name], value=value)
            elif isinstance(value, np.ndarray | onnx.TypeProto):
                _declare(alone.input.add(name=name), value)
        show_constants(alone, constants)
        imports = askable_imports(self.opsets)
        model = helper.make_model(alone, opset_imports=imports, functions=self.functions)
        inferred = ask_onnx(f"body '{alone.name}'", onnx.shape_inference.infer_shapes, model)
        return output_types(inferred.graph)


def first_outputs(body: onnx.GraphProto) -> dict[str, onnx.ValueInfoProto]:
    """Declarations of outputs by name; of a repeated name runtimes read the first one."""
    return {info.name: info for info in reversed(body.output)}


def output_types(body: onnx.GraphProto) -> list[onnx.TypeProto.Tensor]:
    """Types of a body's outputs after inference.

    onnx completes only the last output of a name.
    """
    last = {info.name: info.type.tensor_type for info in body.output}
    return [last[info.name] for info in body.output]


def _declare(info: onnx.ValueInfoProto, value: Array | onnx.TypeProto) -> None:
    if isinstance(value, onnx.TypeProto):
        info.type.CopyFrom(value)
        return
    elem_type = helper.np_dtype_to_tensor_dtype(value.dtype)
    info.type.CopyFrom(helper.make_tensor_type_proto(elem_type, value.shape))


def opset_of(imports: Mapping[str, int]) -> int:
    """The version of the standard operators; the newest where none is imported."""
    return imports.get("", onnx.defs.onnx_opset_version())


def fed_of(body: onnx.GraphProto, feed_count: int) -> list[onnx.ValueInfoProto]:
    """Select the inputs of a body that its node feeds."""
    constants = {tensor.name for tensor in body.initializer}
    constants.update(sparse.values.name for sparse in body.sparse_initializer)
    unfed = surplus([info.name for info in body.input], constants, feed_count)
    return [info for info in body.input if info.name not in unfed]


def _keep_fed(body: onnx.GraphProto, feed_count: int) -> None:
    """Remove the constants of a body from its inputs."""
    inputs = fed_of(body, feed_count)
    if len(inputs) < len(body.input):
        # Copies, because `del` frees the messages of the list.
        copies = [onnx.ValueInfoProto.FromString(info.SerializeToString()) for info in inputs]
        del body.input[:]
        body.input.extend(copies)


def drop_constants(graph: onnx.GraphProto, opset: int) -> None:
    """Take the constants of all bodies inside from their inputs: onnx infers no types there."""
    for node in graph.node:
        for body in subgraphs(node):
            feed_count = fed_inputs(node.op_type, len(node.input), opset)
            if feed_count is not None:
                _keep_fed(body, feed_count)
            drop_constants(body, opset)


def askable_imports(opsets: Mapping[str, int]) -> list[onnx.OperatorSetIdProto]:
    """Imports for a graph in which `hide_unaskable` has hidden nodes."""
    return [helper.make_opsetid(*entry) for entry in {**opsets, _UNKNOWN: 1}.items()]


_UNKNOWN = "straightline.unknown"
"""The domain of operators of which onnx knows nothing."""

MOST_SHOWN = 1024
"""Constants up to this size are shown to inference inside of bodies: shapes, axes, pads."""


def without_weights(model: onnx.ModelProto) -> onnx.GraphProto:
    """Copy the main graph; of constants that are large or in files, only the types remain."""
    graph = copy_without(model.graph, {"initializer"})
    inputs = {info.name for info in graph.input}
    for tensor in model.graph.initializer:
        if tensor.name in inputs and model.ir_version >= 4:  # a caller may override it
            continue
        if math.prod(tensor.dims) <= MOST_SHOWN and not tensor.external_data:
            graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            type_ = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
            graph.input.append(onnx.ValueInfoProto(name=tensor.name, type=type_))
    return graph


def show_constants(graph: onnx.GraphProto, outer: Mapping[str, onnx.NodeProto]) -> None:
    """Give bodies the small constants that they capture: onnx reads none from outside."""
    names = captured_names(graph) if outer else ()
    constants = {name: outer[name] for name in names if name in outer}
    captured = list(constants.values())
    first = first_outputs(graph)
    for info in graph.output:
        if info is not first[info.name]:
            info.type.CopyFrom(first[info.name].type)
    outputs = {info.name: info for info in graph.output}
    for tensor in graph.initializer:
        if tensor.name in outputs:  # onnx infers nothing of what no node gives
            type_ = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
            outputs[tensor.name].type.CopyFrom(type_)
        if math.prod(tensor.dims) <= MOST_SHOWN:
            constants[tensor.name] = helper.make_node("Constant", [], [tensor.name], value=tensor)
    for node in graph.node:
        for body in subgraphs(node):
            show_constants(body, constants)
        if node.op_type == "Constant" and not node.domain:
            constants[node.output[0]] = node
    # Constants come before all nodes that read them.
    nodes = [*captured, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


_TYPED = ("EyeLike", "RegexFullMatch")
_READ_UNKNOWN_TYPES = ("DictVectorizer", "LabelEncoder", "TreeEnsemble")
"""Operators whose inference ends the process where the type of their input is not known."""


def hide_unaskable(graph: onnx.GraphProto) -> None:
    """Let onnx not be asked what ends the process: of EyeLike and RegexFullMatch it is told a Cast,
    of which it infers the same, and of others nothing. A Slice of a negative size ends it, too. An
    STFT gets the default of `onesided`, for which onnx 1.23 infers another one."""
    for info in (*graph.input, *graph.value_info, *graph.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value < 0:
                dim.Clear()
    for node in graph.node:
        op_type = node.op_type
        if op_type in _TYPED:
            integers = {attribute.name: attribute.i for attribute in node.attribute}
            to = TensorProto.BOOL if op_type == "RegexFullMatch" else integers.get("dtype")
            if to is not None:
                node.CopyFrom(helper.make_node("Cast", node.input, node.output, to=to))
        elif op_type in _READ_UNKNOWN_TYPES or ends_inference(op_type, node.attribute):
            node.domain = _UNKNOWN
        elif op_type == "STFT" and all(each.name != "onesided" for each in node.attribute):
            node.attribute.append(helper.make_attribute("onesided", 1))
        for body in subgraphs(node):
            hide_unaskable(body)


class BoundBody:
    """A body together with the values it captures; call it with the body's inputs."""

    def __init__(self, body: Body, captured: dict[str, Any], attributes: Attributes) -> None:
        self.body = body
        self.captured = captured
        self.attributes = attributes

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Run one iteration."""
        # An input wins over a captured value of the same name.
        feeds = {**self.captured, **dict(zip(self.body.input_names, inputs, strict=True))}
        outputs: list[Any] = self.body.evaluator.run(None, feeds, attributes=self.attributes)
        return outputs


def scan_row(
    run: BoundBody, states: Sequence[Array], rows: Sequence[Array], length: int
) -> tuple[list[Array], list[list[Any]]]:
    """Run the body ``length`` times over the first axis of ``rows``.

    Returns the final states, and per scan output its elements in the order they were made.
    Raises EvaluationError if a state changes its shape: the specification requires one shape
    in all iterations.
    """
    count, final = len(states), list(states)
    elements: list[list[Any]] = [[] for _ in range(run.body.output_count - count)]
    for t in range(length):
        # With the ellipsis a row of a vector is an array, too, not a number.
        outputs = run([*final, *(row[t, ...] for row in rows)])
        for i, (old, new) in enumerate(zip(final, outputs[:count], strict=True)):
            if old.shape != new.shape:
                raise EvaluationError(
                    f"state {i} changes shape from {list(old.shape)} to {list(new.shape)} in "
                    f"iteration {t}; the specification requires one shape in all iterations"
                )
        final = outputs[:count]
        for collected, element in zip(elements, outputs[count:], strict=True):
            collected.append(element)
    return final, elements


def one_element(value: Any, rank: int, name: str) -> Array:
    """``value``, which must hold one element, in the given rank; ``name`` is for the error."""
    if isinstance(value, list):
        raise EvaluationError(f"{name} must hold one element, it is a sequence")
    array = np.asarray(value)
    if array.size != 1:
        raise EvaluationError(f"{name} must hold one element, its shape is {list(array.shape)}")
    return array.reshape((1,) * rank)


def stack(elements: Sequence[Any], name: str) -> Array:
    """The scan output ``name`` from its elements (at least one), along a new first axis."""
    if not all(isinstance(element, np.ndarray) for element in elements):
        raise EvaluationError(f"{name} is not a tensor; only tensors can be scan outputs")
    first = elements[0].shape
    for i, element in enumerate(elements):
        if element.shape != first:
            raise EvaluationError(
                f"{name} has shape {list(element.shape)} in iteration {i} and {list(first)} in "
                "iteration 0; the elements of a scan output must keep one shape"
            )
    return np.stack(elements)


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Zeros, or empty strings, of the given type."""
    return np.full(tuple(shape), "" if dtype.kind in "OUS" else 0, dtype=dtype)
