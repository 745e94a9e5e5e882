"""Writing models: to a file with its data, whole or not at all, or into bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import onnx

from ..errors import SaveError
from ..kinds import PATH, takes
from ..model import Model
from ..tensor import external_extent
from ..topological_sort import nesting
from .data_links import LinkData, Links, require_way
from .external_data import (
    DataFile,
    external_tensors,
    external_within_bodies,
    files_of,
    load_external_data,
    refer_to,
    refers_elsewhere,
)
from .files import encode, replacing
from .raw_data_splicing import Pieces, Withheld
from .serialize import serialize
from .write_target import Target

_MAX_NESTING = 30
"""Protobuf readers take messages nested 100 deep: 3 for each graph in a node, 10 for the rest."""


@takes(model=(Model, onnx.ModelProto), path=PATH)
def save(
    model: Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    keep: Iterable[Path] = (),
    link_data: LinkData | None = None,
) -> None:
    """Write a model to a file, whole or not at all.

    External data stays where it is when the file goes into the folder it is relative to; else it
    is streamed into `<file name>.data` beside the file, or shared as `link_data` says. Other large
    data of a model over 2 GB is streamed beside it, too. A link is followed. What the model was
    read from is never overwritten, save the model file itself by its own new version; nor is a
    file that is no model, or the data of another one.

    Args:
        model: an IR model or a message.
        path: where to.
        force: overwrite also what is no model, and data of other models.
        keep: further files that must not be overwritten.
        link_data: how external data is shared with the original rather than copied: "reference",
            the model refers to it where it is, which must be in the folder of `path` or below it;
            "hard", it gets hard links beside the file. onnxruntime reads these but for tensors in
            bodies, whose files are copied; `onnx.load` and onnx's checker refuse a file that has
            several names, under each of them.

    Raises:
        SaveError: the folder does not exist or cannot be written, no file can hold the model,
            something would be lost, or data cannot be shared.
        LoadError: external data that the model refers to cannot be read.
    """
    if link_data is not None:
        require_way(link_data)
    message = _Message.of(model)
    check_nesting(message.proto, Path(path))
    target = message.target(Path(path), keep, force)
    pieces = message.placed(target, link_data)
    if message.external or pieces is None:
        target.require_data_beside()
    links = message.links.places
    if pieces is not None:
        with replacing(target.file, links=links) as (temporary,):
            _write(temporary, pieces)
        return
    beside = target.data_file(taken=links)
    with replacing(target.file, beside, links=links) as (temporary, data):
        _write(temporary, message.with_data(data, beside.name, target))


def _write(path: Path, pieces: Pieces) -> None:
    with path.open("wb") as stream:
        for piece in pieces:
            stream.write(piece())


class _Message:
    """A model on its way into a file.

    Args:
        proto: its message, which may be the caller's own and is not changed then.
        withheld: large tensors that the message only stands for.
        model: the model; None where the caller gave a message.

    Attributes:
        external: the tensors whose elements lie in files.
        links: the data files that are shared.
        moved: whether the elements of these have to be copied.
    """

    def __init__(self, proto: onnx.ModelProto, withheld: Withheld, model: Model | None) -> None:
        self.proto = proto
        self.withheld = withheld
        self.model = model
        self.base_dir = None if model is None else model.base_dir
        self.external = external_tensors(proto)
        self.links = Links({}, {})
        self.moved = False

    @classmethod
    def of(cls, model: Model | onnx.ModelProto) -> _Message:
        if not isinstance(model, Model):
            return cls(model, Withheld(), None)
        withheld = Withheld(model.graph)
        return cls(serialize(model, withheld.message_of), withheld, model)

    def target(self, path: Path, keep: Iterable[Path], force: bool) -> Target:
        """Where it goes; what it is read from is not overwritten there."""
        read, file = {*keep}, None
        if self.model is not None:
            read |= self.model.data_files
            file = self.model.file
        if self.base_dir is not None:
            read |= files_of(self.external, self.base_dir)
        return Target.of(path, read, file, force=force)

    def placed(self, target: Target, how: LinkData | None) -> Pieces | None:
        """The content of the model file; None where data must be written beside it."""
        self.moved = refers_elsewhere(self.external, self.base_dir, target.folder)
        if self.moved and how is not None:
            files, copied = self._files(self.external), set[Path]()
            if how == "hard":  # onnxruntime takes no file of several names in a body
                copied = {*self._files(external_within_bodies(self.proto))}
            self.links = Links.of([file for file in files if file not in copied], target, how)
            self.moved = bool(copied)
            if not copied:
                refer_to(self._changeable(), self.base_dir, self.links.names)
        return None if self.moved else self.withheld.encode(self.proto)

    def _files(self, tensors: Iterable[onnx.TensorProto]) -> list[Path]:
        return [external_extent(tensor, self.base_dir)[0] for tensor in tensors]

    def with_data(self, data: Path, name: str, target: Target) -> Pieces:
        """The content of the model file after its data was written to another one.

        Raises:
            SaveError: it is too large all the same.
        """
        proto = self._changeable()
        with data.open("wb") as stream:
            file = DataFile(stream, name, self.withheld.elements_of)
            file.take(proto, self.base_dir, inner=not self.moved, names=self.links.names)
        content = encode(proto)
        if content is None:
            raise SaveError(
                f"cannot write '{target.path}': the model is over 2 GB even without its tensors"
            )
        return [lambda: content]

    def _changeable(self) -> onnx.ModelProto:
        if self.model is None:
            copy = onnx.ModelProto()
            copy.CopyFrom(self.proto)
            self.proto = copy
        return self.proto


@takes(model=Model)
def to_bytes(model: Model) -> bytes:
    """The model as one message, external data within it.

    Raises:
        SaveError: it is more than a message can have.
        LoadError: external data cannot be read.
    """
    proto = serialize(model)
    check_nesting(proto, Path("standard output"))
    load_external_data(proto, model.base_dir)
    content = encode(proto)
    if content is None:
        raise SaveError("the model has more than 2 GB, which no stream can hold; name a file")
    return content


def check_nesting(proto: onnx.ModelProto, path: Path) -> None:
    """Check that readers take graphs nested as deep as those of a model.

    Raises:
        SaveError: they do not.
    """
    deepest = max(nesting(holder.node) for holder in (proto.graph, *proto.functions))
    if deepest > _MAX_NESTING:
        raise SaveError(
            f"cannot write '{path}': graphs are nested {deepest} deep, and readers of ONNX files"
            f" take no more than {_MAX_NESTING}"
        )
