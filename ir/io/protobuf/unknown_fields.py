"""Unknown fields: those of a newer onnx, which the result keeps."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from .wire import delimit, varint

_VARINT, _FIXED_64, _DELIMITED, _GROUP, _END_GROUP, _FIXED_32 = range(6)


def copy_unknown(source: Message, target: Message) -> None:
    """Copy the unknown fields of a message to another one of its kind."""
    fields = UnknownFieldSet(source)
    if len(fields):
        target.MergeFromString(encode(fields))


def has_unknown(message: Message) -> bool:
    """Test whether a message itself has unknown fields."""
    return bool(len(UnknownFieldSet(message)))


def encode(fields: Iterable[Any]) -> bytes:
    """Encode unknown fields.

    https://protobuf.dev/programming-guides/encoding/
    """
    return b"".join(
        _field(field.field_number << 3, field.wire_type, field.data) for field in fields
    )


def _field(number: int, wire_type: int, data: Any) -> bytes:
    tag = varint(number | wire_type)
    if wire_type == _VARINT:
        return tag + varint(data)
    if wire_type == _DELIMITED:
        return tag + delimit(data)
    if wire_type == _GROUP:
        return tag + encode(data) + varint(number | _END_GROUP)
    return tag + struct.pack("<Q" if wire_type == _FIXED_64 else "<I", data)
