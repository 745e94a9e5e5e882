"""Nodes as protobuf writes them: their names, and apart from these what they say.

What a node says is the same bytes for many, so that reading and writing names alone is most of the
work; through protobuf's own objects that takes twice the time.
"""

from __future__ import annotations

from collections.abc import Sequence

from .nesting import number
from .wire import varint

_READS, _GIVES, _NAMED = 0x0A, 0x12, 0x1A
"""The bytes before what a node reads, what it gives, and its name. All else stands behind these."""
_SHORT = 127
"""The size of so many bytes, or fewer, takes one byte."""


def behind_names(content: bytes, names: Sequence[str] = ()) -> bytes:
    """What a node says: its bytes behind its inputs, outputs and name. A name that is written out
    although it is empty is left: that is said of the node.

    Args:
        content: the node.
        names: all its inputs and outputs, and its name unless it is empty; if they are given and
            each is short, their length alone tells where they end.
    """
    text = "".join(names)
    if names and text.isascii() and (len(text) <= _SHORT or max(map(len, names)) <= _SHORT):
        return content[len(text) + 2 * len(names) :]
    at, end = 0, len(content)
    while at < end and content[at] in (_READS, _GIVES, _NAMED):
        size = content[at + 1]
        if size > _SHORT:
            size, at = number(content, at + 1, end)
            at += size
        elif size or content[at] != _NAMED:
            at += 2 + size
        else:
            break
    return content[at:]


class _Sizes(dict[int, str]):
    """Sizes as protobuf writes them, as characters."""

    def __missing__(self, size: int) -> str:
        found = self[size] = characters(varint(size))
        return found


_SIZES = _Sizes()


def characters(content: bytes) -> str:
    """Bytes, each as the character of that number: text is put together faster than bytes."""
    return content.decode("latin-1")


def in_bytes(written: Sequence[str]) -> bytes:
    """What `characters` were made of."""
    return "".join(written).encode("latin-1")


def node_of_graph(said: str, inputs: Sequence[str], outputs: Sequence[str], name: str) -> str:
    """A node as a field of its graph, in characters: what it says, and its names, none of which is
    left out but an empty one of its own."""
    if not "".join((*inputs, *outputs, name)).isascii():
        inputs = [characters(text.encode()) for text in inputs]
        outputs = [characters(text.encode()) for text in outputs]
        name = characters(name.encode())
    sizes = _SIZES
    parts = [said]
    for text in inputs:
        parts.append(f"\n{sizes[len(text)]}{text}")
    for text in outputs:
        parts.append(f"\x12{sizes[len(text)]}{text}")
    if name:
        parts.append(f"\x1a{sizes[len(name)]}{name}")
    node = "".join(parts)
    return f"\n{sizes[len(node)]}{node}"
