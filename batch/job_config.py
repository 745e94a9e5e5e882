"""Configuration of a batch: the work on each model, the same for all."""

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
from ..records import record
from ..verification.runs.options import VerifyOptions
from .change_detection import digest_of_file

_FORM = 4
"""Version of the kept state; what another version kept is done again."""


@record(frozen=True)
class JobConfig:
    """Work on each model of a batch.

    Attributes:
        verify: the options of the verification; None for none.
        straight_line: fail where control flow is left.
        whole_target: fail where the target does not support something.
        force: overwrite also what is no model.
        max_bytes: refuse larger files.
        load: files of passes.
        in_a_shell: whether messages name options rather than keywords.
        link_data: whether results have hard links to data files rather than copies.
        reports: the folder of a report page for each model; None for none.
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
    reports: Path | None = None

    def page_of(self, name: str) -> Path | None:
        """Return the report page of a model by its name in the batch."""
        return None if self.reports is None else (self.reports / name).with_suffix(".html")

    @property
    def feeds(self) -> list[Path]:
        """The files of inputs."""
        from ..runtimes.feeds import files_of

        feeds = None if self.verify is None else self.verify.feeds
        return [] if feeds is None else files_of(feeds)

    @contextlib.contextmanager
    def prepared(self) -> Iterator[None]:
        """Load the passes of files, and let messages name what the caller can write.

        Raises:
            PluginError: a file defines no passes.
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

    def for_workers(self) -> "JobConfig":
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
            reports=self.reports and Path(os.path.realpath(self.reports)),
        )

    def check(self) -> None:
        """Check, before the work, what holds for every model.

        Raises:
            PassOptionError: there is no such pass or option; passes of files are not checked.
        """
        if not self.load:
            _ = self.rewriting.pipeline

    def key(self) -> str:
        """Return a digest of all that decides the results, the version of straightline included.

        Raises:
            LoadError: a file cannot be read.
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
            **({"reports": os.path.realpath(self.reports)} if self.reports else {}),
        }
        return hashlib.sha256(_text(decisive).encode()).hexdigest()


def _text(value: Any) -> str:
    """Return a value as text that is the same in every process."""
    import numpy as np

    if isinstance(value, Mapping):
        # Sorted, because the order of a mapping means nothing.
        items = sorted((_text(key), _text(content)) for key, content in value.items())
        return "{" + ", ".join(f"{key}: {content}" for key, content in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, frozenset):
        # The order of a set differs between processes.
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
