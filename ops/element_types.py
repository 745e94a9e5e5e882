"""Element types without shapes: cheap enough to ask for at every node of a large graph.

An operator's schema says which of its inputs share a type with an output ("T"), so the type of a
value follows from one input of its node, and so on up to a declaration. What If, Loop and Scan give
out follows from their bodies, and what a body is handed from the node around it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import onnx
import onnx.defs

from ..ir import Node, Operator, Value, normal_domain
from .schema_queries import types_of

_BODIES = {"If": ("then_branch", 0), "Loop": ("body", 1), "Scan": ("body", 0)}
"""A body of each operator whose outputs are those of the node, but for so many at the front."""

_TYPED_BY_ATTRIBUTES = ("Cast", "ConstantOfShape")

_NEWEST = 2**31 - 1
_HANDED_BY_LOOP = (onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
"""The types of the iteration number and the condition."""


VersionOf = Callable[[Node], int]
"""The version of its own domain in which a node is written; on the way to another one not all are
in the same."""


def version_of_root(node: Node) -> int:
    """The version that a node's model or function imports."""
    assert node.graph is not None
    domain, root = node.op.domain, node.graph.root
    return (not domain and root.opset_imports.get("")) or root.opset(domain)


class ElementTypes:
    """Element types of values, remembered once found.

    Args:
        version_of: the opset version in which a node is written.
    """

    def __init__(self, version_of: VersionOf = version_of_root) -> None:
        self._version_of = version_of
        self._known: dict[Value, int | None] = {}
        # Many nodes share an operator, and most operators say the same of all their nodes.
        self._told: dict[Operator, Told | None] = {}

    def of(self, value: Value) -> int | None:
        """The element type as `onnx.TensorProto.DataType`; None where it does not follow."""
        cache, path = self._known, []
        current: int | Value | None = value
        while isinstance(current, Value):
            if current in cache:
                current = cache[current]
            else:
                path.append(current)
                cache[current] = None
                current = self._nearer(current)
        for passed in path:
            cache[passed] = current
        return current

    def of_each(self, values: Iterable[Value | None]) -> tuple[int | None, ...]:
        """The element types of several values; 0 for one that does not follow, and None for one
        that is absent."""
        cache, of = self._known, self.of
        return tuple(
            [None if v is None else (cache[v] if v in cache else of(v)) or 0 for v in values]
        )

    def _nearer(self, value: Value) -> int | Value | None:
        """The result of `_look`, with the types of plain operators cached."""
        node = value.producer
        if node is not None and value.constant is None and value.info is None:
            op = node.op
            if op not in self._told:
                plain = not op.holds_graphs and op.qualname not in _TYPED_BY_ATTRIBUTES
                self._told[op] = _always_told(op.op_type, op.domain, 0) if plain else None
            output_type = self._told[op]
            if output_type is not None and node.graph is not None and len(node.outputs) == 1:
                elem_type, index = output_type
                return elem_type if elem_type is not None or index is None else node.input(index)
        return _look(value, self._version_of)


def _look(value: Value, version_of: VersionOf) -> int | Value | None:
    """Element type of a value, or a value that determines it."""
    if value.constant is not None:
        return value.constant.elem_type
    if value.info is not None and value.elem_type is not None:
        return value.elem_type
    node = value.producer
    if node is None:
        return _handed(value, version_of)
    op = node.op
    qualname = op.qualname
    if qualname == "Cast":
        to = op.attributes.get("to")
        if to is not None and not to.ref_attr_name:
            return to.i
    elif qualname == "ConstantOfShape" and not op.references:
        filling = op.attributes.get("value")
        return onnx.TensorProto.FLOAT if filling is None else filling.t.data_type
    elif node.bodies and qualname in _BODIES:
        return _given_by_body(node, value)
    if node.graph is None:
        return None
    # Of a node with very many outputs the schema has one, and their positions need not be found.
    many = len(node.outputs) > 1 and _gives_several(op.op_type, op.domain)
    position = _position(node, value) if many else 0
    output_type = _always_told(op.op_type, op.domain, position)
    if output_type is None:
        output_type = _told(op.op_type, op.domain, version_of(node), position)
    elem_type, index = output_type
    if elem_type is not None or node.bodies or index is None:
        return elem_type
    return node.input(index)


