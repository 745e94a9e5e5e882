"""Tables of the documentation as CSV files in docs/data; docs/tables.md introduces each."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

DATA = Path(__file__).parents[2] / "docs" / "data"


def as_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def write(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write docs/data/NAME.csv."""
    (DATA / f"{name}.csv").write_text(as_csv(head, rows), encoding="utf-8")


def read(name: str) -> list[list[str]]:
    """Return the rows of docs/data/NAME.csv below its head."""
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]
