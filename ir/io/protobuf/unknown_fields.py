"""Fields that the installed onnx does not know, as a newer one writes them: they are kept."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from .wire import delimited, varint

_VARINT, _FIXED_64, _DELIMITED, _GROUP, _END_GROUP, _FIXED_32 = range(6)


def keep_unknown(source: Message, kept: Message) -> None:
    """Give a message the fields that another one of its kind holds and onnx does not know."""
    fields = UnknownFieldSet(source)
    if len(fields):
        kept.MergeFromString(written(fields))


def has_unknown(message: Message) -> bool:
    """Whether a message itself holds fields that onnx does not know."""
    return bool(len(UnknownFieldSet(message)))


def written(fields: Iterable[Any]) -> bytes:
    """Unknown fields as protobuf writes them.

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
        return tag + delimited(data)
    if wire_type == _GROUP:
        return tag + written(data) + varint(number | _END_GROUP)
    return tag + struct.pack("<Q" if wire_type == _FIXED_64 else "<I", data)
