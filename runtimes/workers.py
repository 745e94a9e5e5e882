"""Run models in a child process, so that its crash or hang is an answer."""

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from typing import IO, Any, BinaryIO, Literal, cast

from ..ir.errors import Error
from ..ir.option_names import by
from ._child import receive, send
from .lifeline import lifeline
from .memory_limit import ONE_THREAD, allowance, bytes_of, has_room_for, hold
from .session import ModelData
from .source import Source

RuntimeName = Literal["onnxruntime", "reference"]
Reason = Literal["unsupported", "failed", "crashed", "timed out", "out of memory"]

DEFAULT_TIMEOUT = 60.0
_KILLED = "SIGKILL"
"""What a system that is short of memory ends a process with."""
_START_TIMEOUT = 120.0
_INVALID = re.compile(r"INVALID_GRAPH|Type Error:")
"""Phrases of onnxruntime for a graph that breaks ONNX's rules."""
_WANT_OF_MEMORY = re.compile(r"bad_alloc|MemoryError|[Cc]annot allocate memory")
"""What a process says that ends for want of memory."""


class RuntimeFailure(Error):
    """A runtime gave no outputs.

    Attributes:
        reason: "unsupported" (it cannot take the model or a type), "failed" (it raised an error on
            these values), "crashed" (the process died), "timed out" or "out of memory".
    """

    def __init__(self, runtime: str, reason: Reason, detail: str) -> None:
        super().__init__(f"{runtime} {_VERBS[reason]}: {detail}")
        self.runtime = runtime
        self.reason = reason

    @property
    def calls_invalid(self) -> bool:
        """True if the runtime calls the model invalid, rather than beyond what it supports."""
        return self.reason == "unsupported" and bool(_INVALID.search(str(self)))


_VERBS = {
    "unsupported": "cannot run it",
    "failed": "failed",
    "crashed": "crashed",
    "timed out": "timed out",
    "out of memory": "ran out of memory",
}


class Worker:
    """One runtime in a persistent child process, which is started anew after a crash.

    Args:
        timeout: seconds for loading one model, and for running it once.
    """

    def __init__(self, runtime: RuntimeName, timeout: float | None = None) -> None:
        self.runtime = runtime
        self.timeout = DEFAULT_TIMEOUT if timeout is None else timeout
        self._process: _Process | None = None
        self._loaded: dict[int, int] = {}
        """The models that the child has, and how many bytes they are."""

    def run(self, source: Source, feeds: Mapping[str, Any], *, fresh: bool = False) -> list[Any]:
        """The outputs of a model in order.

        Args:
            source: the model; it is sent to the child once.
            feeds: its inputs by name; None is an absent optional, a list a sequence.
            fresh: load it anew, so that seeded random operators start from their seed.

        Raises:
            RuntimeFailure: the runtime gave no outputs; the worker can be used again.
        """
        loaded = bool(self._loaded)
        others = self._loaded.keys() - {source.key}
        if others and source.key not in self._loaded and not has_room_for(source.size):
            self.close()
        try:
            return self._run(source, feeds, fresh)
        except RuntimeFailure as error:
            if error.reason != "out of memory" or not loaded:
                raise
            self.close()  # what models have taken that are loaded there is this one's to use
            return self._run(source, feeds, fresh)

    def _run(self, source: Source, feeds: Mapping[str, Any], fresh: bool) -> list[Any]:
        self.ready()
        assert self._process is not None
        sizes = {**self._loaded, source.key: source.size}
        self._process.hold(allowance(sum(sizes.values()), bytes_of(feeds.values())))
        if fresh or source.key not in self._loaded:
            self._loaded.pop(source.key, None)
            self._ask("load", source.key, source.data)
            self._loaded[source.key] = source.size
        outputs: list[Any] = self._ask("run", source.key, dict(feeds))
        return outputs

    def ready(self) -> None:
        """Start the child unless it runs, so that requests are timed without it.

        Raises:
            RuntimeFailure: it does not start.
        """
        if self._process is not None and self._process.owner != os.getpid():
            self._process = None  # after a fork, it answers the parent process
            self._loaded.clear()
        if self._process is None:
            self._process = _Process(self.runtime)
            self._exchange(self._process, None, max(self.timeout, _START_TIMEOUT))

    def forget(self, source: Source) -> None:
        """Free the memory that the child holds for a model."""
        if source.key in self._loaded:
            del self._loaded[source.key]
            self._ask("drop", source.key, None)

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._loaded.clear()

    def _ask(self, verb: str, key: int, argument: ModelData | dict[str, Any] | None) -> Any:
        self.ready()
        assert self._process is not None
        return self._exchange(self._process, (verb, key, argument), self.timeout)

    def _exchange(self, process: "_Process", request: Any, timeout: float) -> Any:
        """Send a request, unless it is None, and wait for the answer."""
        try:
            if request is not None:
                with contextlib.suppress(OSError):  # a broken pipe: the answer tells of the crash
                    send(process.requests, request)
            status, value = process.answers.get(timeout=min(timeout, threading.TIMEOUT_MAX))
        except queue.Empty:
            self.close()
            detail = f"no answer within {timeout:g} s; allow more with {by('--timeout')}"
            raise RuntimeFailure(self.runtime, "timed out", detail) from None
        except BaseException:  # Ctrl-C: half a request, or a late answer, must not be met again
            self.close()
            raise
        if status == "ok":
            return value
        if status == "crashed":
            value = process.cause_of_death()
            if value.startswith(_KILLED):
                status = "out of memory"
                value = f"{value}: the system ends processes that use too much memory"
            elif _WANT_OF_MEMORY.search(value):
                status, value = "out of memory", value + process.way_out()
            self.close()
        elif status == "out of memory":
            value += process.way_out()
            self.close()  # what it has taken by then it would keep
        raise RuntimeFailure(self.runtime, status, value)


