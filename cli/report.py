"""Output of the command line: tables, progress, JSON."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..display.blocks import Block, Code, Table
from ..display.progress import silent
from .parsing import STREAM
from .terminal import complain, is_terminal, shown

if TYPE_CHECKING:
    from ..display import OnProgress
    from ..driver.result import Outcome
    from ..verification.mismatch import MismatchError

_TONES = {"": "", "left": "yellow", "note": "dim"}
_MOST_CHARACTERS = 4000
"""Limit of a line on stderr."""
CommandWith = Callable[[Sequence[str]], str]
"""The command that is running with options added, to be pasted."""


def say(text: str, style: str = "", status: str = "") -> None:
    """Print a line on stdout, however long, after a status in its colour."""
    if (style or status) and is_terminal(sys.stdout):
        from .tables import console, line

        console().print(line(text, style, status), soft_wrap=True)
    else:
        print(f"{status}{shown(text)}")


def show_error(message: str, *items: str) -> None:
    """Print a line on stderr, and below it the items of a list."""
    complain(f"error: {shown(bounded(message.strip()))}")
    for item in items:
        complain(f"  {shown(bounded(item.strip()))}")


def show_warning(message: str) -> None:
    """Print a line on stderr."""
    complain(f"warning: {shown(bounded(message.strip()))}")


def bounded(message: str) -> str:
    """Return a message without the middle of what is too long to read."""
    if len(message) <= _MOST_CHARACTERS:
        return message
    begin, end = message[: _MOST_CHARACTERS // 2], message[-_MOST_CHARACTERS // 2 :]
    left_out = len(message) - _MOST_CHARACTERS
    return f"{begin} ... ({left_out} characters) ... {end}"


def show_json(document: Any) -> None:
    """Print one JSON document on stdout, in ASCII."""
    # json escapes all control characters but DEL.
    print(json.dumps(document, indent=2, allow_nan=False).replace("\x7f", "\\u007f"))


@contextlib.contextmanager
def progress(what: str, quiet: bool) -> Iterator[OnProgress]:
    """Show a progress bar on stderr during long work, where that is a terminal.

    Args:
        what: shown until the work says something more precise.
        quiet: show nothing.

    Yields:
        a function to tell what is worked on; see `straightline.display.OnProgress`.
    """
    if quiet or not is_terminal(sys.stderr):
        yield silent
        return
    from rich import progress as rich
    from rich.console import Console

    errors = Console(stderr=True, markup=False, highlight=False)
    columns = (rich.SpinnerColumn(), rich.TextColumn("{task.description}", markup=False))
    times = (rich.TimeElapsedColumn(), rich.TimeRemainingColumn(compact=True))
    bar = rich.Progress(*columns, rich.BarColumn(), *times, console=errors, transient=True)
    with bar:
        task = bar.add_task(shown(what), total=None)

        def update(stage: str, text: str, finished: int, total: int) -> None:
            description = shown(f"{stage}: {text}")
            # A change of the total makes rich forget the pace of the stage before.
            bar.update(task, description=description, completed=finished, total=total or None)

        yield update


def show(blocks: Iterable[Block]) -> None:
    """Show the blocks of a result."""
    for block in blocks:
        if isinstance(block, Table):
            from .tables import console, table

            console().print(table(block.columns, block.rows))
        elif isinstance(block, Code):
            say(f"  {block.text}")
        else:
            say(block.text, "" if block.status else _TONES[block.tone], block.status)


def show_result(
    fields: Callable[[], Mapping[str, Any]],
    blocks: Iterable[Block],
    as_json: bool,
    code: int = 0,
    failure: Sequence[str] = (),
) -> None:
    """Show the blocks of a result, or its fields and its end as JSON.

    Args:
        fields: returns the result in types that JSON has.
        blocks: the same for people.
        as_json: show the fields.
        failure: the message of an exit code other than 0; the items of a list apart.
    """
    if as_json:
        show_json({**fields(), "exit": code, "error": failure[0] if failure else None})
    else:
        show(blocks)


def show_outcome(
    outcome: Outcome,
    mismatch: MismatchError | None,
    place: Path | None,
    as_json: bool,
    command_with: CommandWith = " ".join,
    code: int = 0,
    failure: Sequence[str] = (),
    *,
    brief: bool = True,
    config: Mapping[str, Any] | None = None,
) -> None:
    """Show an outcome, with the error of its comparison; `brief` as for its blocks."""

    def fields() -> dict[str, Any]:
        file = None if place is None else str(place)
        culprit = mismatch.culprit if mismatch else None
        return {**outcome.to_dict(), "written": file, "culprit": culprit, "config": config}

    where = "standard output" if place == STREAM else str(place or "nothing was written")
    blocks = outcome.blocks(where, lambda hint: command_with(hint.options), "--json", brief=brief)
    show_result(fields, blocks, as_json, code, failure)


def failure_of(
    outcome: Outcome, mismatch: MismatchError | None, lacking: bool = False
) -> Sequence[str]:
    """Return why a result was not written: a line, and the items of a list."""
    if lacking:
        return [f"{outcome.untaken_sum}; nothing was written"]
    if mismatch is not None:
        return mismatch.lines()
    if outcome.verdict is not None and not outcome.verdict.equal:
        return [f"not verified: {outcome.verdict.reason}; nothing was written"]
    places = "1 place" if len(outcome.left) == 1 else f"{len(outcome.left)} places"
    return [f"control flow is left in {places}; nothing was written"]
