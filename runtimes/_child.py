"""The process that runs models: `python -m straightline.runtimes._child RUNTIME`.

Requests and answers are pickles over the standard streams, with a length before each, and the
contents of arrays behind them as they are: a large one is copied nowhere. A runtime that crashes
or hangs takes only this process with it.
"""

import os
import pickle
import queue
import signal
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from .lifeline import end_with_parent
from .memory_limit import require_light
from .session import ModelData, Session, Unsupported

_LENGTH = struct.Struct(">Q")


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message."""
    apart: list[pickle.PickleBuffer] = []
    payload = pickle.dumps(message, protocol=5, buffer_callback=apart.append)
    parts = [memoryview(payload), *(buffer.raw() for buffer in apart)]
    stream.write(_LENGTH.pack(len(parts)))
    for part in parts:
        stream.write(_LENGTH.pack(part.nbytes))
        stream.write(part)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; raises EOFError where the other end is gone."""
    payload, *apart = [_read(stream, _number(stream)) for _ in range(_number(stream))]
    return pickle.loads(payload, buffers=apart)


def _number(stream: BinaryIO) -> int:
    (number,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    return int(number)


def _read(stream: BinaryIO, length: int) -> bytearray:
    """Read bytes into writable memory that an array can use."""
    buffer = bytearray(length)
    rest = memoryview(buffer)
    while rest:
        count = stream.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        rest = rest[count:]
    return buffer


def open_reference() -> Callable[[ModelData], Session]:
    """The project's own evaluator."""
    import onnx

    from .. import ir
    from ..ir.io.external_data import fill
    from ..reference.interpreter.evaluator import Evaluator

    def load(model: ModelData) -> Session:
        folder = None if model.base_dir is None else Path(model.base_dir)
        if model.path is not None:
            file = ir.read_file(model.path)
            proto, folder = file.proto, file.base_dir
        else:
            proto = onnx.load_model_from_string(model.data or b"")
        fill(proto, folder)
        evaluator = Evaluator(proto)
        return lambda feeds: list(evaluator.run(dict(feeds)))

    return load


def open_onnxruntime() -> Callable[[ModelData], Session]:
    """onnxruntime on the CPU, its optimisers off so that they cannot mask a difference."""
    from .ort import load

    return load


_RUNTIMES: dict[str, Callable[[], Callable[[ModelData], Session]]] = {
    "onnxruntime": open_onnxruntime,
    "reference": open_reference,
}


class _Server:
    """Loads models once and runs them on request."""

    def __init__(self, load: Callable[[ModelData], Session]) -> None:
        self._load = load
        self._sessions: dict[int, Session] = {}

    def answer(self, request: tuple[str, int, Any]) -> tuple[str, Any]:
        verb, key, argument = request
        try:
            if verb == "load":
                self._sessions.pop(key, None)
                self._sessions[key] = self._load(argument)
                return "ok", None
            if verb == "drop":
                self._sessions.pop(key, None)
                return "ok", None
            outputs = self._sessions[key](argument)
            require_light(outputs)
            return "ok", outputs
        except Unsupported as error:
            return "unsupported", _line(error)
        except Exception as error:  # noqa: BLE001 - whatever a runtime raises is its answer
            if _is_want_of_memory(error):
                return "out of memory", _line(error)
            return "unsupported" if verb == "load" else "failed", _line(error)


def _is_want_of_memory(error: BaseException | None) -> bool:
    """Test for an error of memory, or one caused by it."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__
    return error is not None


def _line(error: Exception) -> str:
    """The error on one line, of bounded length."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 600 else text[:600] + "..."


def _read_requests(stream: BinaryIO, requests: queue.SimpleQueue[Any]) -> None:
    """Read ahead, so that the parent's death ends this process during a run."""
    try:
        while True:
            requests.put(receive(stream))
    except EOFError:
        os._exit(0)
    except MemoryError as error:  # what follows in the stream can no longer be told apart
        requests.put(error)


def main(name: str, line: str | None = None) -> None:
    """Serve one runtime until the parent closes the stream.

    Args:
        name: the runtime.
        line: the descriptor of the parent's lifeline, where there is one.
    """
    if line is not None:
        end_with_parent(int(line))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the runtime prints must not enter the stream of answers
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    reader = threading.Thread(target=_read_requests, args=(sys.stdin.buffer, requests), daemon=True)
    reader.start()
    try:
        server = _Server(_RUNTIMES[name]())
    except ImportError as error:
        send(answers, ("unsupported", f"{name} cannot be imported: {_line(error)}"))
        return
    send(answers, ("ok", None))
    while True:
        request = requests.get()
        if isinstance(request, MemoryError):
            send(answers, ("out of memory", "the inputs do not fit in memory"))
            return
        send(answers, server.answer(request))


if __name__ == "__main__":
    main(sys.argv[1])
