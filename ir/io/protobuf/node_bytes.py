"""The encoding of nodes: their names, then the rest of their fields.

Many nodes share the rest, so that most of the work is reading and writing names; protobuf's own
objects take twice the time for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...node import Node
from ...operator import Operator
from .wire import varint, varint_at

OF_GRAPH, OF_FUNCTION = "\x0a", "\x3a"
"""The tags of a node of a graph and of a function."""
READS, GIVES, NAMED = 0x0A, 0x12, 0x1A
"""The tags of the inputs, outputs and name of a node. All other fields follow these."""
SHORT = 127
"""The largest size that one byte encodes."""
_MANY = 16
"""The most inputs and outputs that are appended one by one, which takes quadratic time."""


class _Sizes(dict[int, str]):
    """Cache of encoded sizes, as characters."""

    def __missing__(self, size: int) -> str:
        encoding = self[size] = characters(varint(size))
        return encoding


_SIZES = _Sizes()


def characters(content: bytes) -> str:
    """Decode bytes as characters: joining text is faster than joining bytes."""
    return content.decode("latin-1")


def to_bytes(texts: Sequence[str]) -> bytes:
    """Encode the result of `characters` as bytes."""
    return "".join(texts).encode("latin-1")


def size_of(text: str) -> str:
    """The encoded length of a text, in characters."""
    return _SIZES[len(text)]


def with_sizes(names: Sequence[str]) -> list[str]:
    """Encode names, each after its size, in characters."""
    # One test for all names, of which most are ASCII.
    if not "".join(names).isascii():
        # Sizes count bytes, so each byte becomes a character.
        names = [name if name.isascii() else characters(name.encode()) for name in names]
    sizes = _SIZES
    return [f"{sizes[len(name)]}{name}" for name in names]


_OP_TYPE, _DOMAIN, _OVERLOAD = "\x22", "\x3a", "\x42"


def encode_operator(op_type: str, domain: str, overload: str) -> str:
    """Encode a node with nothing but its operator, in characters."""
    fields = ((_OP_TYPE, op_type), (_DOMAIN, domain), (_OVERLOAD, overload))
    return "".join([f"{tag}{with_sizes([text])[0]}" for tag, text in fields if text])


NO_NAME = with_sizes([""])[0]
"""The encoding of an absent input or output."""


def encode_nodes(
    field: str,
    nodes: Iterable[Node],
    rests: Mapping[Operator, str | None],
    chosen: Mapping[Any, str],
    names: dict[Any, str],
) -> tuple[list[str], Node | None]:
    """Encode nodes in characters, up to the first whose operator is large.

    Args:
        field: `OF_GRAPH` or `OF_FUNCTION`.
        nodes: the nodes, each after those that it reads.
        rests: the encoding of an operator without names; None for a large one.
        chosen: the names of values and nodes that differ from their labels.
        names: the names of values, `with_sizes`, extended by the outputs.

    Returns:
        the fields, and the node with the large operator, if there is one.
    """
    texts: list[str] = []
    find, sizes = chosen.get, _SIZES
    for node in nodes:
        inputs, outputs, label = node.inputs, node.outputs, node.name
        rest = rests[node.op]
        # Later nodes read these names, also where the caller writes this node.
        for one in outputs:
            if one is not None:
                name = find(one, one.name)
                if not name.isascii():
                    name = characters(name.encode())
                names[one] = f"{sizes[len(name)]}{name}"
        if rest is None:
            return texts, node
        text = rest
        if len(inputs) + len(outputs) > _MANY:
            reads = "".join([f"\n{names[one]}" for one in inputs])
            gives = "".join([f"\x12{names[one]}" for one in outputs])
            text = f"{rest}{reads}{gives}"
        else:  # in half the time
            for one in inputs:
                text = f"{text}\n{names[one]}"
            for one in outputs:
                text = f"{text}\x12{names[one]}"
        if label:
            name = find(node, label)
            if not name.isascii():
                name = characters(name.encode())
            text = f"{text}\x1a{sizes[len(name)]}{name}"
        texts.append(f"{field}{sizes[len(text)]}{text}")
    return texts, None


def after_names(content: bytes, inputs: Sequence[str], outputs: Sequence[str], name: str) -> bytes:
    """The bytes of a node after its inputs, outputs and name. A field for an empty name belongs to
    the rest.

    Args:
        content: the encoded node.
        inputs, outputs, name: its names; where each is short, their total length decides where they
            end.
    """
    text = f"{''.join(inputs)}{''.join(outputs)}{name}"
    size, count = len(text), len(inputs) + len(outputs)
    if text.isascii() and (size <= SHORT or max(map(len, (*inputs, *outputs, name))) <= SHORT):
        # A short name has a tag and a size of one byte each before it.
        return content[size + 2 * (count + 1 if name else count) :]
    at, end = 0, len(content)
    while at < end and content[at] in (READS, GIVES, NAMED):
        size = content[at + 1]
        if size > SHORT:
            size, at = varint_at(content, at + 1, end)
            at += size
        elif size or content[at] != NAMED:
            at += 2 + size
        else:
            break
    return content[at:]
