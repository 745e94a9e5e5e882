"""Processes of runtimes that stay for later tests: a start costs more than most of their models."""

import atexit
import os

import pytest
from depth import DEEP
from straightline.runtimes.workers import Worker, Workers

_IDLE: list[Worker] = []


def share_workers() -> None:
    """Let each pool of workers keep its processes, without their models, for the next pool.

    In the longer run each pool starts its own. Once for the process: a fixture for each test would
    take longer than a third of them.
    """
    if not DEEP:
        Workers.__exit__, Workers.get = _keep, _get  # type: ignore[method-assign]


def keep_workers_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each pool start its own processes, for tests of pools."""
    monkeypatch.setattr(Workers, "__exit__", _original_exit)
    monkeypatch.setattr(Workers, "get", _original_get)


@atexit.register
def _close() -> None:
    for worker in filter(_runs, _IDLE):
        worker.close()


_original_get, _original_exit = Workers.get, Workers.__exit__


def _get(self: Workers, runtime: str, timeout: float | None = None) -> Worker:
    idle = next((worker for worker in _IDLE if worker.runtime == runtime), None)
    if runtime not in self._workers and idle is not None and _runs(idle):
        _IDLE.remove(idle)
        self._workers[runtime] = idle
    return _original_get(self, runtime, timeout)


def _keep(self: Workers, *_: object) -> None:
    for worker in self._workers.values():
        if _runs(worker):
            for key in list(worker._loaded):
                worker._ask("drop", key, None)
            worker._loaded.clear()
            _IDLE.append(worker)
    self._workers.clear()


def _runs(worker: Worker) -> bool:
    process = worker._process
    return process is not None and process.owner == os.getpid() and process._process.poll() is None
