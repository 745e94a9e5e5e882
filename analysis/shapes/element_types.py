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
        known = self._known
        if value in known:
            return known[value]
        path: list[Value] = []
        found: int | Value | None = value
        while isinstance(found, Value) and found not in known:
            path.append(found)
            known[found] = None
            found = _look(found, self._version_of)
        elem_type = known[found] if isinstance(found, Value) else found
        for passed in path:
            known[passed] = elem_type
        return elem_type


def _look(value: Value, version_of: VersionOf) -> int | Value | None:
    """The element type of a value, or another value of the same type that is nearer to what a model
    declares."""
    if value.constant is not None:
        return value.constant.elem_type
    if value.info is not None and value.elem_type is not None:
        return value.elem_type
    node = value.producer
    if node is None:
        return _handed_by_loop(value) or _handed(value, version_of)
    qualname = node.op.qualname
    if qualname == "Cast":
        to = node.op.attributes.get("to")
        if to is not None and not to.ref_attr_name:
            return to.i
    elif qualname == "ConstantOfShape" and not node.op.references:
        filling = node.op.attributes.get("value")
        return onnx.TensorProto.FLOAT if filling is None else filling.t.data_type
    elif node.bodies and qualname in _BODIES:
        return _given_by_body(node, value)
    if node.graph is None:
        return None
    op_type, domain, version = node.op_type, normal_domain(node.domain), version_of(node)
    # Of a node with very many outputs the schema has one, and their positions need not be found.
    many = len(node.outputs) > 1 and _formal_outputs(op_type, domain, version) > 1
    position = _position(node, value) if many else 0
    elem_type, index = _told(op_type, domain, version, position)
    if elem_type is not None or node.bodies or index is None:
        return elem_type
    return node.input(index)


def _given_by_body(node: Node, value: Value) -> int | Value | None:
    """What a body declares of the output that is one of its node's, or that output."""
    slot = _slot(node, value)
    if slot is None:
        return None
    body, index = slot
    return body.output_infos[index].type.tensor_type.elem_type or body.outputs[index]


def _handed_by_loop(value: Value) -> int | None:
    graph = value.owner
    if graph is None or graph.holder is None or not graph.holder.is_op("Loop"):
        return None
    given = zip(graph.inputs, _HANDED_BY_LOOP, strict=False)
    return next((elem_type for other, elem_type in given if other is value), None)


def _slot(node: Node, value: Value) -> tuple[Graph, int] | None:
    """The body that gives out what a node does, and the position of one of the node's outputs."""
    name, shift = _BODIES[node.op_type]
    if name not in node.bodies:  # the caller of the function gives it
        return None
    body, index = node.body(name), _position(node, value) + shift
    return (body, index) if index < len(body.outputs) else None


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


@functools.cache
def _formal_outputs(op_type: str, domain: str, version: int) -> int:
    schema = _schema(op_type, domain, version)
    return 0 if schema is None else len(schema.outputs)


@functools.cache
def _told(op_type: str, domain: str, version: int, position: int) -> tuple[int | None, int | None]:
    """What a schema says of an output: its element type, where that leaves no choice, and the
    position of an input of the same type."""
    schema = _schema(op_type, domain, version)
    if schema is None or not schema.outputs:
        return None, None
    output = schema.outputs[min(position, len(schema.outputs) - 1)]
    return _only_type(output), _same_typed_position(schema, output)


def _same_typed_position(schema: Any, output: Any) -> int | None:
    for index, formal in enumerate(schema.inputs):
        if formal.type_str == output.type_str and formal.is_homogeneous:
            return index
    return None


def _only_type(output: Any) -> int | None:
    types = list(output.types)
    if len(types) != 1 or not types[0].startswith("tensor("):
        return None
    return int(onnx.TensorProto.DataType.Value(types[0][len("tensor(") : -1].upper()))


def _schema(op_type: str, domain: str, version: int) -> Any:
    if not version or not onnx.defs.has(op_type, domain=domain, max_inclusive_version=version):
        return None
    return onnx.defs.get_schema(op_type, version, domain)
