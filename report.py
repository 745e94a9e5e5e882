"""What the command line shows: tables, progress, JSON."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .inspection import Inspection
    from .passes import Remark
    from .reference.verdict import Verdict
    from .rewriting import Rewritten

STYLES = {
    "rewritten": "green",
    "equal": "green",
    "kept": "yellow",
    "not verified": "yellow",
    "not deterministic": "yellow",
    "removed": "dim",
    "different": "bold red",
}
_MOST_ROWS = 40
_PLAIN_WIDTH = 120  # where the output goes to a file or a pipe


def console() -> Console:
    """The terminal, or a plain stream; paths and reasons are never read as markup."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PLAIN_WIDTH
    return Console(markup=False, highlight=False, width=width)


def show_error(message: str) -> None:
    """One line on stderr; the items of a list below it, a line each."""
    first, *items = message.strip().splitlines() or [""]
    print(f"error: {' '.join(first.split())}", file=sys.stderr)
    for item in items:
        print(f"  {' '.join(item.split())}", file=sys.stderr)


def show_warning(message: str) -> None:
    """One line on stderr."""
    print(f"warning: {' '.join(message.split())}", file=sys.stderr)


def show_json(found: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(found, indent=2, allow_nan=False))


@contextlib.contextmanager
def progress(what: str, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr while something long runs; nothing where that is no terminal.

    Args:
        what: shown until the work says something more precise.
        quiet: show nothing.

    Yields:
        a function to tell what is worked on, how much of it is done, and how much there is.
    """
    errors = Console(stderr=True, markup=False, highlight=False)
    if quiet or not errors.is_terminal:
        yield lambda text, done, total: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True) as shown:
        task = shown.add_task(what, total=None)

        def update(text: str, done: int, total: int) -> None:
            shown.update(task, description=text, completed=done, total=total)

        yield update


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose cells wrap; a cell that is a status has its colour."""
    found = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        last = number == len(columns) - 1
        found.add_column(column, overflow="fold", no_wrap=False, ratio=1 if last else None)
    for row in rows:
        found.add_row(*[Text(cell, STYLES.get(cell, "")) for cell in row])
    return found


def remarks_table(remarks: Sequence[Remark]) -> Table:
    """What was rewritten and what was kept; the same done many times is one row."""
    counted = Counter((r.op_type, r.path, r.action, r.reason) for r in remarks)
    rows: list[tuple[str, str, str, str]] = [
        (op, path, action, reason + (f" ({count} times)" if count > 1 else ""))
        for (op, path, action, reason), count in counted.items()
    ]
    more = len(rows) - _MOST_ROWS
    if more > 0:
        rows = [*rows[:_MOST_ROWS], ("...", f"{more} more", "", "all of them with --json")]
    return table(("Operator", "Where", "Outcome", "What, or why"), rows)


def inspection_table(found: Inspection) -> Table:
    """Every construct with what decides it and what a rewrite would do."""
    rows = [(c.op_type, c.path, c.decided_by, c.outcome, c.reason) for c in found.constructs]
    columns = ("Operator", "Where", "Decided by", "A rewrite", "What it does, or why it stays")
    return table(columns, rows)


def verdict_table(verdict: Verdict) -> Table:
    """Every output with its largest differences and the first place that differs."""
    rows = []
    for output in verdict.outputs:
        found = output.difference
        first = f"{found.kind} {found.first or ''}".strip() if output.status == "different" else ""
        numbers = (f"{found.max_abs:.3g}", f"{found.max_rel:.3g}", str(found.max_ulps))
        rows.append((output.name, output.status, *numbers, first))
    columns = ("Output", "Verdict", "Largest abs", "Largest rel", "ULPs", "First difference")
    return table(columns, rows)


def show_rewrite(
    rewritten: Rewritten, left: Sequence[Remark], verdict: Verdict | None, written: Path | None
) -> None:
    """What was rewritten, what is left, how the comparison went, and how long all of it took."""
    out, result = console(), rewritten.result
    done = [remark for remark in result.remarks if remark.action == "rewritten"]
    if done or left:
        out.print(remarks_table([*done[:_MOST_DONE], *left]))
    if len(done) > _MOST_DONE:
        out.print(f"and {len(done) - _MOST_DONE} more constructs rewritten (--json lists all)")
    nodes = f"{rewritten.nodes_before} nodes became {rewritten.nodes_after}"
    where = written or "nothing was written"
    out.print(f"{where}: {nodes}, rewritten in {rewritten.seconds:.2f} s", soft_wrap=True)
    if left:
        out.print(f"control flow left: {len(left)}", style="yellow")
    if verdict is not None:
        show_verdict(verdict)


_MOST_DONE = 40
"""So many rows of what was rewritten are shown; what is left is shown in full."""


def show_conversion(opsets: tuple[int, int], verdict: Verdict | None, written: str | None) -> None:
    """From where to where a model was converted, and how the comparison went."""
    where = written or "nothing was written"
    console().print(f"{where}: opset {opsets[0]} became {opsets[1]}", soft_wrap=True)
    if verdict is not None:
        show_verdict(verdict)


def show_verdict(verdict: Verdict) -> None:
    """The verdict in a line; what was found for each output where that matters."""
    out = console()
    if verdict.outputs and not verdict.equal:
        out.print(verdict_table(verdict))
    out.print(
        Text.assemble(
            (verdict.status, STYLES[verdict.status]),
            f": {verdict.reason} ({', '.join(verdict.runtimes) or 'nothing was run'},"
            f" verified in {verdict.seconds:.2f} s)",
        ),
        soft_wrap=True,
    )
    for other in verdict.disagreements:
        out.print(f"the runtimes disagree on the original: {other}", soft_wrap=True)
    for note in verdict.notes:
        out.print(f"note: {note}", style="dim", soft_wrap=True)


def show_inspection(found: Inspection) -> None:
    """The constructs, and whether a rewrite would leave any."""
    out = console()
    if not found.constructs:
        out.print("no control flow")
        return
    out.print(inspection_table(found))
    kept = sum(construct.outcome == "kept" for construct in found.constructs)
    left = f"{kept} of {len(found.constructs)} stay" if kept else "none stays"
    out.print(f"{left}; {found.nodes_before} nodes would become {found.nodes_after}")


def show_passes(found: Sequence[Mapping[str, Any]]) -> None:
    """Every pass with what it does and its options."""
    rows = []
    for item in found:
        options = "\n".join(f"{o['name']}={o['default']}" for o in item["options"])
        rows.append((item["name"], options, item["summary"]))
    out = console()
    out.print(table(("Pass", "Options", "What it does"), rows))
    default = ", ".join(item["name"] for item in found if item["default"])
    out.print(f"the default pipeline, straighten, repeats: {default}", soft_wrap=True)
