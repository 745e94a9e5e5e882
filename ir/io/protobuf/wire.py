"""How protobuf writes numbers and lengths, for those who read or write messages as bytes."""

from __future__ import annotations

from typing import BinaryIO

_MOST_BYTES = 10


def varint(number: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte, the last one without the high bit."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def read_varint(stream: BinaryIO) -> int:
    """The number that a stream goes on with.

    Raises:
        ValueError: it goes on with none.
    """
    number = 0
    for place in range(_MOST_BYTES):
        (byte,) = stream.read(1) or (None,)
        if byte is None:
            break
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number
    raise ValueError("no number")


def varint_at(content: bytes | bytearray, at: int, end: int) -> tuple[int, int]:
    """The number at a place of some bytes, and where it ends; 0 and a place behind the end where
    it does not end before that."""
    found = 0
    for place in range(_MOST_BYTES):
        if at + place >= end:
            break
        found |= (content[at + place] & 0x7F) << 7 * place
        if content[at + place] < 0x80:
            return found, at + place + 1
    return 0, end + 1


def delimited(content: bytes) -> bytes:
    """Bytes with their length before them."""
    return varint(len(content)) + content
