"""One client in a process of its own: for each job a child that loads a model, runs it and ends.

    python -m straightline.dev.benchmarks.clients.child ADAPTER SECONDS MEGABYTES

The client is imported once. A line of the standard input names the folder of a job, with the files
`model.onnx` and `feeds`; what comes out is left there as `outputs` or `failure`, and `stage` says
how far it got.
The answer is a line with how the child ended, as `os.waitstatus_to_exitcode` has it. The child of
an adapter with KEEPS_PROCESS does the next jobs, too, until one fails.
"""

import contextlib
import importlib
import json
import math
import os
import pickle
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any, TextIO

_WAITS = 6
"""So many times longer a job may take on a busy machine than its processor time."""
_DONE = 100
"""Code of a child that finds no further job."""


def main() -> None:
    adapter, seconds, megabytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a client prints is no answer
    client = importlib.import_module(adapter)
    print("ready", file=answers, flush=True)
    code = 0
    while code != _DONE:
        child = os.fork()
        if not child:
            keeps = getattr(client, "KEEPS_PROCESS", False)
            os._exit(_serve(client.load, answers if keeps else None, seconds, megabytes))
        code = _ended(child)
        if code != _DONE:
            print(code, file=answers, flush=True)


def _serve(load: Any, answers: TextIO | None, seconds: int, megabytes: int) -> int:
    """Do the next job within limits, and with `answers` those after it, up to one that fails."""
    line = sys.stdin.readline()
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while line:
        # Only a limit that the next job does not pass can be hard.
        limit = math.ceil(time.process_time()) + seconds
        hard = limit if answers is None else resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
        signal.setitimer(signal.ITIMER_REAL, _WAITS * seconds)  # ends it even inside foreign code
        code = _work(load, Path(line.rstrip("\n")))
        signal.setitimer(signal.ITIMER_REAL, 0)
        if code or answers is None:
            return code
        print(code, file=answers, flush=True)
        line = sys.stdin.readline()
    return _DONE


def _ended(child: int) -> int:
    """How a job ended; nothing that it started outlives it."""
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):  # nothing is left of it
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


def _work(load: Any, folder: Path) -> int:
    stage = folder / "stage"
    with open(folder / "said", "wb") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    try:
        stage.write_text("load")
        run = load((folder / "model.onnx").read_bytes())
        stage.write_text("run")
        feeds = pickle.loads((folder / "feeds").read_bytes())
        (folder / "outputs").write_bytes(pickle.dumps(list(run(feeds))))
    except BaseException as error:  # noqa: BLE001 - whatever a client raises is its result
        told = {"error": type(error).__name__, "message": str(error)}
        (folder / "failure").write_text(json.dumps(told), encoding="utf-8")
        return 1
    return 0


if __name__ == "__main__":
    main()
