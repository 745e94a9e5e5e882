"""Text that is not UTF-8, for which protobuf returns bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message


def has_odd_text(message: Message, leave_out: Collection[str] = ()) -> bool:
    """Test whether any text in a message is not UTF-8; `leave_out` names fields to skip."""
    return next(_odd(message, leave_out), None) is not None


def first_odd_text(message: Message) -> str | None:
    """Describe the first text in a message that is not UTF-8; None where all is."""
    first = next(_odd(message, ()), None)
    if first is None:
        return None
    path, content = first
    return f"{path} is {content!r}, which is not UTF-8; rename it where the model was made"


def _odd(message: Message, leave_out: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The texts that are not UTF-8, with their paths."""
    for field, value in message.ListFields():
        if field.name in leave_out:
            continue
        many = isinstance(value, Collection) and not isinstance(value, str | bytes)
        for index, item in enumerate(value if many else [value]):
            path = f"{field.name}[{index}]" if many else field.name
            if field.type == FieldDescriptor.TYPE_STRING:
                if isinstance(item, bytes):
                    yield path, item
            elif isinstance(item, Message):
                yield from ((f"{path}.{inner}", content) for inner, content in _odd(item, ()))
            else:
                break  # numbers and bytes
