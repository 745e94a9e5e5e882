"""Run models in a child process, so that a crash or a hang of a runtime is only an answer."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from typing import IO, Any, BinaryIO, Literal

from ..ir.errors import Error
from ._child import ModelData, receive, send
from .source import Source

RuntimeName = Literal["onnxruntime", "reference"]
Reason = Literal["unsupported", "failed", "crashed", "timed out"]

DEFAULT_TIMEOUT = 300.0
_START_TIMEOUT = 120.0


class RuntimeFailure(Error):
    """A runtime gave no outputs.

    Attributes:
        reason: "unsupported" (it cannot take the model or a type), "failed" (it raised an error on
            these values), "crashed" (the process died) or "timed out".
    """

    def __init__(self, runtime: str, reason: Reason, detail: str) -> None:
        super().__init__(f"{runtime} {_VERBS[reason]}: {detail}")
        self.runtime = runtime
        self.reason = reason


_VERBS = {
    "unsupported": "cannot run it",
    "failed": "failed",
    "crashed": "crashed",
    "timed out": "timed out",
}


def has_onnxruntime() -> bool:
    """Whether onnxruntime is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


class Worker:
    """One runtime in a persistent child process, which is started anew after a crash.

    Args:
        runtime: which runtime.
        timeout: seconds for loading one model, and for running it once.
    """

    def __init__(self, runtime: RuntimeName, timeout: float | None = None) -> None:
        self.runtime = runtime
        self.timeout = DEFAULT_TIMEOUT if timeout is None else timeout
        self._process: _Process | None = None
        self._loaded: set[int] = set()

    def run(self, source: Source, feeds: Mapping[str, Any], *, fresh: bool = False) -> list[Any]:
        """The outputs of a model in order.

        Args:
            source: the model; it is sent to the child once.
            feeds: its inputs by name; None is an absent optional, a list a sequence.
            fresh: load it anew, so that seeded random operators start from their seed.

        Raises:
            RuntimeFailure: the runtime gave no outputs; the worker can be used again.
        """
        if fresh or source.key not in self._loaded or self._process is None:
            self._ask("load", source.key, source.data)
            self._loaded.add(source.key)
        outputs: list[Any] = self._ask("run", source.key, dict(feeds))
        return outputs

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._loaded.clear()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, verb: str, key: int, argument: ModelData | dict[str, Any]) -> Any:
        if self._process is None:
            self._process = _Process(self.runtime)
            self._answer(max(self.timeout, _START_TIMEOUT))
        with contextlib.suppress(OSError):  # a broken pipe: the answer tells of the crash
            send(self._process.requests, (verb, key, argument))
        return self._answer(self.timeout)

    def _answer(self, timeout: float) -> Any:
        assert self._process is not None
        try:
            status, value = self._process.answers.get(timeout=timeout)
        except queue.Empty:
            self.close()
            detail = f"no answer within {timeout:g} s; allow more with timeout="
            raise RuntimeFailure(self.runtime, "timed out", detail) from None
        except BaseException:  # Ctrl-C: an answer still under way must not meet the next request
            self.close()
            raise
        if status == "ok":
            return value
        if status == "crashed":
            value = self._process.cause_of_death()
            self.close()
        raise RuntimeFailure(self.runtime, status, value)


class _Process:
    """A child, its two streams, and a thread that collects its answers."""

    def __init__(self, runtime: str) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in kill()
        # The child finds this package where the parent did, and nothing in the current folder.
        paths = os.pathsep.join(p for p in sys.path if p)
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}._child", runtime],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.requests: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self.answers: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._reader = threading.Thread(
            target=_collect, args=(self._process.stdout, self.answers), daemon=True
        )
        self._reader.start()

    def cause_of_death(self) -> str:
        """The signal or exit code, and the last line that the child wrote."""
        code = self._process.wait()
        cause = f"exit code {code}"
        if code < 0:
            with contextlib.suppress(ValueError):  # a signal without a name
                cause = signal.Signals(-code).name
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"{cause} ({lines[-1].strip()})" if lines else cause

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):  # data for a dead process cannot be flushed
                    stream.close()


def _collect(stream: IO[bytes], answers: queue.Queue[tuple[str, Any]]) -> None:
    try:
        while True:
            answers.put(receive(stream))  # type: ignore[arg-type]
    except EOFError:
        answers.put(("crashed", ""))
