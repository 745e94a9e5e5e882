"""Nesting of encoded messages that protobuf does not read."""

from .wire import varint_at

DEEPEST = 100
"""The limit of protobuf's readers: three levels for each body in a node."""

_BYTES = 2
_FIXED = {1: 8, 5: 4}


def is_nested_too_deep(content: bytes | bytearray) -> bool:
    """Test whether the longest fields of a message nest deeper than protobuf reads."""
    start, end = 0, len(content)
    for _ in range(DEEPEST):
        inner = _longest_field(content, start, end)
        if inner is None:
            return False
        start, end = inner
    return True


def _longest_field(content: bytes | bytearray, at: int, end: int) -> tuple[int, int] | None:
    """The start and end of the longest field that may be a message; None without one, or where the
    bytes are no fields."""
    longest: tuple[int, int] | None = None
    while at < end:
        key, at = varint_at(content, at, end)
        if key < 8:
            return None
        kind = key & 7
        if kind == 0:
            _, at = varint_at(content, at, end)
        elif kind in _FIXED:
            at += _FIXED[kind]
        elif kind == _BYTES:
            size, at = varint_at(content, at, end)
            if longest is None or size > longest[1] - longest[0]:
                longest = at, at + size
            at += size
        else:
            return None
    return longest if at == end else None
