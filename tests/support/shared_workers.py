"""Processes of runtimes that stay for later tests: a start costs more than most of their models."""

import atexit
import os

import pytest
from depth import DEEP
from straightline.runtimes.workers import Worker, Workers

_IDLE: list[Worker] = []


def share_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pool of workers keep its processes, without their models, for the next pool.

    In the longer run each pool starts its own.
    """
    if DEEP:
        return
    monkeypatch.setattr(Workers, "__exit__", _keep)
    monkeypatch.setattr(Workers, "get", _get)


@atexit.register
def _close() -> None:
    for worker in filter(_runs, _IDLE):
        worker.close()


_original_get = Workers.get


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
