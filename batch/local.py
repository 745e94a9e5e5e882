"""Processes of this machine, by way of joblib: they end with this one, and run no file of the
working folder."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import BatchError

NAME = "straightline-local"
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""The variable by which Python, from 3.11 on, looks for no module in the working folder."""

_HAS_SAFE_PATH = sys.version_info >= (3, 11)
_WATCH_EVERY = 0.1
"""Seconds between two looks of a worker for its parent process."""


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
            tied = {"initializer": _end_with, "initargs": (os.getpid(),)}
            return int(super().configure(n_jobs, parallel, **settings, **tied))

        def _prepare_worker_env(self, n_jobs: int) -> dict[str, str]:
            return {**super()._prepare_worker_env(n_jobs), **_SAFE_PATH}

    joblib.register_parallel_backend(NAME, Backend)


def _end_with(parent: int) -> None:
    """End this worker when its parent process has ended, however that was."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_EVERY)
        os._exit(1)  # nobody wants what is not done, and nobody is left to be told

    if sys.platform != "win32":  # where a process keeps the number of its parent
        threading.Thread(target=watch, daemon=True).start()


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
                f"'{path}' in the working folder has the name of a module, and workers of Python"
                f" before 3.11 would run it; work in another folder"
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
