"""Attributes of nodes: their kinds, and checks of the values that all rooms rely on."""

from collections.abc import Sequence
from typing import Any

import onnx

from .errors import ModelError
from .message_contents import Types, check_sparse, check_tensor

_Kind = onnx.AttributeProto
_GRAPH, _GRAPHS = _Kind.GRAPH, _Kind.GRAPHS
ANY = -1
"""The kind of a reference without a type."""

_FIELDS = {
    "f": _Kind.FLOAT,
    "i": _Kind.INT,
    "s": _Kind.STRING,
    "t": _Kind.TENSOR,
    "sparse_tensor": _Kind.SPARSE_TENSOR,
    "tp": _Kind.TYPE_PROTO,
    "floats": _Kind.FLOATS,
    "ints": _Kind.INTS,
    "strings": _Kind.STRINGS,
    "tensors": _Kind.TENSORS,
    "sparse_tensors": _Kind.SPARSE_TENSORS,
    "type_protos": _Kind.TYPE_PROTOS,
}
_ELEMENT_TYPES = frozenset({"to", "dtype", "output_dtype", "output_datatype", "stash_type"})
"""Attributes that name an element type by its number, for any operator."""

_VALUED = frozenset(
    {
        _Kind.TENSOR,
        _Kind.SPARSE_TENSOR,
        _Kind.TYPE_PROTO,
        _Kind.TENSORS,
        _Kind.SPARSE_TENSORS,
        _Kind.TYPE_PROTOS,
    }
)

_READ = {
    _Kind.FLOAT: "f",
    _Kind.INT: "i",
    _Kind.STRING: "s",
    _Kind.FLOATS: "floats",
    _Kind.INTS: "ints",
}
"""The fields of the commonest kinds, for which onnx's own function takes several times as long."""

_SINGLE = (_Kind.FLOAT, _Kind.INT, _Kind.STRING)

PLAIN = frozenset({_Kind.FLOAT, _Kind.INT, _Kind.STRING, _Kind.FLOATS, _Kind.INTS, _Kind.STRINGS})
"""Kinds of attributes that are numbers or text: most of them."""

LARGE = frozenset({_GRAPH, _GRAPHS, *_VALUED} - {_Kind.TYPE_PROTO, _Kind.TYPE_PROTOS})
"""Kinds of attributes that may hold much: tensors and graphs."""


def kind_of(attribute: onnx.AttributeProto) -> int:
    """The kind of an attribute.

    Files of IR version 1 and 2 may omit it: the field that is set decides. They hold no graphs.
    """
    if attribute.type:
        return attribute.type
    if attribute.ref_attr_name:
        return ANY
    fields = (field.name for field, _ in attribute.ListFields())
    return next((_FIELDS[name] for name in fields if name in _FIELDS), _Kind.UNDEFINED)


def value_of(attribute: onnx.AttributeProto) -> Any:
    """The value of an attribute as Python sees it."""
    field = _READ.get(attribute.type)
    if field is not None and not attribute.ref_attr_name:
        value = getattr(attribute, field)
        return value if attribute.type in _SINGLE else list(value)
    kind = kind_of(attribute)
    if kind == attribute.type:
        return onnx.helper.get_attribute_value(attribute)
    # onnx's function reads the field that the type names.
    typed = onnx.AttributeProto()
    typed.CopyFrom(attribute)
    typed.type = onnx.AttributeProto.AttributeType.ValueType(kind)
    return onnx.helper.get_attribute_value(typed)


def name_of_kind(kind: int) -> str:
    """The name of a kind in ONNX."""
    is_defined = kind in _Kind.AttributeType.values()
    return _Kind.AttributeType.Name(kind) if is_defined else str(kind)


def graphs_in(attribute: onnx.AttributeProto) -> Sequence[onnx.GraphProto]:
    """The graphs of an attribute, without those nested in them."""
    kind = attribute.type
    if kind == _GRAPH:
        return () if attribute.ref_attr_name else (attribute.g,)
    return attribute.graphs if kind == _GRAPHS else ()


def has_value_to_check(name: str, kind: int) -> bool:
    """Test whether `check_value` applies to an attribute."""
    return kind in _VALUED or name in _ELEMENT_TYPES


def check_value(attribute: onnx.AttributeProto, kind: int, node: object, types: Types) -> None:
    """Check the value of an attribute of one of ONNX's own operators.

    Args:
        node: a label of its node, whose text is made for errors only.

    Raises:
        ModelError: a tensor or type in it is not well formed, or a number is no element type.
    """
    if kind == _Kind.INT:
        element_types = onnx.TensorProto.DataType.values()
        if attribute.name in _ELEMENT_TYPES and attribute.i not in element_types:
            raise ModelError(
                f"{node} has {attribute.i} as its attribute '{attribute.name}', which is not"
                " an element type"
            )
    elif kind in _VALUED and not attribute.ref_attr_name:
        _check_messages(attribute, kind, node, types)


def _check_messages(attribute: onnx.AttributeProto, kind: int, node: object, types: Types) -> None:
    what, label = "tensor '{0[0].name}' of {0[1]}", (attribute, node)
    for one, field in ((_Kind.TENSOR, "t"), (_Kind.SPARSE_TENSOR, "sparse_tensor")):
        if kind == one and not attribute.HasField(field):
            raise ModelError(f"{node} has an attribute '{attribute.name}' that holds no tensor")
    for tensor in [attribute.t] if kind == _Kind.TENSOR else attribute.tensors:
        check_tensor(tensor, what, label)
    for sparse in (
        [attribute.sparse_tensor] if kind == _Kind.SPARSE_TENSOR else attribute.sparse_tensors
    ):
        check_sparse(sparse, what, label)
    for type_ in [attribute.tp] if kind == _Kind.TYPE_PROTO else attribute.type_protos:
        types.check(type_, f"attribute '{attribute.name}' of {node}")