class Workers:
    """Keeps one worker per runtime, so that many verifications share the cost of a start."""

    def __init__(self) -> None:
        self._workers: dict[RuntimeName, Worker] = {}

    def get(self, runtime: RuntimeName, timeout: float | None = None) -> Worker:
        """The worker of a runtime, with the time limit of its next requests."""
        worker = self._workers.setdefault(runtime, Worker(runtime))
        worker.timeout = DEFAULT_TIMEOUT if timeout is None else timeout
        return worker

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()


_PROGRAM = f"""import sys
sys.path[:] = [path for path in sys.path if path]  # Python 3.10 has no safe path
from {__package__}._child import main
main(*sys.argv[1:])
"""


class _Process:
    """A child, its two streams, and a thread that collects its answers."""

    def __init__(self, runtime: str) -> None:
        self.owner = os.getpid()
        self._most: int | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in kill()
        # The child finds this package where the parent did, and nothing in the current folder.
        paths = os.pathsep.join(p for p in sys.path if p)
        line = [] if sys.platform == "win32" else [lifeline().fileno()]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, runtime, *map(str, line)],
            pass_fds=line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
        )
        self.requests = cast(BinaryIO, self._process.stdin)
        self.answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
        stream = cast(BinaryIO, self._process.stdout)
        self._reader = threading.Thread(target=_collect, args=(stream, self.answers), daemon=True)
        self._reader.start()

    def hold(self, most: int) -> None:
        """Let it take so much memory and no more, where the system can."""
        if hold(self._process.pid, most):
            self._most = most

    def way_out(self) -> str:
        """Remedy where the limit is too low; empty without a limit."""
        if self._most is None:
            return ""
        return f"; its limit is {self._most >> 20} MB; raise it with {by('--max-memory')}"

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


def _collect(stream: BinaryIO, answers: queue.Queue[tuple[Any, Any]]) -> None:
    try:
        while True:
            answers.put(receive(stream))
    except EOFError:
        answers.put(("crashed", ""))
