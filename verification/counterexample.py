"""Counterexamples as files: an input on which two models differ, in the layout of ONNX's tests."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ..ir import BaseDir, ModelSource, SaveError, Tensor, read
from ..ir.errors import reason
from ..ir.io.files import require_folder
from ..ir.option_names import by
from ..records import record
from ..reference.signature import Signature, type_text
from ..runtimes.feeds import check_feeds
from ..runtimes.session import Feeds
from ..runtimes.source import Source
from ..runtimes.value_text import text_of
from ..runtimes.workers import RuntimeFailure, RuntimeName, Workers
from .runs.options import has_onnxruntime

_README, _DATA = "README.md", "test_data_set_0"
_TITLE = "# Counterexample of straightline"


@record(frozen=True)
class Counterexample:
    """An input on which two models differ.

    Attributes:
        reason: the difference in a sentence.
        inputs: the values of all inputs, in order.
        outputs: those of the original, in order; empty if no runtime runs it.
        types: the declared types of inputs and outputs, by name.
        bound: names of inputs that were set.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> one, other = (
        ...     sl.ir.parse(head + f"g (float[2] x) => (float[2] y) {{ y = {op} (x) }}")
        ...     for op in ("Relu", "Abs")
        ... )
        >>> proof = sl.prove(one, other)
        >>> sl.Counterexample.of(one, proof.feeds or {}, proof.reason).inputs["x"].shape
        (2,)
    """

    reason: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    types: Mapping[str, onnx.TypeProto]
    bound: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        before: ModelSource,
        feeds: Feeds,
        reason: str,
        *,
        bound: Collection[str] = (),
        base_dir: BaseDir = None,
    ) -> "Counterexample":
        """Make the counterexample of an input, and run the original on it.

        Args:
            before: the original.
            feeds: the input, such as `Proof.feeds`.
            reason: the difference in a sentence.
            bound: names of inputs that were set.
            base_dir: the folder of the external data of a model given in memory.

        Raises:
            LoadError: the model cannot be read.
            FeedError: the input does not fit the model.
        """
        source = Source(read(before), base_dir)
        feeds = check_feeds(feeds, source.proto)
        signature = Signature.of(source.proto)
        infos = [info for info in source.proto.graph.input if info.name in signature.inputs]
        if any(name in feeds for name in signature.defaults):  # all inputs, by position
            infos = list(source.proto.graph.input)
        values = {info.name: _value(info.name, feeds, signature) for info in infos}
        types = {info.name: info.type for info in infos}
        types |= dict(zip(signature.outputs, signature.output_types, strict=True))
        outputs = dict(zip(signature.outputs, _outputs(source, feeds), strict=False))
        return cls(reason, values, outputs, types, tuple(bound))

    def write(
        self,
        folder: str | os.PathLike[str],
        names: tuple[str, str] = ("A", "B"),
        options: Sequence[str] = (),
        *,
        force: bool = False,
    ) -> None:
        """Write the folder, whole or not at all; an earlier counterexample there is replaced.

        Args:
            folder: the folder, whose parent exists.
            names: the files of both models, for the command in the README.
            options: further options of that command, such as tolerances.
            force: write also into a folder with other files.

        Raises:
            SaveError: the folder cannot be written, or something would be lost.
        """
        folder = Path(folder)
        target = place_of(folder, force=force)
        try:
            temporary = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
            try:
                self._fill(temporary, names, self.command(folder, names, options))
                _put(temporary, target)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        except OSError as error:
            raise SaveError(f"cannot write '{folder}': {reason(error)}") from error

    def _fill(self, folder: Path, names: tuple[str, str], command: str) -> None:
        (folder / _DATA).mkdir()
        for kind, values in (("input", self.inputs), ("output", self.outputs)):
            for number, (name, value) in enumerate(values.items()):
                content = _message(value, self.types[name]).SerializeToString(deterministic=True)
                (folder / _DATA / f"{kind}_{number}.pb").write_bytes(content)
        text = "\n".join(self._readme(names, command)) + "\n"
        (folder / _README).write_text(text, encoding="utf-8")
        folder.chmod(0o777 & ~_mask())

    def _readme(self, names: tuple[str, str], command: str) -> Iterator[str]:
        """Yield the lines of the README: the input, the difference, the command to see it."""
        yield from (
            _TITLE,
            "",
            f"{_code(names[0])} and {_code(names[1])} differ on this input:",
            "",
        )
        for name, value in self.inputs.items():
            yield f"- {_code(f'{name} = {text_of(value)}')}, declared as {self._declared(name)}"
        yield from ("", self.reason, "", "```sh", command, "```", "")
        yield f"shows it, from the folder where it was found. {_code(_DATA)} holds the inputs, and"
        yield "the outputs of the first model, in the layout of ONNX's backend tests."

    def _declared(self, name: str) -> str:
        return _code(type_text(self.types[name]))

    def command(self, folder: Path, names: tuple[str, str], options: Sequence[str] = ()) -> str:
        """Command that shows the difference."""
        words = ["straightline", "verify", *names, "--no-prove", "--inputs", str(folder)]
        for position, name in enumerate(self.inputs):
            if name in self.bound:
                words += ["--set", f"{name}=@{folder / _DATA / f'input_{position}.pb'}"]
        return shlex.join([*words, *options])


def _outputs(source: Source, feeds: Feeds) -> Sequence[Any]:
    """Outputs of a model; none if no runtime runs it."""
    runtimes: tuple[RuntimeName, ...] = "onnxruntime", "reference"
    with Workers() as workers:
        for runtime in runtimes[not has_onnxruntime() :]:
            try:
                return workers.get(runtime).run(source, feeds)
            except RuntimeFailure:
                continue
    return ()


def place_of(folder: Path, *, force: bool = False) -> Path:
    """Folder to which a counterexample may be written; nothing is touched.

    Raises:
        SaveError: it is no place for a folder, or has other files.
    """
    if "\0" in os.fspath(folder):
        raise SaveError(f"cannot write {os.fspath(folder)!r}: it holds a zero byte")
    target = Path(os.path.realpath(folder))
    if target.exists() and not target.is_dir():
        raise SaveError(f"cannot write '{folder}': it is not a folder")
    require_folder(folder, target)
    if not force and target.is_dir() and not _is_own(target):
        raise SaveError(
            f"cannot write '{folder}': a folder with other files is there; name another one, or"
            f" allow it with {by('--force')}"
        )
    return target


def _is_own(folder: Path) -> bool:
    """Test for an empty folder, or one with a counterexample and nothing else."""
    names = {path.name for path in folder.iterdir()}
    if not names:
        return True
    if names != {_README, _DATA} or not (folder / _DATA).is_dir():
        return False
    with (folder / _README).open(encoding="utf-8", errors="replace") as file:
        is_ours = file.readline().rstrip() == _TITLE
    return is_ours and all(path.suffix == ".pb" for path in (folder / _DATA).iterdir())


def _put(source: Path, target: Path) -> None:
    """Put what is in a folder into its place; if that fails, what was there stays."""
    if not target.exists():
        os.replace(source, target)
        return
    with tempfile.TemporaryDirectory(prefix=f".{target.name[:100]}.", dir=target.parent) as old:
        moved: list[tuple[Path, Path]] = []
        try:
            for name in (_DATA, _README):
                for path, place in (
                    (target / name, Path(old, name)),
                    (source / name, target / name),
                ):
                    if os.path.lexists(path):
                        os.replace(path, place)
                        moved.append((path, place))
        except BaseException:
            for path, place in reversed(moved):
                os.replace(place, path)
            raise


def _value(name: str, feeds: Feeds, signature: Signature) -> Any:
    if name in feeds:
        return feeds[name]
    default = signature.defaults[name]
    if isinstance(default, onnx.TensorProto):
        return Tensor(default).numpy()
    raise SaveError(f"the default of input '{name}' is sparse; it cannot be written")


def _message(value: Any, proto: onnx.TypeProto) -> Any:
    """The message of a value of a type: a tensor, a sequence, an optional, or a map."""
    kind = proto.WhichOneof("value")
    if kind == "optional_type":
        if value is None:
            return onnx.OptionalProto(elem_type=onnx.OptionalProto.UNDEFINED)
        inner = _message(value, proto.optional_type.elem_type)
        if isinstance(inner, onnx.SequenceProto):
            sequence = onnx.OptionalProto.SEQUENCE
            return onnx.OptionalProto(elem_type=sequence, sequence_value=inner)
        return onnx.OptionalProto(elem_type=onnx.OptionalProto.TENSOR, tensor_value=inner)
    if kind == "sequence_type":
        parts = [Tensor(array=np.asarray(part)).message() for part in value]
        return onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR, tensor_values=parts)
    if isinstance(value, dict):
        return onnx.numpy_helper.from_dict(value)
    return Tensor(array=np.asarray(value)).message()


def _code(text: str) -> str:
    """Text as code of Markdown; a name may hold backticks and ends of lines."""
    one_line = " ".join(text.split())
    return f"`` {one_line} ``" if "`" in one_line else f"`{one_line}`"


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
