"""Processes of this machine, by way of joblib: they end with this one, and run no file of the
working folder."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtimes.lifeline import end_with_parent, lifeline
from .errors import BatchError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

NAME = "straightline-local"
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""The variable by which Python, from 3.11 on, looks for no module in the working folder."""

_ON_WINDOWS = sys.platform == "win32"
_HAS_SAFE_PATH = sys.version_info >= (3, 11)


def register() -> None:
    """Let joblib know the backend.

    Raises:
        BatchError: workers would run a file of the working folder.
    """
    import joblib
    from joblib._parallel_backends import LokyBackend

    if not _HAS_SAFE_PATH:
        _require_no_module_here()

    class Backend(LokyBackend):  # type: ignore[misc]
        """The processes of loky, tied to this one."""

        def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
            tied = {} if _ON_WINDOWS else {"initializer": _tie, "initargs": (lifeline(),)}
            return int(super().configure(n_jobs, parallel, **settings, **tied))

        def _prepare_worker_env(self, n_jobs: int) -> dict[str, str]:
            return {**super()._prepare_worker_env(n_jobs), **_SAFE_PATH}

    joblib.register_parallel_backend(NAME, Backend)


def _tie(line: Connection) -> None:
    """Let this worker end when its parent process ends, however that was."""
    end_with_parent(line.fileno())
    _own.append(line)  # it would close when nothing refers to it


_own: list[Connection] = []


def _require_no_module_here() -> None:
    """Check that no file here takes the place of a module; Python 3.10 would run it.

    Raises:
        BatchError: one does.
    """
    for path in sorted(Path().iterdir()):
        name = path.name.split(".")[0]
        is_module = path.is_dir() or path.suffix in (".py", ".pyc", ".so", ".pyd")
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        foreign = file is not None and not Path(file).is_relative_to(path.absolute())
        if is_module and (name in sys.stdlib_module_names or foreign):
            raise BatchError(
                f"'{path}' in the current folder has the name of a module, which workers of Python"
                f" before 3.11 would import; run from another folder"
            )


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Start processes safely meanwhile.

    They never see Ctrl-C, which a terminal sends to all: it is for this process, which ends them.
    Here it comes a moment later. They look for no module in the working folder.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def removed_at_any_end(folder: Path) -> Iterator[None]:
    """Have a folder removed when this process and its workers are killed meanwhile.

    loky's process that watches over resources does it, which outlives them.
    """
    from joblib.externals.loky.backend import resource_tracker

    _start_trackers()
    resource_tracker.register(str(folder), "folder")
    try:
        yield
    finally:
        resource_tracker.unregister(str(folder), "folder")


def _start_trackers() -> None:
    """Start the processes that watch over resources of others; later they would see Ctrl-C.

    They warn of what a process leaves that was killed, and clean it up; nobody wants to be told.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as of_loky

    inner = {**_SAFE_PATH, "PYTHONWARNINGS": "ignore"}
    outer = {name: os.environ.get(name) for name in inner}
    os.environ.update(inner)
    try:
        for tracker in (resource_tracker, of_loky):
            tracker.ensure_running()
    finally:
        for name, value in outer.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
