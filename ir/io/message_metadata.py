"""Headers of messages: their metadata without graphs and nodes."""

from __future__ import annotations

import onnx

from ..model import FunctionName
from .protobuf.opset_imports import Imports, are_plain
from .protobuf.unknown_fields import copy_unknown, has_unknown

_APART = ("input", "output", "node", "value_info")
"""The fields of a function that its graph holds."""

_NAMED = ("name", "domain", "opset_import")
"""The other fields that most functions have."""

_REST = [field for field in onnx.FunctionProto.DESCRIPTOR.fields if field.name not in _APART]
_TEXTS = tuple(field.name for field in _REST if not field.is_repeated)
_LISTS = tuple(field.name for field in _REST if field.is_repeated)
_RARE_TEXTS = tuple(name for name in _TEXTS if name not in _NAMED)
_RARE_LISTS = tuple(name for name in _LISTS if name not in _NAMED)


def model_header(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The header of a model: all fields but graphs, functions and training."""
    header = onnx.ModelProto()
    for field, value in proto.ListFields():
        if field.name in ("graph", "functions", "training_info"):
            continue
        if isinstance(value, int | str):
            setattr(header, field.name, value)
        else:
            getattr(header, field.name).extend(value)
    copy_unknown(proto, header)
    return header


def function_header(
    proto: onnx.FunctionProto, imports: Imports
) -> onnx.FunctionProto | FunctionName:
    """The header of a function: all fields but those of its graph. The name alone where it has no
    field but imports beside."""
    if _has_only_a_name(proto) and are_plain(imports):
        return FunctionName(proto.domain, proto.name)
    header = onnx.FunctionProto()
    for name in _TEXTS:
        if proto.HasField(name):
            setattr(header, name, getattr(proto, name))
    for name in _LISTS:
        if entries := getattr(proto, name):
            getattr(header, name).extend(entries)
    copy_unknown(proto, header)
    return header


def _has_only_a_name(proto: onnx.FunctionProto) -> bool:
    has = proto.HasField
    if any(map(has, _RARE_TEXTS)) or any(getattr(proto, name) for name in _RARE_LISTS):
        return False
    return bool(proto.domain or not has("domain")) and not has_unknown(proto)


def graph_header(proto: onnx.GraphProto) -> onnx.GraphProto:
    """Name, doc string and metadata of a graph."""
    header = onnx.GraphProto()
    if proto.HasField("name"):
        header.name = proto.name
    if proto.HasField("doc_string"):
        header.doc_string = proto.doc_string
    header.metadata_props.extend(proto.metadata_props)
    copy_unknown(proto, header)
    return header
