"""Command `diff`: the differences of two models, or of two batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import interrupts, parsing
from .exit_codes import finish
from .options import FORCE, JSON, MAX_INPUT_SIZE, REPORT, argument
from .pages import bytes_of_files, name_of, require_page, tell_page, viewers
from .parsing import Address
from .piping import read_model
from .report import show_result

if TYPE_CHECKING:
    from ..batch.changes import Change as BatchChange
    from ..batch.changes import Changes
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
        data = dataclasses.replace(data, viewers=viewers(before, after))
        write(page, data, read, force=force)
    differences = data.differences

    return _told((before, after), differences.to_dict, _blocks(differences), page, as_json)


def _told(
    places: tuple[Path, Path],
    content: Callable[[], dict[str, Any]],
    blocks: Iterator[Block],
    page: Path | None,
    as_json: bool,
) -> int:
    """Show differences, of which the page is written, and return the exit code."""

    def tell() -> None:
        names = dict(zip(("before", "after"), map(str, places), strict=True))
        show_result(lambda: names | content(), blocks, as_json)
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


def is_batch(place: Any) -> bool:
    """Test whether an argument can only be a batch: a folder, lines of JSON, or an address."""
    return isinstance(place, Address) or place.is_dir() or place.suffix == ".jsonl"


def diff_batches(before: Path, after: Path, page: Path | None, force: bool, as_json: bool) -> int:
    """Show the changes between two batches, and write them as a page or as CSV.

    Raises:
        BatchError: one holds no records.
        SaveError: the page cannot be written.
    """
    from ..batch.addresses import place_of
    from ..batch.changes import KEYS, Changes
    from ..batch.record_files import records_in
    from ..report.sheet import sheet_place

    interrupts.raise_from_now_on()
    places = place_of(before), place_of(after)
    read = [place for place in places if isinstance(place, Path) and place.is_file()]
    if page is not None:
        sheet_place(page, KEYS, read, force=force)
    changes = Changes.of(records_in(places[0]), records_in(places[1]))
    if page is not None:
        title = f"changes from {before} to {after}"
        changes.sheet(title).write(page, read, force=force)

    return _told((before, after), changes.to_dict, _batch_blocks(changes), page, as_json)


def _batch_blocks(changes: Changes) -> Iterator[Block]:
    """Yield the changes for people."""
    from ..display import Line, Table

    if changes.changes:
        columns = ("Model", "Change", "Status", "Outputs", "Left", "Nodes", "Time", "Why")
        yield Table(columns, [_row(change) for change in changes.changes])
    yield Line(", ".join(f"{name}: {text}" for name, text in changes.cards()))


def _row(change: BatchChange) -> list[str]:
    """Return the cells of a change; of what is the same, one value."""
    from ..batch.changes import COLUMNS
    from ..report.sheet import shown

    kinds = {column.key: column.kind for column in COLUMNS}
    cells = change.to_dict()
    texts = []
    for field in ("status", "outputs", "left", "nodes", "seconds"):
        old, new = (shown(cells[key], kinds[key]) for key in (f"{field}_old", f"{field}_new"))
        texts.append(new if old == new else f"{old or '-'} to {new or '-'}")
    return [change.name, change.change, *texts, cells["why"]]
