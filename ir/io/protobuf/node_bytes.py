"""Nodes as protobuf writes them: their names, and apart from these what they say.

What a node says is the same bytes for many, so that reading and writing names alone is most of the
work; through protobuf's own objects that takes twice the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .wire import varint, varint_at

_READS, _GIVES, _NAMED = 0x0A, 0x12, 0x1A
"""The bytes before what a node reads, what it gives, and its name. All else stands behind these."""
OF_GRAPH, OF_FUNCTION = "\x0a", "\x3a"
"""The characters before a node of a graph and of a function."""
_MANY = 16
"""So many inputs and outputs are put to a node one after the other; with more, that would take
quadratic time."""
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
            size, at = varint_at(content, at + 1, end)
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


def size_of(written: str) -> str:
    """How long something is that was written, in characters."""
    return _SIZES[len(written)]


def sized(names: Sequence[str]) -> list[str]:
    """Names as they stand in nodes, in characters: each with its size before it."""
    if not "".join(names).isascii():
        names = [name if name.isascii() else characters(name.encode()) for name in names]
    sizes = _SIZES
    return [f"{sizes[len(name)]}{name}" for name in names]


_OP_TYPE, _DOMAIN, _OVERLOAD = "\x22", "\x3a", "\x42"


def operator_alone(op_type: str, domain: str, overload: str) -> str:
    """What a node says that says nothing but its operator, in characters."""
    told = ((_OP_TYPE, op_type), (_DOMAIN, domain), (_OVERLOAD, overload))
    return "".join([f"{tag}{sized([text])[0]}" for tag, text in told if text])


NO_NAME = sized([""])[0]
"""What stands for an input or output that is absent."""


def node_in(
    field: str,
    said: str,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    name: str | None,
    names: Mapping[Any, str],
) -> str:
    """A node as a field of a graph or function, in characters.

    Args:
        field: `OF_GRAPH` or `OF_FUNCTION`.
        said: what it says but for its names.
        inputs: what it reads.
        outputs: what it gives.
        name: what it is called, `sized`, if it has a name.
        names: what it reads and gives is called, `sized`.
    """
    node = said
    if len(inputs) + len(outputs) > _MANY:
        reads = "".join([f"\n{names[one]}" for one in inputs])
        gives = "".join([f"\x12{names[one]}" for one in outputs])
        node = f"{said}{reads}{gives}"
    else:  # in half the time
        for one in inputs:
            node = f"{node}\n{names[one]}"
        for one in outputs:
            node = f"{node}\x12{names[one]}"
    if name is not None:
        node = f"{node}\x1a{name}"
    return f"{field}{_SIZES[len(node)]}{node}"
