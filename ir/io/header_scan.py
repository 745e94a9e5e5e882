"""Scans of model files without the elements of weights, never wholly in memory."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import onnx

from ..file_reader import open_regular
from .model_source import parse_bytes, read_proto
from .protobuf.wire import delimit, read_varint, varint

_LEAST_BYTES = 1 << 24
"""The size below which a file is read as a whole, in bytes."""

_LENGTH_DELIMITED = 2
_FIXED = {1: 8, 5: 4}
"""The size of a value by wire type, in bytes."""

Fields = Mapping[int, Any]


def _number(message: Any, name: str) -> int:
    number: int = message.DESCRIPTOR.fields_by_name[name].number
    return number


_ELEMENTS: Fields = {
    _number(onnx.TensorProto, name): {}
    for name in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")
}
_GRAPH: Fields = {_number(onnx.GraphProto, "initializer"): _ELEMENTS}
_MODEL: Fields = {_number(onnx.ModelProto, "graph"): _GRAPH}
"""The fields inside each field with weights; none inside one to leave out."""


def skim(path: Path) -> onnx.ModelProto:
    """Read the message in a file; large weights of its main graph have no elements.

    Raises:
        LoadError: there is no such file, it cannot be read, or it is not an ONNX model.
    """
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < _LEAST_BYTES:
            return read_proto(path)
        try:
            content = _without_elements(stream, size, _MODEL)
        except ValueError:
            return read_proto(path)  # raises the error
    return parse_bytes(content, f"'{path}'")


def _without_elements(stream: BinaryIO, end: int, fields: Fields) -> bytes:
    """Copy the message at the position of a stream, without some fields.

    Raises:
        ValueError: it is malformed.
    """
    reduction = bytearray()
    while stream.tell() < end:
        tag = read_varint(stream)
        kind = tag & 7
        if kind == _LENGTH_DELIMITED:
            stop = read_varint(stream) + stream.tell()
            if stop > end:
                raise ValueError("a field is longer than its message")
            inner = fields.get(tag >> 3)
            if inner is None:
                content = stream.read(stop - stream.tell())
            elif inner:
                content = _without_elements(stream, stop, inner)
            else:
                stream.seek(stop)
                continue
            reduction += varint(tag) + delimit(content)
        elif kind == 0:
            reduction += varint(tag) + varint(read_varint(stream))
        elif kind in _FIXED:
            reduction += varint(tag) + stream.read(_FIXED[kind])
        else:
            raise ValueError("a field has an invalid tag")
    return bytes(reduction)
