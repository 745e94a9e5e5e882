"""Types and constants of the arguments that calls give to a model's functions.

y = my.F (x, k)      # x float[2, 3], k = [0]
z = my.F (w, k)      # w float[N, 3]     ->     F sees (float[?, 3], [0])
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx

from ..ir.places import FunctionKey
from .bodies import subgraphs
from .functions import function_key, specialize
from .signature import all_nodes

Argument = onnx.TypeProto | onnx.TensorProto | None
"""A type, a constant, or None if unknown."""


class Instance:
    """A function with the attributes of some calls.

    Args:
        function: the function, with the attributes in it.
        arguments: what all calls agree on, by position.
    """

    def __init__(
        self, calls: "Calls", function: onnx.FunctionProto, arguments: Sequence[Argument]
    ) -> None:
        self.calls = calls
        self.function = function
        self.arguments = list(arguments)

    def join(self, arguments: Sequence[Argument]) -> None:
        """Add the arguments of one more call."""
        # A call may omit arguments at the end.
        width = min(len(self.arguments), len(arguments))
        self.arguments = list(map(_common, self.arguments[:width], arguments))


class Calls:
    """Instances of a model's functions, callers before callees.

    An iteration gives the next instance once the graphs that call it were read."""

    def __init__(self, functions: Iterable[onnx.FunctionProto]) -> None:
        self._functions = {function_key(function): function for function in functions}
        self._instances: dict[FunctionKey, dict[tuple[bytes, ...], Instance]] = {}

    def __iter__(self) -> Iterator[Instance]:
        for key in self._callers_first():
            yield from self._instances.get(key, {}).values()

    def read(self, graph: onnx.GraphProto) -> None:
        """Note the calls of a graph with inferred types, also those in its bodies."""
        if self._functions:
            self._read(graph, {})

    def _read(self, graph: onnx.GraphProto, outer: Mapping[str, Argument]) -> None:
        scope = {**outer, **_own_values(graph)}
        for node in graph.node:
            function = self._functions.get(function_key(node))
            if function is not None:
                self._note(function, node, [scope.get(name) for name in node.input])
            for body in subgraphs(node):
                self._read(body, scope)

    def _note(
        self, function: onnx.FunctionProto, call: onnx.NodeProto, arguments: Sequence[Argument]
    ) -> None:
        texts = tuple([a.SerializeToString(deterministic=True) for a in call.attribute])
        instances = self._instances.setdefault(function_key(function), {})
        if texts in instances:
            instances[texts].join(arguments)
        else:
            instances[texts] = Instance(self, specialize(function, call.attribute), arguments)

    def _callers_first(self) -> list[FunctionKey]:
        """Keys in topological order; without recursion, as chains of calls may be long."""
        callees = {key: _called(f.node, self._functions) for key, f in self._functions.items()}
        order: dict[FunctionKey, None] = {}
        for root, inside in callees.items():
            stack = [(root, iter(inside))]
            entered = {root}
            while root not in order and stack:
                key, rest = stack[-1]
                inner = next((k for k in rest if k not in order and k not in entered), None)
                if inner is None:
                    order[key] = None
                    stack.pop()
                else:
                    entered.add(inner)
                    stack.append((inner, iter(callees[inner])))
        return [*reversed(order)]


def _called(
    nodes: Sequence[onnx.NodeProto], functions: Mapping[FunctionKey, onnx.FunctionProto]
) -> list[FunctionKey]:
    """Keys of the functions that nodes call, at any depth."""
    keys = dict.fromkeys(map(function_key, all_nodes(nodes)))
    return [key for key in keys if key in functions]


def _own_values(graph: onnx.GraphProto) -> dict[str, Argument]:
    """Types and constants of the values of a graph, by name."""
    # A value of unknown type hides an outer one of its name as well.
    values: dict[str, Argument] = {name: None for node in graph.node for name in node.output}
    for info in (*graph.input, *graph.value_info, *graph.output):
        values[info.name] = info.type
    for tensor in graph.initializer:
        values[tensor.name] = tensor
    for node in graph.node:
        if node.op_type == "Constant" and not node.domain and node.attribute[0].name == "value":
            values[node.output[0]] = node.attribute[0].t
    return values


def _common(one: Argument, other: Argument) -> Argument:
    """An argument that two calls agree on."""
    if one == other:
        return one
    types = [_type_of(argument) for argument in (one, other)]
    if any(t is None or t.WhichOneof("value") != "tensor_type" for t in types):
        return types[0] if types[0] == types[1] else None
    first, second = (t.tensor_type for t in types if t is not None)
    if first.elem_type != second.elem_type:
        return None
    return onnx.TypeProto(tensor_type=common_type(first, second))


def _type_of(argument: Argument) -> onnx.TypeProto | None:
    if isinstance(argument, onnx.TensorProto):
        return onnx.helper.make_tensor_type_proto(argument.data_type, argument.dims)
    return argument


def common_type(one: onnx.TypeProto.Tensor, other: onnx.TypeProto.Tensor) -> onnx.TypeProto.Tensor:
    """A type with the sizes that two types agree on."""
    common = onnx.TypeProto.Tensor(elem_type=one.elem_type)
    if one.HasField("shape") and len(one.shape.dim) == len(other.shape.dim):
        common.shape.SetInParent()
        for dim, same in zip(one.shape.dim, other.shape.dim, strict=True):
            common.shape.dim.add().CopyFrom(dim if dim == same else type(dim)())
    return common
