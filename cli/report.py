"""What the command line shows: tables, progress, JSON."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.text import Text

from .parsing import STREAM
from .tables import STYLES, table
from .terminal import complain, console, shown

if TYPE_CHECKING:
    from ..conversion import Converted
    from ..hints import Hint
    from ..inspection import Inspection
    from ..passes import Remark
    from ..reference.verdict import Verdict
    from ..rewriting import MismatchError, Rewritten

Again = Callable[[Sequence[str]], str]
"""The command that is running with options added, to be pasted."""

_MOST_DONE = 40
"""So many rows of what was rewritten are shown; what is left is shown in full."""
_MOST_NAMED = 3


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
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True) as bar:
        task = bar.add_task(shown(what), total=None)

        def update(text: str, done: int, total: int) -> None:
            bar.update(task, description=shown(text), completed=done, total=total)

        yield update


def remarks_table(done: Sequence[Remark], left: Sequence[Remark]) -> RenderableType:
    """What was rewritten, as far as there is room, and everything that is left."""
    rows = _counted(done)
    more = len(rows) - _MOST_DONE
    if more > 0:
        rows = [*rows[:_MOST_DONE], ("...", f"{more} more", "rewritten", "all of them with --json")]
    return table(("Operator", "Where", "Outcome", "What, or why"), [*rows, *_counted(left)])


def _counted(remarks: Sequence[Remark]) -> list[tuple[str, str, str, str]]:
    """A row for each remark; the same done many times is one."""
    counted = Counter((r.op_type, r.path, r.action, r.reason) for r in remarks)
    return [
        (op, path, action, reason + (f" ({count} times)" if count > 1 else ""))
        for (op, path, action, reason), count in counted.items()
    ]


def inspection_table(found: Inspection) -> RenderableType:
    """Every construct with what decides it and what a rewrite would do."""
    rows = [(c.op_type, c.path, c.decided_by, c.outcome, c.reason) for c in found.constructs]
    columns = ("Operator", "Where", "Decided by", "A rewrite", "What it does, or why it stays")
    return table(columns, rows)


def verdict_table(verdict: Verdict) -> RenderableType:
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
    rewritten: Rewritten,
    left: Sequence[Remark],
    found: Verdict | MismatchError | None,
    written: Path | None,
    as_json: bool,
    hints: Sequence[Hint] = (),
    again: Again = " ".join,
    opset: int | None = None,
) -> None:
    """What was rewritten, what is left, how the comparison went, and how long all of it took."""
    verdict, mismatch = _parts(found)
    if as_json:
        show_json(
            {
                **rewritten.to_dict(),
                "written": None if written is None else str(written),
                "left": [remark.to_dict() for remark in left],
                "hints": [hint.to_dict() for hint in hints],
                "verification": None if verdict is None else verdict.to_dict(),
                "culprit": mismatch.culprit if mismatch else None,
            }
        )
        return
    done = [remark for remark in rewritten.result.remarks if remark.action == "rewritten"]
    if done or left:
        console().print(remarks_table(done, left))
    nodes = f"{rewritten.nodes_before} nodes became {rewritten.nodes_after}"
    if opset is not None:
        nodes += f", in opset {opset}"
    say(f"{_where(written)}: {nodes}, rewritten in {rewritten.seconds:.2f} s")
    if left:
        say(f"control flow left: {len(left)}", "yellow")
    _show_hints(hints, again)
    for remark in rewritten.result.remarks:
        if remark.action == "noted":
            _note(f"{remark.op_type} '{remark.path}': {remark.reason}")
    if verdict is not None:
        show_verdict(verdict)


def _show_hints(hints: Sequence[Hint], again: Again) -> None:
    """Commands that were tried, to be pasted."""
    for hint in hints:
        own = f", with your own {_listed(hint.stand_ins)}" if hint.stand_ins else ""
        say(f"this decides {_listed(hint.decides)}{own}:", "yellow")
        say(f"  {again(hint.options)}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _note(text: str) -> None:
    say(f"note: {text}", "dim")


def show_conversion(
    converted: Converted,
    found: Verdict | MismatchError | None,
    written: Path | None,
    as_json: bool,
) -> None:
    """From where to where a model was converted, what was rewritten for it, and how the comparison
    went."""
    verdict, _ = _parts(found)
    if as_json:
        show_json(
            {
                **converted.to_dict(),
                "written": None if written is None else str(written),
                "verification": None if verdict is None else verdict.to_dict(),
            }
        )
        return
    if converted.remarks:
        console().print(remarks_table(converted.remarks, ()))
    before, after = converted.opset_before, converted.model.opset()
    say(f"{_where(written)}: opset {before} became {after}; {_changes(converted)}")
    if verdict is not None:
        show_verdict(verdict)


def _changes(converted: Converted) -> str:
    """How many nodes of which operators changed, and which came in addition."""
    told = converted.differences.to_dict()
    listed = {
        what: ", ".join(f"{operator} {count}" for operator, count in counts.items())
        for what, counts in told.items()
    }
    return (
        "; ".join(f"{what}: {text}" for what, text in listed.items() if text) or "no node changed"
    )


def _where(written: Path | None) -> str:
    if written is None:
        return "nothing was written"
    return "standard output" if written == STREAM else str(written)


def _parts(
    found: Verdict | MismatchError | None,
) -> tuple[Verdict | None, MismatchError | None]:
    """The verdict, and the error that it was raised with where the outputs differ."""
    from ..rewriting import MismatchError

    return (found.verdict, found) if isinstance(found, MismatchError) else (found, None)


def tell_verification(found: Verdict | MismatchError | None, written: Path | None = None) -> None:
    """On stderr: that the outputs differ, or that nothing was proved or compared."""
    verdict, mismatch = _parts(found)
    if mismatch is not None:
        show_error(*mismatch.lines())
    elif verdict is not None and not verdict.equal:
        if written is None:
            show_error(f"not verified: {verdict.reason}; nothing was written")
        else:
            show_warning(f"not verified: {verdict.reason}")


def show_verdict(verdict: Verdict, as_json: bool = False) -> None:
    """The verdict in a line; what was found for each output where that matters."""
    if as_json:
        show_json(verdict.to_dict())
        return
    if verdict.outputs and not verdict.equal:
        console().print(verdict_table(verdict))
    if verdict.proved:
        assert verdict.proof is not None
        detail = f": {verdict.proof.claim} ({_time(verdict.proof.seconds)})"
        _status("proved", detail)
    if verdict.runtimes or not verdict.proved:
        _status(verdict.status, _what_ran(verdict))
    for other in verdict.disagreements:
        say(f"the runtimes disagree on the original: {other}")
    for note in verdict.notes:
        _note(note)


def _what_ran(verdict: Verdict) -> str:
    """What running the models came to; why there is no proof, where one was tried."""
    ran = ", ".join(verdict.runtimes) or "nothing was run"
    ran += f", verified in {verdict.seconds:.2f} s"
    found = f": {verdict.reason}"
    if verdict.equal and all(output.status == "equal" for output in verdict.outputs):
        found = f" on {_count(len(verdict.samples), 'sample')}"
        if verdict.proof is not None and not verdict.proved:
            ran = f"open: {verdict.proof.reason}; {ran}"
    return f"{found} ({ran})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _status(status: str, detail: str) -> None:
    line = Text.assemble((status, STYLES[status]), shown(detail))
    console().print(line, soft_wrap=True)


def show_inspection(found: Inspection, model: Path, as_json: bool, again: Again = " ".join) -> None:
    """The constructs, and whether a rewrite would leave any."""
    if as_json:
        show_json({"model": str(model), **found.to_dict()})
        return
    if not found.constructs:
        say("no control flow")
        return
    console().print(inspection_table(found))
    kept = sum(construct.outcome == "kept" for construct in found.constructs)
    left = f"{kept} of {len(found.constructs)} stay" if kept else "none stays"
    say(f"{left}; {found.nodes_before} nodes would become {found.nodes_after}")
    _show_hints(found.hints, again)


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
