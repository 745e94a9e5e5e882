"""Short texts of types, attributes, sizes and times."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from ..ir import LoadError, Operator, Tensor
from ..ir.attributes import PLAIN, value_of
from ..ir.message_contents import element_bits
from ..ir.places import normal_domain
from ..reference import signature

_MOST_TEXT = 60
_MOST_NOTE = 300
MOST_WHOLE = 2000
"""The most characters of an attribute; the page shortens them further at a glance."""
_MOST_ELEMENTS = 8
"""The most elements of a constant whose values a page holds: axes and sizes, no weights."""
_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def type_text(declared: onnx.TypeProto | None) -> str:
    """A declared type in ONNX's text syntax; "" without a declaration.

    >>> type_text(onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 4]))
    'float[N,4]'
    """
    if declared is None or declared.WhichOneof("value") is None:
        return ""
    return signature.type_text(declared)


def attributes_of(op: Operator, most: int = MOST_WHOLE) -> tuple[tuple[str, str], ...]:
    """The attributes of an operator without graphs, as names and texts; very long ones truncated.

    A truncated text ends with a fingerprint, so that different values have different texts.

    Args:
        most: the most characters of a text.
    """
    return tuple(
        (cut(name), _attribute(message, most))
        for name, message in op.attributes.items()
        if message.type not in _GRAPHS
    )


def _attribute(message: onnx.AttributeProto, most: int) -> str:
    if message.ref_attr_name:
        return f"@{cut(message.ref_attr_name)}"
    if message.type == onnx.AttributeProto.TENSOR:
        tensor = Tensor(message.t)
        declared = onnx.helper.make_tensor_type_proto(tensor.elem_type, tensor.dims)
        return elements_text(tensor) or type_text(declared)
    if message.type not in PLAIN:
        return str(onnx.AttributeProto.AttributeType.Name(message.type)).lower()
    text = _value_text(value_of(message))
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{cut(text, most)} ({len(text)} characters, {digest})"


def elements_text(tensor: Tensor | None) -> str:
    """The elements of a small constant; "" for others, in other files, and not readable.

    >>> elements_text(Tensor(array=np.array([1, 2])))
    '[1, 2]'
    """
    if tensor is None or tensor.is_external or not tensor.is_readable:
        return ""
    if tensor.size > _MOST_ELEMENTS or len(tensor.dims) > _MOST_ELEMENTS:
        return ""
    try:
        array = np.asarray(tensor.numpy())
    except LoadError:  # such as bytes that are not UTF-8: a report of the model is still one
        return ""
    exact = array.dtype.kind in "OSUbiufc"
    return cut(_value_text((array if exact else array.astype(np.float32)).tolist()), _MOST_NOTE)


def _value_text(value: Any) -> str:
    if isinstance(value, bytes | str):
        return f"'{value.decode(errors='replace') if isinstance(value, bytes) else value}'"
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


def parameters_of(op: Operator, opsets: Mapping[str, int]) -> tuple[str, ...]:
    """The names of an operator's inputs in its specification; none for unknown operators.

    Args:
        opsets: the version of each domain.
    """
    domain = normal_domain(op.domain)
    version = opsets.get(op.domain, opsets.get(domain, 0))
    if not version or not onnx.defs.has(op.op_type, domain):
        return ()
    try:
        schema = onnx.defs.get_schema(op.op_type, version, domain)
    except onnx.defs.SchemaError:  # a later opset has it
        return ()
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return tuple([formal.name for formal in schema.inputs if formal.option != variadic])
