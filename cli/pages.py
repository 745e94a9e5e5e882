"""Report page of a command, and its picture."""

from __future__ import annotations

import dataclasses
import importlib.util
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .parsing import STREAM
from .report import CommandWith, say

if TYPE_CHECKING:
    from ..driver.result import Outcome
    from ..verification.mismatch import MismatchError


def require_page(page: Path | None, files: Iterable[Path], force: bool) -> None:
    """Check that a page can be written, before the long work.

    Raises:
        SaveError: it cannot.
    """
    if page is not None:
        from ..report import place_of

        place_of(page, files, force=force)


def write_page(
    page: Path | None,
    outcome: Outcome,
    mismatch: MismatchError | None,
    source: Path,
    target: Path | None,
    command_with: CommandWith,
) -> None:
    """Write the page of an outcome, where one is asked for; `command_with` spells its hints."""
    if page is None:
        return
    from ..report import of_outcome, write

    names = name_of(source, "standard input"), name_of(target, "standard output")
    stored = bytes_of_files(source), bytes_of_files(target)
    about: dict[str, Any] = {"mismatch": mismatch, "command_with": command_with}
    data = of_outcome(outcome, names=names, stored=stored, **about)
    write(page, dataclasses.replace(data, viewers=viewers(source, target)), force=True)


def viewers(*files: Path | None) -> tuple[str, ...]:
    """Return the commands that open both files in Netron, where it is installed."""
    there = [path for path in files if path is not None and path.is_file()]
    if len(there) < len(files) or importlib.util.find_spec("netron") is None:
        return ()
    return tuple(shlex.join(["netron", str(path)]) for path in there)


def name_of(path: Path | None, stream: str) -> str:
    """Return the name of a model: that of its file, or of the stream that it goes through."""
    return "not written" if path is None else stream if path == STREAM else path.name


def tell_page(page: Path | None, as_json: bool, what: str = "report") -> None:
    """Print the place of the page."""
    if page is not None and not as_json:
        say(f"{what}: {page}")


def bytes_of_files(path: Path | None) -> int | None:
    """Return the bytes of a model on disk; None where it is no file."""
    return path.stat().st_size if path is not None and path.is_file() else None
