"""Element types without shapes: cheap enough to ask for at every node of a large graph.

An operator's schema says which of its inputs share a type with an output ("T"), so the type of a
value follows from one input of its node, and so on up to a declaration.
"""

from __future__ import annotations

import functools

import onnx.defs

from ...ir import Node, Value, normal_domain


class ElementTypes:
    """Element types of values, remembered once found."""

    def __init__(self) -> None:
        self._known: dict[Value, int | None] = {}

    def of(self, value: Value) -> int | None:
        """The element type as `onnx.TensorProto.DataType`; None where it does not follow."""
        path: list[Value] = []
        current: Value | None = value
        while current is not None and current not in self._known:
            path.append(current)
            found = _declared(current)
            if found is not None:
                self._known[current] = found
                break
            self._known[current] = None
            current = _same_typed_input(current)
        known = self._known.get(current) if current is not None else None
        for passed in path:
            self._known[passed] = known
        return known


def _declared(value: Value) -> int | None:
    if value.constant is not None:
        return value.constant.elem_type
    if value.elem_type is not None:
        return value.elem_type
    node = value.producer
    if node is not None and node.is_op("Cast"):
        to = node.attribute("to")
        return to if isinstance(to, int) else None
    return None


def _same_typed_input(value: Value) -> Value | None:
    """An input of the value's node that has its element type by the operator's schema."""
    node = value.producer
    if node is None or node.graph is None or node.bodies:
        return None
    version = node.graph.root.opset(node.domain)
    index = _same_typed_position(
        node.op_type, normal_domain(node.domain), version, _position(node, value)
    )
    return node.input(index) if index is not None else None


def _position(node: Node, value: Value) -> int:
    return next(index for index, output in enumerate(node.outputs) if output is value)


@functools.cache
def _same_typed_position(op_type: str, domain: str, version: int, output: int) -> int | None:
    if not version or not onnx.defs.has(op_type, domain=domain, max_inclusive_version=version):
        return None
    schema = onnx.defs.get_schema(op_type, version, domain)
    wanted = schema.outputs[min(output, len(schema.outputs) - 1)].type_str
    for index, formal in enumerate(schema.inputs):
        if formal.type_str == wanted and formal.is_homogeneous:
            return index
    return None
