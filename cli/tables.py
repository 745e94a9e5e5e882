"""Tables that wrap; where the terminal is narrow, each row is a few lines of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..display.blocks import MEANT, Cell
from .terminal import NARROW, console, shown

_COLOURS = {"good": "green", "open": "yellow", "dim": "dim", "bad": "bold red"}
STYLES = {status: _COLOURS[tone] for status, tone in MEANT.items()}


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> RenderableType:
    """Return a table whose cells wrap; a status has its colour, a list is several lines."""
    if console().width < NARROW:
        return Group(*_stacked(columns, rows))
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        last = number == len(columns) - 1
        grid.add_column(column, overflow="fold", no_wrap=False, ratio=1 if last else None)
    for row in rows:
        grid.add_row(*map(_cell, row))
    return grid


def _stacked(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[Text]:
    """Yield each row as lines: the name of a column, and its cell."""
    for row in rows:
        for column, content in zip(columns, row, strict=True):
            for part in content if isinstance(content, list) else [content]:
                if part:
                    yield Text.assemble((f"{column}: ", "bold"), _cell(part))
        yield Text()


def _cell(content: Cell) -> Text:
    if isinstance(content, list):
        return Text("\n").join(map(_cell, content))
    return Text(shown(content), STYLES.get(content, ""), overflow="fold")
