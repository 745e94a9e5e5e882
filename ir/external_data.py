"""External data of a model that is being saved: carried over where it is, or streamed beside it."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import onnx
import onnx.external_data_helper
import onnx.numpy_helper

from .errors import LoadError, reason
from .files import encode
from .reading import TWO_GB
from .tensor import Tensor, external_extent, external_path, real_path

_ALIGNMENT = 4096
_BLOCK = 1 << 22
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


_PLAIN = {
    onnx.AttributeProto.FLOAT,
    onnx.AttributeProto.INT,
    onnx.AttributeProto.STRING,
    onnx.AttributeProto.FLOATS,
    onnx.AttributeProto.INTS,
    onnx.AttributeProto.STRINGS,
}
"""Kinds of attributes that hold no tensor: most of them."""


def _tensors_of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type in _PLAIN:
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
    for tensor, (path, offset, length) in zip(tensors, extents, strict=True):
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


def write_data_file(
    proto: onnx.ModelProto, base_dir: Path | None, target: BinaryIO, name: str
) -> None:
    """Stream the elements of all large tensors into `target`, and make the message refer to it.

    Raises:
        LoadError: data that the model refers to cannot be read.
    """
    for tensor in tensors_of(proto):
        external = onnx.external_data_helper.uses_external_data(tensor)
        if not external and not _moves_out(tensor):
            continue
        target.write(b"\0" * (-target.tell() % _ALIGNMENT))
        offset = target.tell()
        if external:
            path, start, length = external_extent(tensor, base_dir)
            with _opened(path, start, tensor.name) as source:
                _copy(source, target, length, tensor.name)
        else:
            length = target.write(tensor.raw_data)
            tensor.ClearField("raw_data")
        tensor.ClearField("external_data")
        for key, value in (("location", name), ("offset", str(offset)), ("length", str(length))):
            tensor.external_data.add(key=key, value=value)
        tensor.data_location = onnx.TensorProto.EXTERNAL


def _moves_out(tensor: onnx.TensorProto) -> bool:
    """Whether a tensor is large enough for the data file; its elements are made raw ones then."""
    if tensor.HasField("raw_data"):
        return len(tensor.raw_data) > _INLINE_BYTES
    if tensor.data_type == onnx.TensorProto.STRING or math.prod(tensor.dims) <= _INLINE_BYTES:
        return False
    raw = onnx.numpy_helper.from_array(Tensor(tensor).numpy())
    tensor.ClearField(onnx.helper.tensor_dtype_to_field(tensor.data_type))
    tensor.raw_data = raw.raw_data
    return True


@contextlib.contextmanager
def _opened(path: Path, offset: int, name: str) -> Iterator[BinaryIO]:
    try:
        source = path.open("rb")
    except OSError as error:
        raise LoadError(
            f"external data of tensor '{name}' cannot be read from {path}: {reason(error)}"
        ) from error
    with source:
        source.seek(offset)
        yield source


def _copy(source: BinaryIO, target: BinaryIO, length: int, name: str) -> None:
    while length:
        block = source.read(min(length, _BLOCK))
        if not block:
            raise LoadError(f"external data of tensor '{name}' became shorter while it was read")
        target.write(block)
        length -= len(block)
