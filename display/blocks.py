"""Blocks: the content of a result, independent of its rendering."""

from collections.abc import Sequence
from typing import Literal

from ..records import record

Tone = Literal["", "left", "note"]
"""Tone of a line: plain, work that remains, or a remark beside the point."""

Cell = str | list[str]
"""Text, or several lines of it."""

MEANT: dict[str, str] = {
    "rewritten": "good",
    "proved": "good",
    "accepted": "good",
    "equal": "good",
    "kept": "open",
    "open": "open",
    "not verified": "open",
    "not deterministic": "open",
    "removed": "dim",
    "different": "bad",
    "contradictory": "bad",
    "refuted": "bad",
}
"""Quality of a status that stands alone, in a cell or before a line."""


@record(frozen=True)
class Line:
    """A line of text, perhaps with a status before it."""

    text: str
    tone: Tone = ""
    status: str = ""


@record(frozen=True)
class Code:
    """Something to be pasted."""

    text: str


@record(frozen=True)
class Table:
    """Rows below the names of their columns; what is long stands in the last one."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


Block = Line | Code | Table
