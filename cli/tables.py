"""Output by rich: colours, and tables, where a row is a few lines if the terminal is narrow."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..display.blocks import MEANT, Cell
from .terminal import shown

NARROW = 60
"""Below so many columns nothing stands side by side."""
_PLAIN_WIDTH = 120  # where the output goes to a file or a pipe
_READABLE = 24
"""Columns of the terminal that a column of longer text has at least."""
_BETWEEN = 3
"""Columns of the terminal between two columns."""
_INDENT = 2
_COLOURS = {"good": "green", "open": "yellow", "dim": "dim", "bad": "bold red"}
_STYLES = {status: _COLOURS[tone] for status, tone in MEANT.items()}


class _Console(Console):
    """A console that tells of a closed pipe, where rich would end the process."""

    def on_broken_pipe(self) -> NoReturn:
        raise  # noqa: PLE0704 - called where it is handled


def console() -> Console:
    """Return the terminal, or a plain stream, which reads no markup."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PLAIN_WIDTH
    return _Console(markup=False, emoji=False, highlight=False, width=width)


def line(text: str, style: str = "", status: str = "") -> Text:
    """Return a line in a style, after a status in its colour."""
    return Text.assemble((status, _STYLES.get(status, "")), (shown(text), style))


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> RenderableType:
    """Return a table whose cells wrap; a status has its colour, a list is several lines.

    Where a column would be too narrow to read, each row is a few lines of its own.
    """
    rows = list(rows)
    # By number, as zip(*rows) would have no columns where there are no rows.
    cells = [[row[number] for row in rows] for number in range(len(columns))]
    naturals = [_natural_width(parts) for parts in cells]
    words = [max(map(cell_len, column.split()), default=0) for column in columns]
    widths = [max(word, min(n, _READABLE)) for word, n in zip(words, naturals, strict=True)]
    spare = console().width - sum(widths) - _BETWEEN * len(columns) + 1
    if spare < 0:
        return Group(*_stacked(columns, rows))
    lacking = [
        max(natural, cell_len(column)) - width
        for column, natural, width in zip(columns, naturals, widths, strict=True)
    ]
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column, width, lack in zip(columns, widths, lacking, strict=True):
        share = min(lack, spare * lack // max(1, sum(lacking)))
        grid.add_column(column, overflow="fold", no_wrap=False, width=width + share)
    for row in rows:
        grid.add_row(*map(_cell, row))
    return grid


def _natural_width(cells: Sequence[Cell]) -> int:
    """Return the columns of the terminal that cells take if nothing wraps."""
    parts = [part for cell in cells for part in (cell if isinstance(cell, list) else [cell])]
    return max((cell_len(shown(part)) for part in parts), default=0)


def _stacked(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[RenderableType]:
    """Yield each row as lines: the name of a column, and its cell; the first one stands out."""
    for row in rows:
        indent = 0
        for column, content in zip(columns, row, strict=True):
            parts = [part for part in (content if isinstance(content, list) else [content]) if part]
            for number, part in enumerate(parts):
                label = "" if number or not column else f"{column}: "
                line = Text.assemble((label, "bold"), _cell(part), overflow="fold")
                yield Padding(line, (0, 0, 0, indent + (_INDENT if number else 0)), expand=False)
            indent = _INDENT
        yield Text()


def _cell(content: Cell) -> Text:
    if isinstance(content, list):
        return Text("\n").join(map(_cell, content))
    return Text(shown(content), _STYLES.get(content, ""), overflow="fold")
