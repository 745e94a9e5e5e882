"""What the tests of commands share: a model in a file, and what a refusal looks like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
from click.testing import Result
from straightline.cli.commands import app
from texts import HEADER
from typer.testing import CliRunner


def run_here(
    *arguments: Any, given: bytes = b"", environment: Mapping[str, str] | None = None
) -> Result:
    """Run a command in this process.

    Args:
        arguments: of the command.
        given: what standard input holds.
        environment: variables to set meanwhile.
    """
    return CliRunner().invoke(app, [str(a) for a in arguments], input=given, env=environment)


def write(path: Path, text: str) -> Path:
    """A file with the model of a text."""
    onnx.save(onnx.parser.parse_model(HEADER + text), path)
    return path


def assert_refused(result: Result, code: int, *words: str) -> None:
    """Check that a command ended with a code and one line that tells why."""
    assert result.exit_code == code, result.output
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("error: ")
    for word in words:
        assert word in result.stderr
