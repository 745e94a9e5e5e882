"""The command `diff`: what two models differ in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import interrupts
from .exit_codes import finish
from .options import Force, Json, MaxInputSize
from .pages import Page, bytes_of_files, name_of, require_page, tell_page
from .parsing import model_path
from .piping import read_model
from .report import Ended, show, show_json

if TYPE_CHECKING:
    from ..display import Block
    from ..report import Change, Differences

_MOST_OPERATORS = 20


def diff(
    before: Annotated[
        Path, typer.Argument(metavar="A", parser=model_path, help="A model; '-' is standard input.")
    ],
    after: Annotated[
        Path, typer.Argument(metavar="B", parser=model_path, help="Another; '-' likewise.")
    ],
    *,
    page: Page = None,
    force: Force = False,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
) -> int:
    """Show what two models differ in: operators, control flow, opsets, sizes, inputs, outputs.

    Whether they compute the same is the question of the command verify.
    """
    from ..report import gather, write

    interrupts.raise_from_now_on()
    models = [read_model(path, max_input_size) for path in (before, after)]
    read = [before, after, *(file for model in models for file in model.data_files)]
    require_page(page, read, force)
    found = gather(
        *models,
        names=(name_of(before, "standard input"), name_of(after, "standard input")),
        stored=(bytes_of_files(before), bytes_of_files(after)),
    )
    if page is not None:
        write(page, found, read, force=force)
    differences = found.differences

    def tell() -> None:
        if as_json:
            told = {"before": str(before), "after": str(after), **differences.to_dict()}
            show_json(Ended().with_result(told))
        else:
            show(_blocks(differences))
        tell_page(page, as_json)

    return finish(0, tell, product=True)


def _blocks(found: Differences) -> Iterator[Block]:
    """The differences for people: only what differs, but for the sizes."""
    from ..display import Line, Table

    if found.none:
        yield Line("no difference in operators, sizes, versions, inputs and outputs")
        return
    yield Table(("", "A", "B"), _rows([*found.sizes, *found.versions]))
    operators = found.changed_operators
    if operators:
        rows = _rows(operators[:_MOST_OPERATORS])
        more = len(operators) - _MOST_OPERATORS
        if more > 0:
            rows.append((f"{more} more", "", "all are in --json"))
        yield Table(("Operator", "A", "B"), rows)
    for what, changed in (("Input", found.inputs), ("Output", found.outputs)):
        if changed:
            yield Table((what, "A", "B"), _rows(changed))
    left = [row for row in found.control_flow if row.after != "0"]
    gone = [row for row in found.control_flow if row.after == "0"]
    yield Line(_control_flow(left, gone))


def _rows(changes: Sequence[Change]) -> list[tuple[str, str, str]]:
    return [(row.name, row.before or "-", row.after or "-") for row in changes]


def _control_flow(left: Sequence[Change], gone: Sequence[Change]) -> str:
    if not left:
        return "control flow: none is left in B" if gone else "control flow: none"
    told = ", ".join(f"{row.before} {row.name} in A, {row.after} in B" for row in left)
    return f"control flow: {told}"
