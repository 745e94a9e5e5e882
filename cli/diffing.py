"""Command `diff`: the differences of two models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import interrupts, parsing
from .batch_diffing import diff_batches, is_batch
from .exit_codes import finish
from .options import FORCE, JSON, MAX_INPUT_SIZE, REPORT, argument
from .pages import bytes_of_files, name_of, require_page, tell_page
from .piping import read_model
from .report import show_result

if TYPE_CHECKING:
    from ..display import Block
    from ..report import Change, Differences

_MOST_OPERATORS = 20


def diff(
    before: Path = argument(
        "A", "A model, or the folder of a batch; '-' is standard input.", parser=parsing.place
    ),
    after: Path = argument(
        "B", "Another model or batch; '-' is standard input.", parser=parsing.place
    ),
    *,
    page: Path | None = REPORT,
    force: bool = FORCE,
    max_input_size: int | None = MAX_INPUT_SIZE,
    as_json: bool = JSON,
) -> int:
    """Show the differences of two models: operators, control flow, opsets, sizes, inputs, outputs.

    The command verify decides whether they compute the same. Of two batches, folders of results or
    lines of --json, it shows the models that changed, what got worse first.
    """
    if is_batch(before) or is_batch(after):
        return diff_batches(before, after, page, force, as_json)
    from ..report import gather, write

    interrupts.raise_from_now_on()
    models = [read_model(path, max_input_size) for path in (before, after)]
    read = [before, after, *(file for model in models for file in model.data_files)]
    require_page(page, read, force)
    data = gather(
        *models,
        names=(name_of(before, "standard input"), name_of(after, "standard input")),
        stored=(bytes_of_files(before), bytes_of_files(after)),
    )
    if page is not None:
        write(page, data, read, force=force)
    differences = data.differences

    def tell() -> None:
        names = {"before": str(before), "after": str(after)}
        show_result(lambda: names | differences.to_dict(), _blocks(differences), as_json)
        tell_page(page, as_json)

    return finish(0, tell, product=True)


def _blocks(differences: Differences) -> Iterator[Block]:
    """Yield the differences for people: only what differs, and the sizes."""
    from ..display import Line, Table

    if differences.none:
        yield Line("no difference in operators, sizes, versions, inputs and outputs")
        return
    yield Table(("", "A", "B"), _rows([*differences.sizes, *differences.versions]))
    operators = differences.changed_operators
    if operators:
        rows = _rows(operators[:_MOST_OPERATORS])
        more = len(operators) - _MOST_OPERATORS
        if more > 0:
            rows.append((f"{more} more", "", "all are in --json"))
        yield Table(("Operator", "A", "B"), rows)
    for what, changed in (("Input", differences.inputs), ("Output", differences.outputs)):
        if changed:
            yield Table((what, "A", "B"), _rows(changed))
    remaining = [row for row in differences.control_flow if row.after != "0"]
    removed = [row for row in differences.control_flow if row.after == "0"]
    counts = [f"{row.before} {row.name} in A, {row.after} in B" for row in remaining]
    none = "none is left in B" if removed else "none"
    yield Line(f"control flow: {', '.join(counts) or none}")


def _rows(changes: Sequence[Change]) -> list[tuple[str, str, str]]:
    return [(row.name, row.before or "-", row.after or "-") for row in changes]
