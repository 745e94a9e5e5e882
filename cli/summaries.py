"""Summaries of a batch: pages and tables of CSV beside the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..batch import Record
    from ..ir import SaveError


def require_summaries(
    paths: Sequence[Path] | None, out: Any, sources: Iterable[Path], *, force: bool
) -> None:
    """Check that summaries can be written, before the long work.

    Args:
        paths: their places.
        out: the folder of the results, which the work makes if need be.
        sources: files that must stay.
        force: overwrite also other files.

    Raises:
        SaveError: one cannot be written.
    """
    from ..batch.summary import KEYS
    from ..report.sheet import sheet_place

    for path in paths or ():
        if isinstance(out, Path) and path.absolute().parent == out.absolute() and not out.exists():
            continue
        sheet_place(path, KEYS, sources, force=force)


def write_summaries(
    paths: Sequence[Path] | None, records: Sequence[Record], out: str, sources: Iterable[Path]
) -> SaveError | None:
    """Write summaries; return the first error, so that the records are shown all the same."""
    from ..batch.summary import counted_models, summary
    from ..ir import SaveError

    lost = None
    for path in paths or ():
        try:
            summary(records, f"{counted_models(records)} in {out}").write(path, sources, force=True)
        except SaveError as error:
            lost = lost or error
    return lost
