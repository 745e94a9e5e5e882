"""Element types without shapes: cheap enough to ask for at every node of a large graph.

An operator's schema says which of its inputs share a type with an output ("T"), so the type of a
value follows from one input of its node, and so on up to a declaration. What If, Loop and Scan give
out follows from their bodies, and what a body is handed from the node around it.
"""

from __future__ import annotations

import functools
from typing import Any

import onnx
import onnx.defs

from ...ir import Graph, Node, Value, normal_domain
from .versions import VersionOf, version_of_root

_BODIES = {"If": ("then_branch", 0), "Loop": ("body", 1), "Scan": ("body", 0)}
"""A body of each operator whose outputs are those of the node, but for so many at the front."""

_HANDED_BY_LOOP = (onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
"""The types of the iteration number and the condition."""


class ElementTypes:
    """Element types of values, remembered once found.

    Args:
        version_of: the opset version in which a node is written.
    """

    def __init__(self, version_of: VersionOf = version_of_root) -> None:
        self._version_of = version_of
        self._known: dict[Value, int | None] = {}

    def of(self, value: Value) -> int | None:
        """The element type as `onnx.TensorProto.DataType`; None where it does not follow."""
        path: list[Value] = []
        current: Value | None = value
        while current is not None and current not in self._known:
            path.append(current)
            found = _declared(current, self._version_of)
            if found is not None:
                self._known[current] = found
                break
            self._known[current] = None
            current = _same_typed(current, self._version_of)
        known = self._known.get(current) if current is not None else None
        for passed in path:
            self._known[passed] = known
        return known


def _declared(value: Value, version_of: VersionOf) -> int | None:
    if value.constant is not None:
        return value.constant.elem_type
    if value.elem_type is not None:
        return value.elem_type
    node = value.producer
    if node is None:
        return _handed_by_loop(value)
    if node.is_op("Cast"):
        to = node.op.attributes.get("to")
        return to.i if to is not None and not to.ref_attr_name else None
    slot = _slot(node, value)
    if slot is not None:
        body, index = slot
        return body.output_infos[index].type.tensor_type.elem_type or None
    if node.graph is None:
        return None
    version = version_of(node)
    position = _formal_output(node, value, version)
    return _only_type(node.op_type, normal_domain(node.domain), version, position)


def _handed_by_loop(value: Value) -> int | None:
    graph = value.owner
    if graph is None or graph.holder is None or not graph.holder.is_op("Loop"):
        return None
    given = zip(graph.inputs, _HANDED_BY_LOOP, strict=False)
    return next((elem_type for other, elem_type in given if other is value), None)


def _slot(node: Node, value: Value) -> tuple[Graph, int] | None:
    """The body that gives out what a node does, and the position of one of the node's outputs."""
    if not node.is_op(*_BODIES):
        return None
    name, shift = _BODIES[node.op_type]
    if name not in node.bodies:  # the caller of the function gives it
        return None
    body, index = node.body(name), _position(node, value) + shift
    return (body, index) if index < len(body.outputs) else None


def _same_typed(value: Value, version_of: VersionOf) -> Value | None:
    """Another value of the same element type, nearer to what a model declares."""
    node = value.producer
    if node is None:
        return _handed(value, version_of)
    if node.graph is None:
        return None
    if node.bodies:
        slot = _slot(node, value)
        return None if slot is None else slot[0].outputs[slot[1]]
    version = version_of(node)
    position = _formal_output(node, value, version)
    index = _same_typed_position(node.op_type, normal_domain(node.domain), version, position)
    return node.input(index) if index is not None else None


def _handed(value: Value, version_of: VersionOf) -> Value | None:
    """What a Loop or Scan hands to its body as one of the body's inputs, or a part of it."""
    graph = value.owner
    holder = None if graph is None else graph.holder
    if graph is None or holder is None or not holder.is_op("Loop", "Scan"):
        return None
    index = graph.inputs.index(value)
    if holder.is_op("Loop"):
        return holder.input(index) if index >= len(_HANDED_BY_LOOP) else None
    return holder.input(index + (holder.is_op("Scan") and version_of(holder) == 8))


def _position(node: Node, value: Value) -> int:
    return next(index for index, output in enumerate(node.outputs) if output is value)


def _formal_output(node: Node, value: Value, version: int) -> int:
    """The position of an output in the schema; 0 where that has one, of however many values."""
    single = _formal_outputs(node.op_type, normal_domain(node.domain), version) == 1
    return 0 if single else _position(node, value)


@functools.cache
def _formal_outputs(op_type: str, domain: str, version: int) -> int:
    schema = _schema(op_type, domain, version)
    return 0 if schema is None else len(schema.outputs)


@functools.cache
def _same_typed_position(op_type: str, domain: str, version: int, output: int) -> int | None:
    schema = _schema(op_type, domain, version)
    if schema is None or not schema.outputs:
        return None
    wanted = schema.outputs[min(output, len(schema.outputs) - 1)].type_str
    for index, formal in enumerate(schema.inputs):
        if formal.type_str == wanted and formal.is_homogeneous:
            return index
    return None


@functools.cache
def _only_type(op_type: str, domain: str, version: int, output: int) -> int | None:
    """The element type of an output for which the schema leaves no choice."""
    schema = _schema(op_type, domain, version)
    if schema is None or not schema.outputs:
        return None
    types = list(schema.outputs[min(output, len(schema.outputs) - 1)].types)
    if len(types) != 1 or not types[0].startswith("tensor("):
        return None
    return int(onnx.TensorProto.DataType.Value(types[0][len("tensor(") : -1].upper()))


def _schema(op_type: str, domain: str, version: int) -> Any:
    if not version or not onnx.defs.has(op_type, domain=domain, max_inclusive_version=version):
        return None
    return onnx.defs.get_schema(op_type, version, domain)
