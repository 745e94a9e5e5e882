"""Running something in a copy of this process, within limits."""

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEMORY = 4 << 30  # what a child may take beyond what it starts with


def in_fork(work: Callable[[], Any], seconds: float, scratch: Path) -> Any:
    """What `work` gives in a child, or None when it ran out of time or crashed.

    Processor time is limited, because time on the clock depends on what else the machine does. The
    child and what it started are gone when this returns, and `scratch` is empty.
    """
    answer = scratch.parent / f"{scratch.name}-answer"
    answer.unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _run(work, seconds, answer)
    ended = _wait(child, time.monotonic() + 30 + 10 * seconds)
    for left in scratch.iterdir():
        shutil.rmtree(left, ignore_errors=True)
    if answer.exists():
        return json.loads(answer.read_text())
    if ended:  # neither an answer nor a signal: the fault is in the tool
        raise RuntimeError(answer.with_suffix(".log").read_text())
    return None


def _run(work: Callable[[], Any], seconds: float, answer: Path) -> None:
    """The child: never returns."""
    try:
        os.setsid()
        log = os.open(answer.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        soft = int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 5))
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
        written = answer.with_suffix(".part")
        written.write_text(json.dumps(work()))
        written.rename(answer)
    except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as the parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _wait(child: int, until: float) -> bool:
    """Wait until the child is gone, and make sure of what it started; whether it left by itself."""
    status = (0, 0)
    while status == (0, 0) and time.monotonic() <= until:
        time.sleep(0.005)
        status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status == (0, 0):
        status = os.waitpid(child, 0)
    return os.WIFEXITED(status[1])
