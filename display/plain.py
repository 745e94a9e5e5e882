"""Blocks as plain text, without colours, and without anything that steers a terminal."""

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator

from .blocks import Block, Code, Line, Table

WIDTH = 120
_LEAST = 20  # columns that the text of the last column always has
_GAP = "  "
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control and format characters (those that turn the direction of text among them), lone
surrogates, and separators of lines."""


def visible(text: str) -> str:
    """Escape control characters and line breaks of a text."""
    return text if text.isascii() and text.isprintable() else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if unicodedata.category(char) in _UNSEEN:
        return char.encode("unicode_escape").decode("ascii")
    return char


def time_of(seconds: float) -> str:
    """A time, as people read it."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def as_text(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """Blocks as text; the last column of a table wraps at `width`."""
    return "\n".join(line for block in blocks for line in _lines(block, width))


def _lines(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Line):
        yield visible(f"{block.status}{block.text}")
    elif isinstance(block, Code):
        yield f"  {visible(block.text)}"
    else:
        yield from _table(block, width)


def _table(table: Table, width: int) -> Iterator[str]:
    head = [[name] for name in table.columns]
    cells = ([[cell] if isinstance(cell, str) else cell for cell in row] for row in table.rows)
    rows = [[list(map(visible, cell)) for cell in row] for row in cells]
    widths = [
        max(len(line) for cell in column for line in cell or [""])
        for column in zip(head, *rows, strict=True)
    ]
    before = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    widths[-1] = min(widths[-1], max(_LEAST, width - before))
    for row in (head, [["-" * width] for width in widths], *rows):
        yield from _row(row, widths)


def _row(cells: list[list[str]], widths: list[int]) -> Iterator[str]:
    """The lines of one row: those of its cells side by side."""
    last = [part for line in cells[-1] for part in textwrap.wrap(line, widths[-1]) or [""]]
    columns = [*cells[:-1], last]
    for number in range(max(1, *map(len, columns))):
        parts = [
            (column[number] if number < len(column) else "").ljust(width)
            for column, width in zip(columns, widths, strict=True)
        ]
        yield _GAP.join(parts).rstrip()
