"""Writing of models: to a file with its data, whole or not at all, or into bytes."""

import os
from collections.abc import Iterable
from pathlib import Path

import onnx

from ..errors import SaveError
from ..kinds import PATH, paths, require_kinds, takes
from ..model import Model
from ..read_names import nesting
from ..tensor import external_extent
from .data_links import LinkData, Links
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
"""The limit of nesting. Protobuf readers accept 100 levels: 3 for each graph in a node, 10 for the
rest."""


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

    External data stays in place for a file in its base folder; otherwise it is streamed into `<file
    name>.data` beside the file, or shared according to `link_data`. Other large data of a model
    over 2 GB is streamed beside it, too. A link is followed. Saving never overwrites the sources of
    the model except the model file itself, nor a file that is not a model, nor the data of another
    one.

    Args:
        model: an IR model or a message.
        path: the path of the file.
        force: overwrite also files that are no models, and data of other models.
        keep: further files that must not be overwritten.
        link_data: share external data with the original instead of copying it. With "reference" the
            model refers to its place, which must be in the folder of `path` or below it; with
            "hard" it gets hard links beside the file. onnxruntime reads these except for tensors in
            bodies, whose files are copied; `onnx.load` and onnx's checker refuse a file with
            several names.

    Raises:
        SaveError: the folder does not exist or cannot be written, no file can hold the model, a
            file would be lost, or data cannot be shared.
        LoadError: external data cannot be read.

    Examples:
        >>> import os, tempfile
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sl.save(model, os.path.join(folder, "exp.onnx"))
        ...     os.listdir(folder)
        ['exp.onnx']
    """
    require_kinds(locals(), {"force": "bool", "link_data": "LinkData | None"})
    message = _Message.of(model)
    # The limit of readers is checked before any file is touched.
    check_nesting(message.proto, Path(path))
    target = message.target(Path(path), keep, force)
    pieces = message.encode_for(target, link_data)
    if message.external or pieces is None:
        target.require_data_beside()
    links = message.links.places
    if pieces is not None:
        with replacing(target.file, links=links) as (temporary,):
            _write(temporary, pieces)
        return
    beside = target.data_file(in_use=links)
    with replacing(target.file, beside, links=links) as (temporary, data):
        _write(temporary, message.with_data(data, beside.name, target))


def _write(path: Path, pieces: Pieces) -> None:
    with path.open("wb") as stream:
        for piece in pieces:
            stream.write(piece())


class _Message:
    """The message of a model during saving.

    Args:
        proto: its message; one of the caller stays unchanged.
        withheld: large tensors with stand-ins in the message.
        model: the model; None for a message of the caller.

    Attributes:
        links: the shared data files.
        moved: true where external elements must be copied.
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
    def of(cls, model: Model | onnx.ModelProto) -> "_Message":
        if not isinstance(model, Model):
            return cls(model, Withheld(), None)
        withheld = Withheld(model.graph)
        return cls(serialize(model, withheld.message_of), withheld, model)

    def target(self, path: Path, keep: Iterable[Path], force: bool) -> Target:
        """The target of a path, which protects the sources of the model."""
        read, file = paths("keep", keep), None
        if self.model is not None:
            read |= self.model.data_files
            file = self.model.file
        if self.base_dir is not None:
            read |= files_of(self.external, self.base_dir)
        return Target.of(path, read, file, force=force)

    def encode_for(self, target: Target, how: LinkData | None) -> Pieces | None:
        """The content of the model file; None where data must go beside it."""
        self.moved = refers_elsewhere(self.external, self.base_dir, target.folder)
        if self.moved and how is not None:
            files, copied = self._files(self.external), set[Path]()
            if how == "hard":  # onnxruntime refuses a file of several names in a body
                copied = {*self._files(external_within_bodies(self.proto))}
            self.links = Links.of([file for file in files if file not in copied], target, how)
            self.moved = bool(copied)
            if not copied:
                refer_to(self._own_message(), self.base_dir, self.links.names)
        return None if self.moved else self.withheld.encode(self.proto)

    def _files(self, tensors: Iterable[onnx.TensorProto]) -> list[Path]:
        return [external_extent(tensor, self.base_dir)[0] for tensor in tensors]

    def with_data(self, data: Path, name: str, target: Target) -> Pieces:
        """Write data to its own file, and return the content of the model file.

        Raises:
            SaveError: the message is too large even so.
        """
        proto = self._own_message()
        with data.open("wb") as stream:
            file = DataFile(stream, name, self.withheld.elements_of)
            file.take(proto, self.base_dir, inner=not self.moved, names=self.links.names)
        content = encode(proto)
        if content is None:
            raise SaveError(
                f"cannot write '{target.path}': the model is over 2 GB even without its tensors"
            )
        return [lambda: content]

    def _own_message(self) -> onnx.ModelProto:
        if self.model is None:
            copy = onnx.ModelProto()
            copy.CopyFrom(self.proto)
            self.proto = copy
        return self.proto


@takes(model=Model)
def to_bytes(model: Model) -> bytes:
    """Encode a model as one message with its external data.

    Raises:
        SaveError: the message would be over 2 GB.
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
    """Check the nesting of graphs against the limit of readers.

    Raises:
        SaveError: graphs are nested too deep.
    """
    deepest = max(nesting(holder.node) for holder in (proto.graph, *proto.functions))
    if deepest > _MAX_NESTING:
        raise SaveError(
            f"cannot write '{path}': graphs are nested {deepest} deep, and readers of ONNX files"
            f" accept at most {_MAX_NESTING}"
        )
