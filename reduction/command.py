"""Test of a model by a command that is expected to fail on it."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

from ..ir import Error
from ..ir.option_names import by
from ..records import record
from ..runtimes.lifeline import start_tied
from .bounded_output import BoundedOutput

PLACE = "{}"
"""The part of a command that the path of a model replaces."""
_UNABLE = {126: "it cannot be executed", 127: "the command does not exist"}
"""Exit codes with which a shell ends that cannot run a command."""
_MATCH_SECONDS = 10
"""Time limit of a search for the pattern, which may take exponential time."""
_MOST_CHARACTERS = 500
"""Limit of a line of output in a message."""
_SEARCH = "import re, sys; sys.exit(not re.search(sys.argv[1], sys.stdin.buffer.read().decode()))"


class CommandError(Error):
    """A command does not fail on the model as it came, or never can."""


@record(frozen=True)
class Failure:
    """A failure of a command.

    Attributes:
        code: exit code, negative for a signal; None after the time limit.
        output: standard output and error of the command, without the middle of a long output.
    """

    code: int | None
    output: str

    def __str__(self) -> str:
        """Return the kind of the failure."""
        if self.code is None:
            return "the time limit"
        if self.code >= 0:
            return f"exit code {self.code}"
        names = {one.value: one.name for one in signal.Signals}
        return names.get(-self.code, f"signal {-self.code}")  # most real-time signals have no name


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
        CommandError: the pattern is not a regular expression.
    """

    def __init__(self, command: str, *, pattern: str | None = None, timeout: float = 60) -> None:
        self.command, self.timeout = command, timeout
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise CommandError(f"'{pattern}' is not a regular expression: {error}") from error
        self._pattern = pattern
        self.expected: Failure | None = None

    def expect(self, model: onnx.ModelProto) -> Failure:
        """Run the command on the first model, and remember its failure.

        Raises:
            CommandError: the shell cannot run the command, it succeeds, or its output does not
                match.
        """
        failure = self._run(model)
        if failure.code in _UNABLE:
            raise CommandError(
                f"the shell cannot run the command, {_UNABLE[failure.code]} (exit code"
                f" {failure.code}): {_last_line(failure)}; correct {by('--while')}"
            )
        if failure.code == 0:
            raise CommandError(
                f"the command succeeds on the model, so there is nothing to reduce:"
                f" {self.command}; it must exit with a code other than 0 while the fault is present"
            )
        if not self._matches(failure):
            raise CommandError(
                f"the output of the command does not match {by('--match')}; it ends with:"
                f" {_last_line(failure)}"
            )
        self.expected = failure
        return failure

    def __call__(self, model: onnx.ModelProto) -> bool:
        """Test whether the command fails on a model as on the first one."""
        assert self.expected is not None, "expect comes first"
        failure = self._run(model)
        return failure.code == self.expected.code and self._matches(failure)

    def _matches(self, failure: Failure) -> bool:
        """Test the output in a process, since nothing else can end a search.

        Raises:
            CommandError: the search takes too long.
        """
        if self._pattern is None:
            return True
        searching = [sys.executable, "-I", "-S", "-c", _SEARCH, self._pattern]
        try:
            search = subprocess.run(
                searching, input=failure.output.encode(), timeout=_MATCH_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise CommandError(
                f"the search for '{self._pattern}' in the output of the command takes more than"
                f" {_MATCH_SECONDS} s; write a simpler {by('--match')}"
            ) from error
        return search.returncode == 0

    def _run(self, model: onnx.ModelProto) -> Failure:
        with tempfile.TemporaryDirectory(prefix="straightline-") as folder:
            path = Path(folder, "model.onnx")
            path.write_bytes(model.SerializeToString())
            quoted = shlex.quote(str(path))
            has_place = PLACE in self.command
            line = self.command.replace(PLACE, quoted) if has_place else f"{self.command} {quoted}"
            _require_syntax(line)
            with BoundedOutput() as output:
                code = _exit_code(line, output, self.timeout)
            return Failure(code, output.text())


def _last_line(failure: Failure) -> str:
    return ([*failure.output.strip().splitlines()] or ["no output"])[-1][-_MOST_CHARACTERS:]


def _require_syntax(line: str) -> None:
    """Require that a shell can read a line.

    Raises:
        CommandError: it cannot. The exit code of a run would be one of the command's own.
    """
    if os.name == "posix":
        reading = ["/bin/sh", "-n", "-c", line]
        read = subprocess.run(reading, capture_output=True, text=True, check=False)
        if read.returncode:
            raise CommandError(
                f"the shell cannot read the command: {read.stderr.strip()}; correct {by('--while')}"
            )


def _exit_code(line: str, output: BoundedOutput, timeout: float) -> int | None:
    """Run a line of shell in its own process group; return its exit code."""
    process = start_tied(
        line, stdin=subprocess.DEVNULL, stdout=output.end, stderr=subprocess.STDOUT
    )
    output.release()
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # The command may have started processes of its own, which share its group.
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
