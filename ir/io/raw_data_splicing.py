"""Large weights on their way into a file: written from where they are held, not copied into the
message first.

The message is made with stand-ins, whose few bytes are looked for in its encoding and replaced.
What comes out is byte for byte what protobuf makes of the whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

import onnx
from google.protobuf.message import Message

from ..graph import Graph
from ..tensor import Tensor, TensorMessage
from .files import encode, too_large
from .protobuf.unknown_fields import has_unknown
from .protobuf.wire import delimited, varint

M = TypeVar("M", bound=Message)
Pieces = list[Callable[[], bytes]]
"""The content of a file, each piece made when it is written."""

_LEAST_ELEMENTS = 1 << 13
_TOKEN_BYTES = 32
_GRAPH = b"\x3a"
"""What a graph in a model begins with: its field and wire type."""
_INITIALIZER = b"\x2a"
"""The same for an initializer in a graph."""
_RAW_DATA = b"\x4a"
"""The same for the elements in a tensor."""


class Withheld:
    """The large initializers of a model's main graph, each with a stand-in.

    Args:
        graph: that graph; nothing is withheld without one.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self._graph = graph
        self._held: dict[bytes, Tensor] = {}

    def message_of(self, tensor: Tensor, graph: Graph) -> TensorMessage:
        """What is written for an initializer of a graph, but for its name."""
        if graph is self._graph and tensor.size >= _LEAST_ELEMENTS:
            stand_in = _bare(tensor)
            if stand_in is not None:
                token = stand_in.raw_data = secrets.token_bytes(_TOKEN_BYTES)
                self._held[token] = tensor
                return stand_in
        return tensor.message()

    def elements_of(self, tensor: onnx.TensorProto) -> bytes:
        """The elements of a tensor or of what it stands for; a copy, which is large."""
        raw: bytes = tensor.raw_data
        return self._held[raw].raw_data() if raw in self._held else raw

    def encode(self, proto: onnx.ModelProto) -> Pieces | None:
        """The pieces of a file that holds the message, each made when it is written; None where
        they are more than a message can have, 2 GB."""
        if not self._held:
            whole = encode(proto)
            return None if whole is None else [lambda: whole]
        graph = encode(proto.graph)
        if graph is None:
            return None
        pieces, size = self._spliced(graph, self._stand_ins(proto.graph))
        rest = without(proto, {"graph"})
        rest.graph.name = secrets.token_hex(_TOKEN_BYTES)
        standing = _GRAPH + delimited(rest.graph.SerializeToString())
        before, found, after = rest.SerializeToString().partition(standing)
        assert found
        head = before + _GRAPH + varint(size)
        total = len(head) + size + len(after)
        return None if too_large(total) else [lambda: head, *pieces, lambda: after]

    def _stand_ins(self, graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
        for tensor in graph.initializer:
            if tensor.HasField("raw_data") and tensor.raw_data in self._held:
                yield tensor

    def _spliced(self, content: bytes, stand_ins: Iterator[onnx.TensorProto]) -> tuple[Pieces, int]:
        """The pieces of a graph, and how many bytes they are together."""
        pieces: Pieces = []
        size = done = 0
        for tensor in stand_ins:
            token = tensor.raw_data
            written = tensor.SerializeToString()
            begin = content.index(_INITIALIZER + delimited(written), done)
            at = written.index(_RAW_DATA + delimited(token))
            rest = written[at + len(_RAW_DATA + delimited(token)) :]
            count = len(self._held[token].raw_data())
            inner = written[:at] + _RAW_DATA + varint(count)
            length = len(inner) + count + len(rest)
            front = content[done:begin] + _INITIALIZER + varint(length) + inner
            pieces += [_given(front), self._elements(token), _given(rest)]
            size += len(front) + count + len(rest)
            done = begin + len(_INITIALIZER + delimited(written))
        last = content[done:]
        return [*pieces, _given(last)], size + len(last)

    def _elements(self, token: bytes) -> Callable[[], bytes]:
        return self._held[token].raw_data


def _bare(tensor: Tensor) -> onnx.TensorProto | None:
    """The message of a tensor without its elements; None where these are no raw data, or more is
    in it than is known."""
    if tensor.is_computed:
        if tensor.elem_type == onnx.TensorProto.STRING:
            return None
        return onnx.TensorProto(dims=tensor.dims, data_type=tensor.elem_type)
    message = tensor.message()
    if not isinstance(message, onnx.TensorProto) or not message.HasField("raw_data"):
        return None
    return None if has_unknown(message) else without(message, {"raw_data"})


def without(message: M, fields: Collection[str]) -> M:
    """A copy of a message without some of its fields, which are not looked at."""
    made: M = type(message)()
    for field in message.DESCRIPTOR.fields:
        name = field.name
        if name in fields:
            continue
        value: Any = getattr(message, name)
        single = isinstance(value, int | float | str | bytes)
        if (single or isinstance(value, Message)) and not message.HasField(name):
            continue
        if single:
            setattr(made, name, value)
        else:
            getattr(made, name).MergeFrom(value)
    return made


def _given(content: bytes) -> Callable[[], bytes]:
    return lambda: content
