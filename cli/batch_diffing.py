"""Differences of two batches: the models that changed, what got worse first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import interrupts
from .exit_codes import finish
from .pages import tell_page
from .parsing import Address
from .report import show_result

if TYPE_CHECKING:
    from ..batch.changes import Change, Changes
    from ..display import Block


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

    def tell() -> None:
        names = {"before": str(before), "after": str(after)}
        show_result(lambda: names | changes.to_dict(), _blocks(changes), as_json)
        tell_page(page, as_json)

    return finish(0, tell, product=True)


def _blocks(changes: Changes) -> Iterator[Block]:
    """Yield the changes for people."""
    from ..display import Line, Table

    if changes.changes:
        columns = ("Model", "Change", "Status", "Outputs", "Left", "Nodes", "Time", "Why")
        yield Table(columns, [_row(change) for change in changes.changes])
    yield Line(", ".join(f"{name}: {text}" for name, text in changes.cards()))


def _row(change: Change) -> list[str]:
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
