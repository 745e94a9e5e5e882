"""Summary of a batch: a line for each model, totals, and what is left with the reasons."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..report.sheet import Column, Sheet, Value, shown
from .result import Record

_PAIRS: tuple[tuple[str, str, str], ...] = (
    ("nodes", "nodes", "count"),
    ("control_flow", "control flow", "count"),
    ("run_time", "predicted run", "microseconds"),
    ("size", "size", "bytes"),
)
"""The fields of a record with a number before and one after, their titles, and their kinds."""

_WHEN = "before", "after"


def _part(field: str, place: int, record: Record) -> Value:
    pair: tuple[Value, Value] | None = getattr(record, field)
    return None if pair is None else pair[place]


def why(record: Record) -> str:
    """Return residual control flow with its reasons, or the failure, as one text."""
    rest = [f"{one.get('op_type')} '{one.get('path')}': {one.get('brief')}" for one in record.left]
    notes = [text for text in record.messages if not text.startswith("control flow left: ")]
    return "; ".join([*notes, *rest])


_CELLS: tuple[tuple[Column, Callable[[Record], Value]], ...] = (
    (Column("name", "model", "name"), attrgetter("name")),
    *((Column(key, key, "status"), attrgetter(key)) for key in ("status", "problem", "outputs")),
    *(
        (Column(f"{field}_{when}", when, kind, title), partial(_part, field, place))  # type: ignore[arg-type]
        for field, title, kind in _PAIRS
        for place, when in enumerate(_WHEN)
    ),
    (Column("opset_after", "opset", "count"), partial(_part, "opset", 1)),
    (Column("seconds", "seconds", "seconds"), attrgetter("seconds")),
    (Column("left", "remaining control flow, with reasons"), why),
)
"""The columns, each with its value of a record."""
COLUMNS = tuple([column for column, _ in _CELLS])
KEYS = [column.key for column in COLUMNS]
TONES = (
    *(("written", "good"), ("skipped", "good"), ("failed", "bad")),
    *(("outputs differ", "bad"), ("fault", "bad"), ("bad input", "bad"), ("usage", "bad")),
    *(("worker died", "bad"), ("control flow left", "open"), ("not taken", "open")),
)


def summary(records: Sequence[Record], title: str, folder: Path = Path()) -> Sheet:
    """Return the summary of a batch.

    Args:
        records: the records, in the order of the rows.
        folder: the folder of the page, from which rows link to the reports of their models.
    """
    return Sheet(
        title,
        COLUMNS,
        [[value(record) for _, value in _CELLS] for record in records],
        _totals(records),
        _cards(records),
        TONES,
        [_address(record.report, folder) for record in records],
    )


def _address(report: str, folder: Path) -> str:
    """Return the relative address of a report; "" without one."""
    return quote(Path(os.path.relpath(report, folder)).as_posix()) if report else ""


def _totals(records: Sequence[Record]) -> list[Value]:
    """Return the sums, of numbers over models that have both."""
    sums: list[Value] = [counted_models(records)]
    for column, value in _CELLS[1:]:
        parts: list[Any] = [part for record in records if (part := value(record)) is not None]
        is_sum = column.key == "seconds" or bool(column.group)
        sums.append(sum(parts) if is_sum and parts else None)
    return sums


def counted_models(records: Sequence[Record]) -> str:
    """Return the number of models.

    >>> counted_models([])
    '0 models'
    """
    return f"{len(records)} model{'s' * (len(records) != 1)}"


def counted(records: Iterable[Record], of: Callable[[Record], str]) -> str:
    """Return how many records there are of each kind, the most frequent first."""
    counts = Counter(filter(None, map(of, records)))
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common()) or "none"


def _cards(records: Sequence[Record]) -> list[tuple[str, str]]:
    totals = dict(zip(KEYS, _totals(records), strict=True))
    kinds = {column.key: column.kind for column in COLUMNS}
    free = sum(record.control_flow is not None and not record.control_flow[1] for record in records)
    cards = [
        ("models", f"{len(records):,}"),
        ("status", counted(records, lambda record: record.status)),
        ("outputs", counted(records, lambda record: record.outputs)),
        ("without control flow", f"{free:,}"),
    ]
    for field, title, _ in _PAIRS:
        pair = [shown(totals[f"{field}_{when}"], kinds[f"{field}_after"]) for when in _WHEN]
        if any(pair):
            cards.append((title, " → ".join(pair)))
    return [*cards, ("seconds of work", shown(totals["seconds"], "seconds"))]
