"""What the tests of commands share: a model in a file, and what a refusal looks like."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from click.testing import Result
from output_schemas import assert_described
from straightline.cli.commands import app
from texts import HEADER
from typer.testing import CliRunner

COMMANDS = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}


def run_here(
    *arguments: Any, given: bytes = b"", environment: Mapping[str, str] | None = None
) -> Result:
    """Run a command in this process; what it prints under --json is held to its schema.

    Args:
        arguments: of the command.
        given: what standard input holds.
        environment: variables to set meanwhile.
    """
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, input=given, env=environment)
    if "--json" in words and words[0] in COMMANDS:
        assert_described(words, result.stdout)
    return result


def write(path: Path, text: str) -> Path:
    """A file with the model of a text."""
    onnx.save(onnx.parser.parse_model(HEADER + text), path)
    return path


def succeeded(result: Result) -> Result:
    """The result of a command, which must end with 0."""
    assert result.exit_code == 0, result.output
    return result


def assert_refused(result: Result, code: int, *words: str) -> None:
    """Check that a command ended with a code and one line that tells why."""
    assert result.exit_code == code, result.output
    lines = [one for one in result.stderr.splitlines() if not one.startswith("configuration ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    for word in words:
        assert word in result.stderr
