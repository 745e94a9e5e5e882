"""Output of the command line: tables, progress, JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ..display.blocks import Block, Code, Table
from ..display.progress import silent
from .parsing import STREAM
from .tables import STYLES, table
from .terminal import complain, console, shown

if TYPE_CHECKING:
    from ..display import OnProgress
    from ..driver.inspect import Inspection
    from ..driver.result import Outcome
    from ..verification.mismatch import MismatchError
    from ..verification.runs.verdict import Verdict

_TONES = {"": "", "left": "yellow", "note": "dim"}
Again = Callable[[Sequence[str]], str]
"""The command that is running with options added, to be pasted."""


def say(text: str, style: str = "") -> None:
    """Print a line on stdout, however long."""
    console().print(Text(shown(text), style), soft_wrap=True)


def show_error(message: str, *items: str) -> None:
    """Print a line on stderr, and below it the items of a list."""
    complain(f"error: {shown(message.strip())}")
    for item in items:
        complain(f"  {shown(item.strip())}")


def show_warning(message: str) -> None:
    """Print a line on stderr."""
    complain(f"warning: {shown(message.strip())}")


def show_json(document: Any) -> None:
    """Print one JSON document on stdout, in ASCII."""
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
    errors = Console(stderr=True, markup=False, highlight=False)
    if quiet or not errors.is_terminal:
        yield silent
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True) as bar:
        task = bar.add_task(shown(what), total=None)

        def update(stage: str, text: str, finished: int, total: int) -> None:
            description = shown(f"{stage}: {text}")
            bar.update(task, description=description, completed=finished, total=total or None)

        yield update


def show(blocks: Iterable[Block]) -> None:
    """Show the blocks of a result."""
    for block in blocks:
        if isinstance(block, Table):
            console().print(table(block.columns, block.rows))
        elif isinstance(block, Code):
            say(f"  {block.text}")
        elif block.status:
            line = Text.assemble((block.status, STYLES[block.status]), shown(block.text))
            console().print(line, soft_wrap=True)
        else:
            say(block.text, _TONES[block.tone])


@dataclasses.dataclass(frozen=True)
class Ended:
    """End of a command.

    Attributes:
        code: the exit code.
        failure: the message where that is not 0; the items of a list apart.
    """

    code: int = 0
    failure: Sequence[str] = ()

    def with_result(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return a result in types that JSON has, with the fields of errors."""
        return {**fields, "exit": self.code, "error": self.failure[0] if self.failure else None}


def show_outcome(
    outcome: Outcome,
    mismatch: MismatchError | None,
    place: Path | None,
    as_json: bool,
    again: Again = " ".join,
    ended: Ended = Ended(),
    *,
    brief: bool = True,
) -> None:
    """Show an outcome, with the error of its comparison; `brief` as for its blocks."""
    if as_json:
        fields = {
            "written": None if place is None else str(place),
            "culprit": mismatch.culprit if mismatch else None,
        }
        show_json(ended.with_result({**outcome.to_dict(), **fields}))
        return
    show(outcome.blocks(_where(place), lambda hint: again(hint.options), "--json", brief=brief))


def _where(path: Path | None) -> str:
    if path is None:
        return "nothing was written"
    return "standard output" if path == STREAM else str(path)


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


def show_verdict(verdict: Verdict, as_json: bool = False, code: int = 0) -> None:
    """Show a verdict, with each output where that matters."""
    if as_json:
        failure = [f"{verdict.status}: {verdict.reason}"] if code else []
        show_json(Ended(code, failure).with_result(verdict.to_dict()))
    else:
        show(verdict.blocks())


def show_inspection(
    inspection: Inspection,
    model: Path,
    as_json: bool,
    again: Again = " ".join,
    *,
    brief: bool = True,
) -> None:
    """Show the constructs, and whether a rewrite would leave any; `brief` as for its blocks."""
    if as_json:
        show_json(Ended().with_result({"model": str(model), **inspection.to_dict()}))
    else:
        show(inspection.blocks(lambda hint: again(hint.options), brief=brief))


def show_targets(targets: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Show each target with its opsets and the source of its list."""
    if as_json:
        show_json(targets)
        return
    rows = []
    for item in targets:
        first, last = item["opsets"]
        source = item["source"]
        opsets = f"{first} to {last}"
        operators = ", ".join(item["control_flow"]) or "none"
        about = [item["about"], f"{source['list']}, {source['version']}, {source['date']}"]
        rows.append((item["name"], opsets, operators, about))
    console().print(table(("Target", "Opsets", "Control flow", "What it is; its list"), rows))


def show_passes(passes: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Show each pass with its summary and options."""
    if as_json:
        show_json(passes)
        return
    rows = []
    for item in passes:
        options = [f"{o['name']}={o['default']}" for o in item["options"]]
        rows.append((item["name"], options, item["summary"]))
    console().print(table(("Pass", "Options", "What it does"), rows))
    default = ", ".join(item["name"] for item in passes if item["default"])
    say(f"the default pipeline, straighten, repeats: {default}")