def _given_by_body(node: Node, value: Value) -> int | Value | None:
    """The declared element type of an output of a body, or that output."""
    name, shift = _BODIES[node.op_type]
    if name not in node.bodies:  # the caller of the function gives it
        return None
    body, index = node.body(name), _position(node, value) + shift
    if index >= len(body.outputs):
        return None
    return body.output_infos[index].type.tensor_type.elem_type or body.outputs[index]


def _handed(value: Value, version_of: VersionOf) -> int | Value | None:
    """The type of an input of a body, or the operand behind it."""
    graph = value.owner
    holder = None if graph is None else graph.holder
    if graph is None or holder is None or not holder.is_op("Loop", "Scan"):
        return None
    index = graph.inputs.index(value)
    if holder.is_op("Loop"):
        return _HANDED_BY_LOOP[index] if index < len(_HANDED_BY_LOOP) else holder.input(index)
    # Version 8 has the lengths of the sequences in front (ONNX operators, Scan-8).
    return holder.input(index + (version_of(holder) == 8))


def _position(node: Node, value: Value) -> int:
    return next(index for index, output in enumerate(node.outputs) if output is value)


Told = tuple[int | None, int | None]
"""What a schema says of an output: its element type, where that leaves no choice, and the position
of an input of the same type."""


@functools.cache
def _gives_several(op_type: str, domain: str) -> bool:
    """Test for several formal outputs in some version of an operator."""
    return any(len(schema.outputs) > 1 for schema in _versions(op_type, domain))


@functools.cache
def _always_told(op_type: str, domain: str, position: int) -> Told | None:
    """The type of an output in all opsets; None where that depends on the opset."""
    versions = _versions(op_type, domain)
    # An operator that appears later has no type in the opsets before it.
    if normal_domain(domain) or not versions or versions[-1].since_version > 1:
        return None
    types = {_told_by(schema, position) for schema in versions}
    return types.pop() if len(types) == 1 else None


@functools.cache
def _told(op_type: str, domain: str, version: int, position: int) -> Told:
    """The type of an output in one version of an operator."""
    schema = _schema(op_type, domain, version)
    return (None, None) if schema is None else _told_by(schema, position)


def _told_by(schema: Any, position: int) -> Told:
    if not schema.outputs:
        return None, None
    # The last formal output may be variadic and stand for all further ones.
    output = schema.outputs[min(position, len(schema.outputs) - 1)]
    same = (f.type_str == output.type_str and f.is_homogeneous for f in schema.inputs)
    return _only_type(schema, output), next(
        (index for index, is_same in enumerate(same) if is_same), None
    )


def _only_type(schema: Any, output: Any) -> int | None:
    types = sorted(types_of(schema, output))
    if len(types) != 1 or not types[0].startswith("tensor("):
        return None
    return int(onnx.TensorProto.DataType.Value(types[0][len("tensor(") : -1].upper()))


@functools.cache
def _versions(op_type: str, domain: str) -> list[Any]:
    """All versions of an operator, the newest first."""
    schemas: list[Any] = []
    schema = _schema(op_type, domain, _NEWEST)
    while schema is not None:
        schemas.append(schema)
        schema = _schema(op_type, domain, schema.since_version - 1)
    return schemas


def _schema(op_type: str, domain: str, version: int) -> Any:
    domain = normal_domain(domain)
    if not version or not onnx.defs.has(op_type, domain=domain, max_inclusive_version=version):
        return None
    return onnx.defs.get_schema(op_type, version, domain)
