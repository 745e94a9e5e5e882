"""Running a command on a model in a child process, under limits of memory and time."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

SECONDS = 20.0
PEAK_MB = 1536
_ADDRESSES = 6 << 30
_WAITS = 8
"""So many times longer a child may take on a busy machine than its processor time."""


@dataclass(frozen=True)
class ProcessEnd:
    """What became of a command: processor time, most memory, and what it said."""

    seconds: float
    peak_mb: float
    code: int
    last: str
    faults: tuple[str, ...]


def run(command: str, model: Path, folder: Path, seconds: float = SECONDS) -> ProcessEnd:
    """Run one command; what it writes goes into a folder, which must hold whole files after."""
    target = folder / "out.onnx"
    arguments = [sys.executable, "-m", "straightline", *arguments_of(command, model, target)]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(arguments, stdout=said, stderr=said, start_new_session=True)
        resource.prlimit(child.pid, resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        timer = threading.Timer(_WAITS * seconds, _end, [child.pid])
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    spent = usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss / 1024
    faults = tuple(_faults(child.returncode, text, spent >= int(seconds) - 1, peak, target))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ProcessEnd(spent, peak, child.returncode, lines[-1] if lines else "", faults)


def arguments_of(command: str, model: Path, target: Path) -> list[str]:
    if command == "inspect":
        return ["inspect", str(model)]
    if command == "convert":
        return ["convert", str(model), str(target), "--opset", "21", "--no-verify", "--force"]
    if command == "prove":
        return ["rewrite", str(model), str(target), "--prove", "--force"]
    return ["rewrite", str(model), str(target), "--no-verify", "--force"]


def _end(pid: int) -> None:
    os.killpg(pid, signal.SIGKILL)


def _faults(code: int, text: str, late: bool, peak: float, target: Path):
    if late:
        yield "hang"
    elif code < 0:
        yield "crash"
    if peak > PEAK_MB:
        yield "peak"
    if "Traceback (most recent call last)" in text:
        yield "traceback"
    if code == 70 or (code not in (0, 1, 3, 4, 5) and not late):
        yield f"exit {code}"
    if not re.search(r"\S", text) and code:
        yield "no word"
    if target.exists():
        # Not here: the memory of this process counts as that of its children.
        load = "import onnx, sys; onnx.load(sys.argv[1], load_external_data=False)"
        if subprocess.run(
            [sys.executable, "-c", load, str(target)], capture_output=True, check=False
        ).returncode:
            yield "half written"
