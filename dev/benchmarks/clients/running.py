"""Jobs for one client: a model with its inputs, and what the child process made of them."""

import dataclasses
import json
import pickle
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .client import Arrays, Client

SECONDS, MEGABYTES = 30, 12_000
_LATE = {-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL}
"""How a job ends that took too long: the hard limit of processor time kills."""


class ChildError(Exception):
    """The process of a client ended, or could not begin."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a client made of a model.

    Attributes:
        outputs: what it gave; None where it gave nothing.
        stage: "load" or "run", how far it got.
        late: whether it was stopped.
        reason: the error, or the signal that ended it.
    """

    outputs: Sequence[Any] | None
    stage: str = "run"
    late: bool = False
    reason: str = ""


class Worker:
    """The process of one client, for any number of jobs; to be used in a `with` statement."""

    def __init__(self, client: Client, seconds: int = SECONDS, megabytes: int = MEGABYTES) -> None:
        self._limits = (str(seconds), str(megabytes))
        self._client = client

    def __enter__(self) -> "Worker":
        """Start it, and wait until the client is imported.

        Raises:
            ChildError: the client cannot be imported.
        """
        self._said = tempfile.TemporaryFile()
        module = f"{__package__}.child"
        command = [self._client.python, "-m", module, self._client.adapter, *self._limits]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True
        )
        try:
            self._answer()
        except ChildError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()  # after which it ends by itself
        self._process.wait()
        self._process.stdout.close()
        self._said.close()

    def run(self, model: bytes, feeds: Arrays) -> Answer:
        """Load a model and run it once."""
        assert self._process.stdin
        with tempfile.TemporaryDirectory(prefix="client-") as name:
            folder = Path(name)
            (folder / "model.onnx").write_bytes(model)
            (folder / "feeds").write_bytes(pickle.dumps(dict(feeds)))
            print(folder, file=self._process.stdin, flush=True)
            return _read(folder, int(self._answer()))

    def _answer(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if line:
            return line.strip()
        self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        raise ChildError(
            f"{self._client.adapter}: {said[-1] if said else 'it ended without a word'}"
        )


def _read(folder: Path, code: int) -> Answer:
    stage = (folder / "stage").read_text() if (folder / "stage").exists() else "load"
    if code == 0:
        return Answer(pickle.loads((folder / "outputs").read_bytes()))
    if code in _LATE:
        return Answer(None, stage, late=True, reason="it took too long")
    if code < 0:
        said = _last_line((folder / "said").read_text(errors="replace"))
        return Answer(None, stage, reason=f"crash ({signal.Signals(-code).name}) {said}".strip())
    told = json.loads((folder / "failure").read_text(encoding="utf-8"))
    return Answer(None, stage, reason=f"{told['error']}: {told['message']}")


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
