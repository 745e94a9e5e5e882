"""Test of a model by a command that is expected to fail on it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

import onnx

from ..ir import Error
from ..ir.option_names import by

PLACE = "{}"
"""The part of a command that the path of a model replaces."""


class CommandError(Error):
    """A command does not fail on the model as it came, or never can."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """A failure of a command.

    Attributes:
        code: exit code, negative for a signal; None after the time limit.
        output: standard output and error of the command.
    """

    code: int | None
    output: str

    def __str__(self) -> str:
        """Return the kind of the failure."""
        if self.code is None:
            return "the time limit"
        if self.code < 0:
            return signal.Signals(-self.code).name
        return f"exit code {self.code}"


class FailingCommand:
    """A shell command that fails on a model, as a test of smaller ones.

    A smaller model fails alike if the exit code is the same (or the signal, or the time limit) and
    the output matches the pattern.

    Args:
        command: the command; the path of a model replaces each `{}`, or follows at the end.
        pattern: regular expression that the output must contain.
        timeout: time limit of a run in seconds; a run that exceeds it fails.

    Attributes:
        expected: the failure on the first model; None before `expect`.

    Raises:
        CommandError: the pattern is no regular expression.
    """

    def __init__(self, command: str, *, pattern: str | None = None, timeout: float = 60) -> None:
        self.command, self.timeout = command, timeout
        try:
            self._pattern = None if pattern is None else re.compile(pattern)
        except re.error as error:
            raise CommandError(f"'{pattern}' is no regular expression: {error}") from error
        self.expected: Failure | None = None

    def expect(self, model: onnx.ModelProto) -> Failure:
        """Run the command on the first model, and remember its failure.

        Raises:
            CommandError: the command succeeds, or its output does not match.
        """
        failure = self._run(model)
        if failure.code == 0:
            raise CommandError(
                f"the command succeeds on the model, so there is nothing to reduce:"
                f" {self.command}; it must exit with another code than 0 while the fault is there"
            )
        if not self._matches(failure):
            last = failure.output.strip().splitlines()[-1:] or ["no output"]
            raise CommandError(
                f"the output of the command does not match {by('--match')}; it ends with: {last[0]}"
            )
        self.expected = failure
        return failure

    def __call__(self, model: onnx.ModelProto) -> bool:
        """Test whether the command fails on a model as on the first one."""
        assert self.expected is not None, "expect comes first"
        failure = self._run(model)
        return failure.code == self.expected.code and self._matches(failure)

    def _matches(self, failure: Failure) -> bool:
        return self._pattern is None or self._pattern.search(failure.output) is not None

    def _run(self, model: onnx.ModelProto) -> Failure:
        with tempfile.TemporaryDirectory(prefix="straightline-") as folder:
            path = Path(folder, "model.onnx")
            path.write_bytes(model.SerializeToString())
            quoted = shlex.quote(str(path))
            has_place = PLACE in self.command
            line = self.command.replace(PLACE, quoted) if has_place else f"{self.command} {quoted}"
            with Path(folder, "output").open("w+b") as output:
                code = _exit_code(line, output.fileno(), self.timeout)
                output.seek(0)
                return Failure(code, output.read().decode(errors="replace"))


def _exit_code(line: str, output: int, timeout: float) -> int | None:
    """Run a line of shell in its own process group; return its exit code."""
    process = subprocess.Popen(
        line,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
