"""What the command line shows: tables, progress, JSON."""

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
    """A line on stdout, however long."""
    console().print(Text(shown(text), style), soft_wrap=True)


def show_error(message: str, *items: str) -> None:
    """One line on stderr; the items of a list below it, a line each."""
    complain(f"error: {shown(message.strip())}")
    for item in items:
        complain(f"  {shown(item.strip())}")


def show_warning(message: str) -> None:
    """One line on stderr."""
    complain(f"warning: {shown(message.strip())}")


def show_json(found: Any) -> None:
    """One JSON document on stdout, in ASCII."""
    print(json.dumps(found, indent=2, allow_nan=False).replace("\x7f", "\\u007f"))


@contextlib.contextmanager
def progress(what: str, quiet: bool) -> Iterator[OnProgress]:
    """A progress bar on stderr while something long runs; nothing where that is no terminal.

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

        def update(stage: str, text: str, done: int, total: int) -> None:
            told = shown(f"{stage}: {text}")
            bar.update(task, description=told, completed=done, total=total or None)

        yield update


def show(blocks: Iterable[Block]) -> None:
    """What a result has to tell."""
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
    """How a command ends.

    Attributes:
        code: the exit code.
        failure: what is said of it where that is not 0; the items of a list apart.
    """

    code: int = 0
    failure: Sequence[str] = ()

    def with_result(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """A result as JSON tells it, with what errors tell as well."""
        return {**found, "exit": self.code, "error": self.failure[0] if self.failure else None}


def show_outcome(
    outcome: Outcome,
    mismatch: MismatchError | None,
    written: Path | None,
    as_json: bool,
    again: Again = " ".join,
    ended: Ended = Ended(),
) -> None:
    """What was made, what is left, how the comparison went, and how long all of it took."""
    if as_json:
        told = {
            "written": None if written is None else str(written),
            "culprit": mismatch.culprit if mismatch else None,
        }
        show_json(ended.with_result({**outcome.to_dict(), **told}))
        return
    show(outcome.blocks(_where(written), lambda hint: again(hint.options), "--json"))


def _where(written: Path | None) -> str:
    if written is None:
        return "nothing was written"
    return "standard output" if written == STREAM else str(written)


def failure_of(
    outcome: Outcome, mismatch: MismatchError | None, lacking: bool = False
) -> Sequence[str]:
    """Why a result was not written: a line, and the items of a list."""
    if lacking:
        return [f"{outcome.untaken_sum}; nothing was written"]
    if mismatch is not None:
        return mismatch.lines()
    if outcome.verdict is not None and not outcome.verdict.equal:
        return [f"not verified: {outcome.verdict.reason}; nothing was written"]
    places = "1 place" if len(outcome.left) == 1 else f"{len(outcome.left)} places"
    return [f"control flow is left in {places}; nothing was written"]


def show_verdict(verdict: Verdict, as_json: bool = False, code: int = 0) -> None:
    """The verdict in a line; what was found for each output where that matters."""
    if as_json:
        failure = [f"{verdict.status}: {verdict.reason}"] if code else []
        show_json(Ended(code, failure).with_result(verdict.to_dict()))
    else:
        show(verdict.blocks())


def show_inspection(found: Inspection, model: Path, as_json: bool, again: Again = " ".join) -> None:
    """The constructs, and whether a rewrite would leave any."""
    if as_json:
        show_json(Ended().with_result({"model": str(model), **found.to_dict()}))
    else:
        show(found.blocks(lambda hint: again(hint.options)))


def show_targets(found: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Every target with the opsets that it reads and where its list comes from."""
    if as_json:
        show_json(found)
        return
    rows = []
    for item in found:
        first, last = item["opsets"]
        source = item["source"]
        opsets = f"{first} to {last}"
        taken = ", ".join(item["control_flow"]) or "none"
        told = [item["about"], f"{source['list']}, {source['version']}, {source['date']}"]
        rows.append((item["name"], opsets, taken, told))
    console().print(table(("Target", "Opsets", "Control flow", "What it is; its list"), rows))


def show_passes(found: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Every pass with what it does and its options."""
    if as_json:
        show_json(found)
        return
    rows = []
    for item in found:
        options = [f"{o['name']}={o['default']}" for o in item["options"]]
        rows.append((item["name"], options, item["summary"]))
    console().print(table(("Pass", "Options", "What it does"), rows))
    default = ", ".join(item["name"] for item in found if item["default"])
    say(f"the default pipeline, straighten, repeats: {default}")
