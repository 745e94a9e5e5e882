"""Splicing of large weights into encoded messages, without copies in the message.

The message has stand-ins, whose few bytes are replaced in its encoding. The result is byte for byte
that of protobuf for the whole message.
"""

import os
from collections.abc import Callable, Iterator

import onnx

from ..graph import Graph
from ..tensor import Tensor, TensorMessage
from .files import encode, too_large
from .protobuf.message_headers import copy_without, has_unknown
from .protobuf.wire import delimit, varint

Pieces = list[Callable[[], bytes]]
"""The content of a file, each piece made at its writing."""

_LEAST_ELEMENTS = 1 << 13
_TOKEN_BYTES = 32
_GRAPH = b"\x3a"
"""The tag of a graph in a model: its field and wire type."""
_INITIALIZER = b"\x2a"
"""The tag of an initializer in a graph."""
_RAW_DATA = b"\x4a"
"""The tag of raw data in a tensor."""


class Withheld:
    """The large initializers of a main graph, with their stand-ins.

    Args:
        graph: the main graph; nothing is withheld without one.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self._graph = graph
        self._tensors: dict[bytes, Tensor] = {}

    def message_of(self, tensor: Tensor, graph: Graph) -> TensorMessage:
        """The message or stand-in of an initializer, without its name."""
        if graph is self._graph and tensor.size >= _LEAST_ELEMENTS:
            stand_in = _bare(tensor)
            if stand_in is not None:
                # Random, so that nothing else in the message is equal.
                token = stand_in.raw_data = os.urandom(_TOKEN_BYTES)
                self._tensors[token] = tensor
                return stand_in
        return tensor.message()

    def elements_of(self, tensor: onnx.TensorProto) -> bytes:
        """A copy of the elements of a tensor, or of the one it replaces."""
        raw: bytes = tensor.raw_data
        return self._tensors[raw].raw_data() if raw in self._tensors else raw

    def encode(self, proto: onnx.ModelProto) -> Pieces | None:
        """Encode a message in pieces; None above the 2 GB limit of messages."""
        if not self._tensors:
            whole = encode(proto)
            return None if whole is None else [lambda: whole]
        graph = encode(proto.graph)
        if graph is None:
            return None
        pieces, size = self._splice(graph, self._stand_ins(proto.graph))
        rest = copy_without(proto, {"graph"})
        # The name finds the place of the graph in the encoding.
        rest.graph.name = os.urandom(_TOKEN_BYTES).hex()
        standing = _GRAPH + delimit(rest.graph.SerializeToString())
        before, tag, after = rest.SerializeToString().partition(standing)
        assert tag
        head = before + _GRAPH + varint(size)
        total = len(head) + size + len(after)
        return None if too_large(total) else [lambda: head, *pieces, lambda: after]

    def _stand_ins(self, graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
        for tensor in graph.initializer:
            if tensor.HasField("raw_data") and tensor.raw_data in self._tensors:
                yield tensor

    def _splice(self, content: bytes, stand_ins: Iterator[onnx.TensorProto]) -> tuple[Pieces, int]:
        """Split a graph into pieces, and return them with their total size."""
        pieces: Pieces = []
        size = end = 0
        for tensor in stand_ins:
            token = tensor.raw_data
            encoded = tensor.SerializeToString()
            begin = content.index(_INITIALIZER + delimit(encoded), end)
            at = encoded.index(_RAW_DATA + delimit(token))
            rest = encoded[at + len(_RAW_DATA + delimit(token)) :]
            count = len(self._tensors[token].raw_data())
            inner = encoded[:at] + _RAW_DATA + varint(count)
            length = len(inner) + count + len(rest)
            front = content[end:begin] + _INITIALIZER + varint(length) + inner
            pieces += [_piece(front), self._tensors[token].raw_data, _piece(rest)]
            size += len(front) + count + len(rest)
            end = begin + len(_INITIALIZER + delimit(encoded))
        last = content[end:]
        return [*pieces, _piece(last)], size + len(last)


def _bare(tensor: Tensor) -> onnx.TensorProto | None:
    """The message of a tensor without its raw data; None where it has none, or has unknown
    fields."""
    if tensor.is_computed:
        if tensor.elem_type == onnx.TensorProto.STRING:
            return None
        return onnx.TensorProto(dims=tensor.dims, data_type=tensor.elem_type)
    message = tensor.message()
    if not isinstance(message, onnx.TensorProto) or not message.HasField("raw_data"):
        return None
    return None if has_unknown(message) else copy_without(message, {"raw_data"})


def _piece(content: bytes) -> Callable[[], bytes]:
    return lambda: content
