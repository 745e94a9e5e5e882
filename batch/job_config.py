"""What is done with each model: the same for all."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..driver.options import RewriteOptions
from ..ir import TWO_GB
from ..ir.option_names import in_shell
from ..limits import governed
from ..verification.runs.options import VerifyOptions
from .change_detection import digest_of_file

_FORM = 3
"""How what is done is kept; what was kept otherwise is done anew."""


@dataclasses.dataclass(frozen=True)
class Treatment:
    """What is done with each model.

    Attributes:
        rewriting: the options of the rewrite or conversion.
        verify: the options of the verification; None for none.
        straight_line: fail where control flow is left.
        whole_target: fail where the target does not take something.
        force: overwrite also what is no model.
        max_bytes: refuse larger files.
        load: files of passes.
        in_a_shell: whether messages name options rather than keywords.
        link_data: whether results have hard links to data files rather than copies.
    """

    rewriting: RewriteOptions = dataclasses.field(default_factory=RewriteOptions)
    verify: VerifyOptions | None = dataclasses.field(default_factory=VerifyOptions)
    straight_line: bool = False
    whole_target: bool = False
    force: bool = False
    max_bytes: int = TWO_GB
    load: tuple[Path, ...] = ()
    in_a_shell: bool = False
    link_data: bool = False

    @property
    def feeds(self) -> list[Path]:
        """The files that inputs are read from."""
        from ..runtimes.feeds import files_of

        given = None if self.verify is None else self.verify.feeds
        return [] if given is None else files_of(given)

    @contextlib.contextmanager
    def prepared(self) -> Iterator[None]:
        """Let passes of files be known, and messages speak the caller's language.

        Raises:
            PluginError: a file is none of passes.
        """
        from ..ir.option_names import shell_messages
        from ..passes import load_file

        for file in self.load:
            load_file(file)
        with (
            governed(self.rewriting.limits),
            shell_messages() if self.in_a_shell else contextlib.nullcontext(),
        ):
            yield

    def for_workers(self) -> Treatment:
        """Return the same for processes in other folders: a target's file is read, once.

        Raises:
            TargetError: there is no such target.
        """
        rewriting = self.rewriting
        if rewriting.target is not None:
            from ..targets import target_of

            rewriting = dataclasses.replace(rewriting, target=target_of(rewriting.target))
        return dataclasses.replace(
            self,
            rewriting=rewriting,
            verify=self.verify and self.verify.with_absolute_paths(),
            load=tuple(Path(os.path.realpath(file)) for file in self.load),
            in_a_shell=in_shell(),
        )

    def check(self) -> None:
        """Find out before the work what no model could be worked on with.

        Raises:
            PassOptionError: there is no such pass or option; those of files are not looked at.
        """
        if not self.load:
            _ = self.rewriting.pipeline

    def key(self) -> str:
        """A digest of all that decides what comes out, this version of straightline among it.

        Raises:
            LoadError: a file that it depends on cannot be read.
        """
        decisive = {
            "state": _FORM,
            "versions": [importlib.metadata.version(name) for name in ("straightline", "onnx")],
            "rewriting": self.rewriting,
            "verify": self.verify,
            "feeds": [digest_of_file(path) for path in self.feeds],
            "straight_line": self.straight_line,
            "whole_target": self.whole_target,
            "link_data": self.link_data,
            "load": [digest_of_file(path) for path in self.load],
        }
        return hashlib.sha256(_text(decisive).encode()).hexdigest()


def _text(value: Any) -> str:
    """A value as text that is the same in every process."""
    import numpy as np

    if isinstance(value, Mapping):
        items = sorted((_text(key), _text(held)) for key, held in value.items())
        return "{" + ", ".join(f"{key}: {held}" for key, held in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, frozenset):
        return _text(sorted(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return _text({field.name: getattr(value, field.name) for field in fields})
    if isinstance(value, np.ndarray | np.generic):
        from ..ir.io.fingerprint import digest_of_array

        array = np.asarray(value)
        return f"{array.dtype}{array.shape}{digest_of_array(array).hex()}"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    return f"{type(value).__name__} {value!r}"
