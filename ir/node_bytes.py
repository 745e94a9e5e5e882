"""Nodes as protobuf writes them: their names, and apart from these what they say.

What a node says is the same bytes for many, so that reading and writing names alone is most of the
work; through protobuf's own objects that takes twice the time.
"""

from __future__ import annotations

from collections.abc import Iterable

from .nesting import number
from .wire import delimited

_READS, _GIVES, _NAMED = 0x0A, 0x12, 0x1A
"""The bytes before what a node reads, what it gives, and its name. All else stands behind these."""
_NODE = 0x0A
"""The byte before a node of a graph."""


def behind_names(content: bytes) -> bytes:
    """What a node says: its bytes behind its inputs, outputs and name. A name that is written out
    although it is empty is left: that is said of the node."""
    at, end = 0, len(content)
    while at < end and content[at] in (_READS, _GIVES, _NAMED):
        size = content[at + 1]
        if size > 127:
            size, at = number(content, at + 1, end)
            at += size
        elif size or content[at] != _NAMED:
            at += 2 + size
        else:
            break
    return content[at:]


def node_of_graph(said: bytes, inputs: Iterable[str], outputs: Iterable[str], name: str) -> bytes:
    """A node as a field of its graph: what it says, and its names, none of which is left out but an
    empty one of its own."""
    parts = [said]
    for text in inputs:
        content = text.encode()
        size = len(content)
        parts.append(b"\x0a%c%b" % (size, content) if size < 128 else _field(_READS, content))
    for text in outputs:
        content = text.encode()
        size = len(content)
        parts.append(b"\x12%c%b" % (size, content) if size < 128 else _field(_GIVES, content))
    if name:
        parts.append(_field(_NAMED, name.encode()))
    return _field(_NODE, b"".join(parts))


def _field(before: int, content: bytes) -> bytes:
    return b"%c%b" % (before, delimited(content))
