"""Sheet: a table of numbers and texts, as a page whose columns sort, and as CSV."""

import csv
import html
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Literal

from ..analysis.peak_memory import size_text
from ..display.blocks import MEANT
from ..display.plain import time_of, visible
from ..ir.io.files import replacing
from ..records import record
from .page import asset, policy_of
from .places import marked_place

MARK = "straightline summary"
_SCRIPTS = "theme.js", "sheet.js"
_FIRST = 'document.documentElement.classList.add("drawing");'
"""A script that spares the browser to lay out rows which the others take away again."""
_FORMULA = "=+-@\t\r"
"""The first characters by which a program of spreadsheets takes a text for a formula."""
_TONES = {"good": "good", "open": "warn", "bad": "bad", "dim": ""}

Value = str | int | float | None
"""Content of a cell; None is empty."""
Kind = Literal["text", "name", "status", "count", "bytes", "seconds", "microseconds"]


@record(frozen=True)
class Column:
    """A column.

    Attributes:
        key: its name in CSV and JSON.
        group: the title that it shares with its neighbours; "" for none.
    """

    key: str
    title: str
    kind: Kind = "text"
    group: str = ""

    @property
    def label(self) -> str:
        """Its full title."""
        return f"{self.group} {self.title}".strip()


@record(frozen=True)
class Sheet:
    """A table.

    Attributes:
        columns: its columns; the first one names a row.
        rows: a value for each column.
        totals: the sums, one for each column.
        cards: numbers at a glance, each with its name.
        tones: the tone of further statuses: "good", "open" or "bad".
        links: the address behind the name of each row; "" for none.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    totals: Sequence[Value] = ()
    cards: Sequence[tuple[str, str]] = ()
    tones: Sequence[tuple[str, str]] = ()
    links: Sequence[str] = ()

    def to_csv(self) -> str:
        """Return the rows as CSV, below the keys of the columns, without totals."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([column.key for column in self.columns])
        writer.writerows([[_csv_cell(value) for value in row] for row in self.rows])
        return stream.getvalue()

    def to_html(self) -> str:
        """Return the page. It loads nothing, and shows all without its script."""
        scripts = [asset(name) for name in _SCRIPTS]
        return Template(asset("sheet.html")).substitute(
            mark=MARK,
            policy=policy_of([_FIRST, *scripts]),
            first=_FIRST,
            title=_escaped(self.title),
            style=asset("page.css") + asset("sheet.css"),
            cards="\n".join(
                f'<div class="card"><div class="what">{_escaped(name)}</div>'
                f'<div class="number">{_escaped(text)}</div></div>'
                for name, text in self.cards
            ),
            head="\n".join(self._head()),
            rows="\n".join(map(self._row, self.rows, self.links or [""] * len(self.rows))),
            foot=self._row(self.totals) if self.totals else "",
            options="\n".join(
                f'<option value="{number}">{_escaped(column.label)}</option>'
                for number, column in enumerate(self.columns)
            ),
            scripts="\n".join(f"<script>{script}</script>" for script in scripts),
        )

    def _head(self) -> Iterator[str]:
        """Yield the lines of the head: shared titles, and a button in each column."""
        yield "<tr>"
        previous = ""
        for column in self.columns:
            if column.group and column.group != previous:
                span = sum(other.group == column.group for other in self.columns)
                yield f'<th colspan="{span}" scope="colgroup">{_escaped(column.group)}</th>'
            elif not column.group:
                yield "<td></td>"
            previous = column.group
        yield "</tr><tr>"
        for column in self.columns:
            numeric = "" if column.kind in _WORDS else ' class="number"'
            title = f"{_escaped(column.title)}</button></th>"
            label = f"sort by {_escaped(column.label)}"
            yield f'<th scope="col" aria-sort="none"{numeric}>'
            yield f'<button type="button" aria-label="{label}">{title}'
        yield "</tr>"

    def _row(self, row: Sequence[Value], link: str = "") -> str:
        cells = "".join(
            self._cell(column, value, link, first=not number)
            for number, (column, value) in enumerate(zip(self.columns, row, strict=True))
        )
        return f"<tr>{cells}</tr>"

    def _cell(self, column: Column, value: Value, link: str, *, first: bool) -> str:
        text = _escaped(shown(value, column.kind))
        if first and link:
            text = f'<a href="{_escaped(link)}">{text}</a>'
        label = f' data-label="{_escaped(column.label)}"'
        key = ""
        if column.kind == "status":
            tone = dict(self.tones).get(str(value), MEANT.get(str(value), ""))
            text = f'<span class="status {_TONES.get(tone, "")}">{text}</span>'
        elif column.kind not in _WORDS:
            key = f' class="number" data-sort="{"" if value is None else value}"'
        if value is None or value == "":
            key += " data-empty"
        return f'<th scope="row"{label}>{text}</th>' if first else f"<td{label}{key}>{text}</td>"

    def write(self, path: Path, others: Iterable[Path] = (), *, force: bool = False) -> None:
        """Write the page, or CSV where the name ends so, whole or not at all.

        Raises:
            SaveError: the file cannot be written, or another one would be lost.
        """
        text = self.to_csv() if is_csv(path) else self.to_html()
        place = sheet_place(path, [column.key for column in self.columns], others, force=force)
        with replacing(place) as (temporary,):
            temporary.write_text(text, encoding="utf-8")


_WORDS = ("text", "name", "status")


def is_csv(path: str | os.PathLike[str]) -> bool:
    """Test whether the name of a file asks for CSV."""
    return Path(path).suffix.lower() == ".csv"


def sheet_place(
    path: Path, keys: Sequence[str], others: Iterable[Path] = (), *, force: bool = False
) -> Path:
    """Choose the file of a sheet, without writing.

    Args:
        keys: the keys of the columns, by which CSV of an earlier sheet is known.
        others: files that must stay.
        force: overwrite also another file.

    Raises:
        SaveError: the path is no place for a file, is one of `others`, or has other content.
    """
    mark = ",".join(keys) if is_csv(path) else MARK
    return marked_place(path, others, mark, "summary", force)


def shown(value: Value, kind: Kind) -> str:
    """Return a value for people.

    >>> shown(1234567, "count"), shown(3 << 20, "bytes"), shown(1234.5, "microseconds")
    ('1,234,567', '3.0 MB', '1.2 ms')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if kind == "bytes":
        return size_text(int(value))
    if kind == "seconds":
        return time_of(value)
    if kind == "microseconds":
        return f"{value:.0f} µs" if value < 1000 else f"{value / 1000:.1f} ms"
    return f"{value:,}"


def _csv_cell(value: Value) -> Value:
    if isinstance(value, float):
        return round(value, 6)
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text[:1] and text[0] in _FORMULA else text


def _escaped(text: str) -> str:
    return html.escape(visible(text))
