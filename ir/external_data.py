"""External data of a model that is being saved: carried over where it is, or streamed beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import onnx
import onnx.external_data_helper

from .errors import LoadError
from .files import TWO_GB
from .tensor import external_path

_ALIGNMENT = 4096
_INLINE_BYTES = 1024
"""Tensors up to this size stay in the model file when the others move out."""


def tensors_of(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every dense tensor of a model: initializers and attributes, at any depth."""
    yield from _tensors_of_graph(proto.graph)
    for function in proto.functions:
        yield from _tensors_of_nodes(function.node)
    for info in proto.training_info:
        yield from _tensors_of_graph(info.initialization)
        yield from _tensors_of_graph(info.algorithm)


def _tensors_of_graph(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    yield from _tensors_of_nodes(graph.node)


def _tensors_of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("g"):
                yield from _tensors_of_graph(attribute.g)
            for graph in attribute.graphs:
                yield from _tensors_of_graph(graph)


def external_tensors(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """The tensors whose elements lie in files."""
    return [t for t in tensors_of(proto) if onnx.external_data_helper.uses_external_data(t)]


def total_bytes(proto: onnx.ModelProto, base_dir: Path | None) -> int:
    """How many bytes the external data of a model has."""
    return sum(_extent(tensor, base_dir)[2] for tensor in external_tensors(proto))


def load_external_data(proto: onnx.ModelProto, base_dir: Path | None) -> None:
    """Read all external data into the message.

    Raises:
        LoadError: the file is missing or too short, or together they are over 2 GB.
    """
    if total_bytes(proto, base_dir) + proto.ByteSize() > TWO_GB:
        raise LoadError(
            "the model is over 2 GB with its external data, which no single message can hold;"
            " work on straightline.ir.load(path) and straightline.ir.save(model, path), or use"
            " the command line"
        )
    for tensor in external_tensors(proto):
        path, offset, length = _extent(tensor, base_dir)
        with path.open("rb") as source:
            source.seek(offset)
            tensor.raw_data = source.read(length)
        tensor.ClearField("external_data")
        tensor.data_location = onnx.TensorProto.DEFAULT


def _extent(tensor: onnx.TensorProto, base_dir: Path | None) -> tuple[Path, int, int]:
    """File, offset and length in bytes of a tensor's elements."""
    info = onnx.external_data_helper.ExternalDataInfo(tensor)
    path = external_path(tensor.name, info.location, base_dir)
    if not path.is_file():
        raise LoadError(f"external data of tensor '{tensor.name}' is missing: there is no {path}")
    size = path.stat().st_size
    offset = int(info.offset or 0)
    length = int(info.length) if info.length is not None else size - offset
    if offset + length > size or offset < 0 or length < 0:
        raise LoadError(
            f"external data of tensor '{tensor.name}' ends at byte {offset + length} of {path},"
            f" which has {size}"
        )
    return path, offset, length


def needs_data_file(proto: onnx.ModelProto, base_dir: Path | None, folder: Path) -> bool:
    """Whether saving into `folder` takes a data file: the model is over 2 GB without one, or
    refers to data that lies in another folder."""
    if proto.ByteSize() > TWO_GB:
        return True
    moved = base_dir is None or base_dir.resolve() != folder.resolve()
    return moved and bool(external_tensors(proto))


def data_file_name(proto: onnx.ModelProto, path: Path) -> str:
    """A name for the data file that none of the model's present data has."""
    used = {
        onnx.external_data_helper.ExternalDataInfo(tensor).location
        for tensor in external_tensors(proto)
    }
    name, number = f"{path.name}.data", 0
    while name in used:
        number += 1
        name = f"{path.name}.{number}.data"
    return name


def write_data_file(
    proto: onnx.ModelProto, base_dir: Path | None, target: BinaryIO, name: str
) -> None:
    """Stream the elements of all large tensors into `target`, and make the message refer to it.

    Raises:
        LoadError: data that the model refers to cannot be read.
    """
    for tensor in tensors_of(proto):
        external = onnx.external_data_helper.uses_external_data(tensor)
        if not external and len(tensor.raw_data) <= _INLINE_BYTES:
            continue
        target.write(b"\0" * (-target.tell() % _ALIGNMENT))
        offset = target.tell()
        if external:
            path, start, length = _extent(tensor, base_dir)
            with path.open("rb") as source:
                source.seek(start)
                _copy(source, target, length)
        else:
            length = target.write(tensor.raw_data)
            tensor.ClearField("raw_data")
        tensor.ClearField("external_data")
        for key, value in (("location", name), ("offset", str(offset)), ("length", str(length))):
            tensor.external_data.add(key=key, value=value)
        tensor.data_location = onnx.TensorProto.EXTERNAL


def _copy(source: BinaryIO, target: BinaryIO, length: int) -> None:
    block = 1 << 22
    while length > block:
        shutil.copyfileobj(_Limited(source, block), target)
        length -= block
    shutil.copyfileobj(_Limited(source, length), target)


class _Limited:
    """The next bytes of a file, as a file."""

    def __init__(self, source: BinaryIO, length: int) -> None:
        self.source = source
        self.length = length

    def read(self, size: int = -1) -> bytes:
        wanted = self.length if size < 0 else min(size, self.length)
        content = self.source.read(wanted)
        self.length -= len(content)
        return content
