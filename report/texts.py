"""Short texts of types, attributes, sizes and times."""

from __future__ import annotations

from typing import Any

import onnx

from ..ir import Operator, Tensor
from ..ir.attributes import PLAIN, value_of
from ..ir.tensor_contents import element_bits
from ..reference import signature

_MOST_TEXT = 60
_MOST_NOTE = 300
_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def type_text(declared: onnx.TypeProto | None) -> str:
    """A declared type in ONNX's text syntax; "" without a declaration.

    >>> type_text(onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 4]))
    'float[N,4]'
    """
    if declared is None or declared.WhichOneof("value") is None:
        return ""
    return signature.type_text(declared)


def attributes_text(op: Operator) -> str:
    """The attributes of an operator without graphs, long values truncated."""
    return ", ".join(
        f"{name}={_attribute(message)}"
        for name, message in op.attributes.items()
        if message.type not in _GRAPHS
    )


def _attribute(message: onnx.AttributeProto) -> str:
    if message.ref_attr_name:
        return f"@{message.ref_attr_name}"
    if message.type == onnx.AttributeProto.TENSOR:
        tensor = Tensor(message.t)
        declared = onnx.helper.make_tensor_type_proto(tensor.elem_type, tensor.dims)
        return type_text(declared)
    if message.type not in PLAIN:
        return str(onnx.AttributeProto.AttributeType.Name(message.type)).lower()
    many = len(message.ints) + len(message.floats) + len(message.strings)
    return f"{many} values" if many > _MOST_TEXT else cut(_value_text(value_of(message)))


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"'{value.decode(errors='replace')}'"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"[{', '.join(map(_value_text, value))}]" if isinstance(value, list) else str(value)


def notes_of(op: Operator) -> tuple[tuple[str, str], ...]:
    """The doc string and metadata of a node, truncated."""
    if op.extra is None:
        return ()
    notes = [("doc string", op.extra.doc_string)] if op.extra.doc_string else []
    notes += [(entry.key, entry.value) for entry in op.extra.metadata_props]
    return tuple((cut(key), cut(value, _MOST_NOTE)) for key, value in notes)


def cut(text: str, most: int = _MOST_TEXT) -> str:
    """Truncate a long text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def tensor_bytes(tensor: Tensor) -> int:
    """The size of a tensor's elements in bytes, without reading them; 0 for strings."""
    if tensor.elem_type == onnx.TensorProto.STRING:
        return 0
    return -(-tensor.size * element_bits(tensor.elem_type) // 8)
