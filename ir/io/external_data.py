"""External data of models: references, loading, and data files beside a model."""

import contextlib
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import onnx
import onnx.external_data_helper
import onnx.numpy_helper

from ..attributes import PLAIN, graphs_in
from ..errors import LoadError
from ..file_reader import TWO_GB, open_regular
from ..kinds import takes
from ..tensor import Extent, Tensor, external_extent, external_path, real_path
from .file_copy import copy_span
from .files import encode

_ALIGNMENT = 4096
_INLINE_BYTES = 1024
"""The size in bytes up to which tensors stay in the model file."""
_MARKS = onnx.TensorProto(data_location=onnx.TensorProto.EXTERNAL).SerializeToString(), b"location"
"""Bytes that each external tensor has; weights often hold the first by chance."""
_SEARCHED = 1 << 20
"""Limit in bytes of models in whose encoding these are looked for, which spares a walk."""
_SEARCHED_PER_NODE = 1 << 9
"""The further bytes for each node, which take no longer than a step of the walk."""


def tensors_of(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """The tensors of a model: initializers and attributes, at any depth."""
    yield from _tensors_of_graph(proto.graph)
    for function in proto.functions:
        yield from _tensors_of_nodes(function.node)
    for info in proto.training_info:
        yield from _tensors_of_graph(info.initialization)
        yield from _tensors_of_graph(info.algorithm)


def _tensors_of_graph(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _tensors_of_nodes(graph.node)


def _tensors_of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type in PLAIN:
                continue
            # Fields decide, because IR version 1 has no types of attributes.
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                if sparse.HasField("values"):
                    yield from (sparse.values, sparse.indices)
            for graph in graphs_in(attribute):
                yield from _tensors_of_graph(graph)


def external_tensors(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """The tensors whose elements lie in files."""
    limit = _SEARCHED + _SEARCHED_PER_NODE * len(proto.graph.node)
    if proto.ByteSize() < limit:
        content = proto.SerializeToString()
        if not all(mark in content for mark in _MARKS):
            return []
    return [t for t in tensors_of(proto) if onnx.external_data_helper.uses_external_data(t)]


def external_within_bodies(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """The external tensors in the bodies of nodes."""
    nodes = itertools.chain(proto.graph.node, *(function.node for function in proto.functions))
    holders = (node for node in nodes if any(map(graphs_in, node.attribute)))
    return [
        t for t in _tensors_of_nodes(holders) if onnx.external_data_helper.uses_external_data(t)
    ]


@takes(proto=onnx.ModelProto)
def out_of_reach(proto: onnx.ModelProto) -> str:
    """The message about external data without a known folder; empty where a model has none."""
    first = next(iter(external_tensors(proto)), None)
    if first is None:
        return ""
    return (
        f"tensor '{first.name}' has external data in '{_location(first)}', but the model's folder"
        " is not known; pass it as base_dir="
    )


def load_external_data(proto: onnx.ModelProto, base_dir: Path | None) -> None:
    """Read all external data into the message.

    Raises:
        LoadError: the file is missing or too short, or together they are over 2 GB.
    """
    tensors = external_tensors(proto)
    if not tensors:
        return
    # Sizes come first: nothing is read for a message that would be too large.
    extents = [external_extent(tensor, base_dir) for tensor in tensors]
    content = encode(proto)
    if content is None or len(content) + sum(length for _, _, length in extents) > TWO_GB:
        raise LoadError(
            "the model is over 2 GB with its external data, which no single message can hold;"
            " work on straightline.ir.load(path) and straightline.ir.save(model, path), or use"
            " the command line"
        )
    fill(proto, base_dir)


def fill(proto: onnx.ModelProto, base_dir: Path | None) -> None:
    """Read all external data into the message, of any size. onnx's own loader refuses files with
    several names.

    Raises:
        LoadError: it cannot be read.
    """
    for tensor in external_tensors(proto):
        path, offset, length = external_extent(tensor, base_dir)
        with _open_at(path, offset, tensor.name) as source:
            tensor.raw_data = source.read(length)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")


def refers_elsewhere(
    tensors: Sequence[onnx.TensorProto], base_dir: Path | None, folder: Path
) -> bool:
    """Test whether external tensors of a model saved into `folder` lie relative to another.

    Raises:
        LoadError: a reference leaves the model's folder.
    """
    locations = {_location(tensor): tensor.name for tensor in tensors}
    for location, name in locations.items():
        external_path(name, location, base_dir)
    moved = base_dir is None or real_path(base_dir) != real_path(folder)
    return moved and bool(tensors)


def _location(tensor: onnx.TensorProto) -> str:
    locations = (entry.value for entry in tensor.external_data if entry.key == "location")
    return os.fsdecode(next(locations, ""))  # bytes where it is not UTF-8; refused later


def files_of(tensors: Iterable[onnx.TensorProto], base_dir: Path) -> frozenset[Path]:
    """The files of external tensors, with links in their paths; they need not exist."""
    return frozenset(base_dir / _location(tensor) for tensor in tensors)


class DataFile:
    """A data file during its writing.

    Args:
        name: its name in the message.
        elements_of: returns the raw elements of a tensor that is not external.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        elements_of: Callable[[onnx.TensorProto], bytes] = attrgetter("raw_data"),
    ) -> None:
        self._stream = stream
        self._name = name
        self._elements_of = elements_of
        self._copied: dict[Extent, int] = {}

    def take(
        self,
        proto: onnx.ModelProto,
        base_dir: Path | None,
        *,
        inner: bool = False,
        names: Mapping[Path, str] = MappingProxyType({}),
    ) -> None:
        """Stream large tensors into the file, and let the message refer to it. It copies each part
        of another file once.

        Args:
            proto: the message, changed in place.
            base_dir: the base folder of its external data.
            inner: leave external data where it is.
            names: new names of files to keep instead of copying.

        Raises:
            LoadError: external data cannot be read.
        """
        for tensor in tensors_of(proto):
            if onnx.external_data_helper.uses_external_data(tensor):
                if not inner:
                    path, start, length = extent = external_extent(tensor, base_dir)
                    if path in names:
                        _refer(tensor, names[path], start, length)
                    else:
                        _refer(tensor, self._name, self._copy(extent, tensor.name), length)
            elif len(raw := self._raw(tensor)) > _INLINE_BYTES:
                offset = self._begin()
                length = self._stream.write(raw)
                tensor.ClearField("raw_data")
                _refer(tensor, self._name, offset, length)

    def _copy(self, extent: Extent, name: str) -> int:
        """Copy a part of another file once, and return its offset."""
        if extent not in self._copied:
            path, start, length = extent
            self._copied[extent] = self._begin()
            try:
                with _open_at(path, start, name) as source:
                    copy_span(source, start, self._stream, length)
            except EOFError as error:
                raise LoadError(
                    f"external data of tensor '{name}' became shorter while it was read"
                ) from error
        return self._copied[extent]

    def _raw(self, tensor: onnx.TensorProto) -> bytes:
        """The elements of a tensor in the message; many elements become raw data."""
        if tensor.HasField("raw_data"):
            return self._elements_of(tensor)
        # Strings have no raw data (onnx.proto), so they stay in the message.
        text = tensor.data_type == onnx.TensorProto.STRING
        if text or math.prod(tensor.dims) <= _INLINE_BYTES:
            return b""
        raw: bytes = onnx.numpy_helper.from_array(Tensor(tensor).numpy()).raw_data
        tensor.ClearField(onnx.helper.tensor_dtype_to_field(tensor.data_type))
        tensor.raw_data = raw
        return raw

    def _begin(self) -> int:
        # Aligned to pages, so that readers can map the file (onnx.proto, external_data).
        self._stream.write(b"\0" * (-self._stream.tell() % _ALIGNMENT))
        return self._stream.tell()


def refer_to(proto: onnx.ModelProto, base_dir: Path | None, names: Mapping[Path, str]) -> None:
    """Rename the files of external data in a message.

    Raises:
        LoadError: external data is missing.
    """
    for tensor in external_tensors(proto):
        path, offset, length = external_extent(tensor, base_dir)
        _refer(tensor, names[path], offset, length)


def _refer(tensor: onnx.TensorProto, name: str, offset: int, length: int) -> None:
    tensor.ClearField("external_data")
    for key, value in (("location", name), ("offset", str(offset)), ("length", str(length))):
        tensor.external_data.add(key=key, value=value)
    tensor.data_location = onnx.TensorProto.EXTERNAL


@contextlib.contextmanager
def _open_at(path: Path, offset: int, name: str) -> Iterator[BinaryIO]:
    try:
        source = open_regular(path)
    except LoadError as error:
        raise LoadError(f"external data of tensor '{name}': {error}") from error
    with source:
        source.seek(offset)
        yield source
