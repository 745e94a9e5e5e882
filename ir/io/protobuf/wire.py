"""Protobuf's encoding of numbers and lengths."""

from typing import BinaryIO

_MOST_BYTES = 10


def varint(number: int) -> bytes:
    """Encode a number: seven bits a byte, the last one without the high bit."""
    encoding = bytearray()
    while number > 0x7F:
        encoding.append(number & 0x7F | 0x80)
        number >>= 7
    encoding.append(number)
    return bytes(encoding)


def read_varint(stream: BinaryIO) -> int:
    """Read the number at the position of a stream.

    Raises:
        ValueError: there is no number.
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
    """Decode the number at a place of some bytes, and return it with its end; 0 and `end + 1` for
    an incomplete one."""
    number = 0
    for place in range(_MOST_BYTES):
        if at + place >= end:
            break
        number |= (content[at + place] & 0x7F) << 7 * place
        if content[at + place] < 0x80:
            return number, at + place + 1
    return 0, end + 1


def delimit(content: bytes) -> bytes:
    """Prefix bytes with their length."""
    return varint(len(content)) + content
