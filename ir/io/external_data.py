"""External data of a model that is being saved: carried over where it is, or streamed beside it."""

from __future__ import annotations

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

from ..attributes import PLAIN
from ..errors import LoadError
from ..file_reader import TWO_GB, open_regular
from ..kinds import takes
from ..tensor import Extent, Tensor, external_extent, external_path, real_path
from .file_copy import copy_span
from .files import encode

_ALIGNMENT = 4096
_INLINE_BYTES = 1024
"""Tensors up to this size stay in the model file when the others move out."""


def tensors_of(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor of a model: initializers and attributes, at any depth."""
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
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                if sparse.HasField("values"):
                    yield from (sparse.values, sparse.indices)
            if attribute.HasField("g"):
                yield from _tensors_of_graph(attribute.g)
            for graph in attribute.graphs:
                yield from _tensors_of_graph(graph)


def external_tensors(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """The tensors whose elements lie in files."""
    return [t for t in tensors_of(proto) if onnx.external_data_helper.uses_external_data(t)]


def external_within_bodies(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """Those that stand in the bodies of nodes."""
    nodes = itertools.chain(proto.graph.node, *(function.node for function in proto.functions))
    holders = (n for n in nodes if any(_holds_graph(attribute) for attribute in n.attribute))
    return [
        t for t in _tensors_of_nodes(holders) if onnx.external_data_helper.uses_external_data(t)
    ]


def _holds_graph(attribute: onnx.AttributeProto) -> bool:
    return attribute.type not in PLAIN and bool(attribute.HasField("g") or attribute.graphs)


@takes(proto=onnx.ModelProto)
def out_of_reach(proto: onnx.ModelProto) -> str:
    """Which tensor of a message without a known folder cannot be read, and what to do; empty where
    all elements are in the message."""
    found = next(iter(external_tensors(proto)), None)
    if found is None:
        return ""
    return (
        f"tensor '{found.name}' has external data in '{_location(found)}', but the model's folder"
        " is not known; give it as base_dir="
    )


def load_external_data(proto: onnx.ModelProto, base_dir: Path | None) -> None:
    """Read all external data into the message.

    Raises:
        LoadError: the file is missing or too short, or together they are over 2 GB.
    """
    tensors = external_tensors(proto)
    if not tensors:
        return
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
    """Read all external data into the message, which may have any size then; onnx's own loader
    refuses files with several names.

    Raises:
        LoadError: it cannot be read.
    """
    for tensor in external_tensors(proto):
        path, offset, length = external_extent(tensor, base_dir)
        with _opened(path, offset, tensor.name) as source:
            tensor.raw_data = source.read(length)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")


def refers_elsewhere(
    tensors: Sequence[onnx.TensorProto], base_dir: Path | None, folder: Path
) -> bool:
    """Whether a model with these external tensors, saved into `folder`, would refer to data that
    lies relative to another.

    Raises:
        LoadError: a reference leaves the model's folder.
    """
    locations = {_location(tensor): tensor.name for tensor in tensors}
    for location, name in locations.items():
        external_path(name, location, base_dir)
    moved = base_dir is None or real_path(base_dir) != real_path(folder)
    return moved and bool(tensors)


def _location(tensor: onnx.TensorProto) -> str:
    found = (entry.value for entry in tensor.external_data if entry.key == "location")
    return os.fsdecode(next(found, ""))  # what is no UTF-8 comes as bytes, and is refused later


def files_of(tensors: Iterable[onnx.TensorProto], base_dir: Path) -> frozenset[Path]:
    """The files that hold external tensors; links in their paths are not followed, and nothing says
    that they are there."""
    return frozenset(base_dir / _location(tensor) for tensor in tensors)


class DataFile:
    """A data file that is being written.

    Args:
        stream: the file.
        name: what the message calls it.
        elements_of: the raw elements of a tensor that is not external.
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
        """Stream the elements of all large tensors into the file, each part of another file once,
        and make the message refer to it.

        Args:
            proto: the message, which is changed.
            base_dir: the folder that its external data is relative to.
            inner: leave external data where it is.
            names: other names of files that are not copied.

        Raises:
            LoadError: data that the model refers to cannot be read.
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
        """Where a part of another file is in this one."""
        if extent not in self._copied:
            path, start, length = extent
            self._copied[extent] = self._begin()
            try:
                with _opened(path, start, name) as source:
                    copy_span(source, start, self._stream, length)
            except EOFError as error:
                raise LoadError(
                    f"external data of tensor '{name}' became shorter while it was read"
                ) from error
        return self._copied[extent]

    def _raw(self, tensor: onnx.TensorProto) -> bytes:
        """The elements of a tensor in the message, made raw ones if they are many."""
        if tensor.HasField("raw_data"):
            return self._elements_of(tensor)
        text = tensor.data_type == onnx.TensorProto.STRING
        if text or math.prod(tensor.dims) <= _INLINE_BYTES:
            return b""
        raw: bytes = onnx.numpy_helper.from_array(Tensor(tensor).numpy()).raw_data
        tensor.ClearField(onnx.helper.tensor_dtype_to_field(tensor.data_type))
        tensor.raw_data = raw
        return raw

    def _begin(self) -> int:
        self._stream.write(b"\0" * (-self._stream.tell() % _ALIGNMENT))
        return self._stream.tell()


def refer_to(proto: onnx.ModelProto, base_dir: Path | None, names: Mapping[Path, str]) -> None:
    """Make a message call the files of its external data by other names.

    Raises:
        LoadError: data that the model refers to is not there.
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
def _opened(path: Path, offset: int, name: str) -> Iterator[BinaryIO]:
    try:
        source = open_regular(path)
    except LoadError as error:
        raise LoadError(f"external data of tensor '{name}': {error}") from error
    with source:
        source.seek(offset)
        yield source
