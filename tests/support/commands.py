"""What the tests of commands share: a model in a file, and what a refusal looks like."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
from click.testing import Result
from texts import HEADER


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
