"""Headers of messages: their metadata without graphs and nodes."""

from __future__ import annotations

import onnx

from ..model import FunctionName
from .protobuf.message_copies import copy_unknown, copy_without, has_unknown
from .protobuf.opset_imports import Imports, are_plain

_APART = ("input", "output", "node", "value_info")
"""The fields of a function that its graph holds."""

_NAMED = ("name", "domain", "opset_import")
"""The other fields that most functions have."""

_RARE = [f for f in onnx.FunctionProto.DESCRIPTOR.fields if f.name not in (*_APART, *_NAMED)]
_RARE_TEXTS = tuple(field.name for field in _RARE if not field.is_repeated)
_RARE_LISTS = tuple(field.name for field in _RARE if field.is_repeated)


def model_header(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The header of a model: all fields but graphs, functions and training."""
    header = copy_without(proto, ("graph", "functions", "training_info"))
    copy_unknown(proto, header)
    return header


def function_header(
    proto: onnx.FunctionProto, imports: Imports
) -> onnx.FunctionProto | FunctionName:
    """The header of a function: all fields but those of its graph. The name alone where it has no
    field but imports beside."""
    if _has_only_a_name(proto) and are_plain(imports):
        return FunctionName(proto.domain, proto.name)
    header = copy_without(proto, _APART)
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
