"""Copies of messages: without some fields, or with those of a newer onnx."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from .wire import delimit, varint

M = TypeVar("M", bound=Message)
_VARINT, _FIXED_64, _DELIMITED, _GROUP, _END_GROUP, _FIXED_32 = range(6)


def copy_unknown(source: Message, target: Message) -> None:
    """Copy the unknown fields of a message to another one of its kind."""
    fields = UnknownFieldSet(source)
    if len(fields):
        target.MergeFromString(encode(fields))


def has_unknown(message: Message) -> bool:
    """Test whether a message itself has unknown fields."""
    return bool(len(UnknownFieldSet(message)))


def copy_without(message: M, fields: Collection[str]) -> M:
    """Copy a message without some of its fields, which are not read."""
    copy: M = type(message)()
    for field in message.DESCRIPTOR.fields:
        name = field.name
        if name in fields:
            continue
        value: Any = getattr(message, name)
        single = isinstance(value, int | float | str | bytes)
        if (single or isinstance(value, Message)) and not message.HasField(name):
            continue
        if single:
            setattr(copy, name, value)
        else:
            getattr(copy, name).MergeFrom(value)
    return copy


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
