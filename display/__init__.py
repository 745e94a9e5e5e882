"""Rendering of results: the same blocks on a terminal, as plain text, in a notebook."""

from .blocks import Block, Code, Line, Table
from .page import as_html
from .plain import as_text, time_of, visible
from .progress import OnProgress, silent

__all__ = [
    "Block",
    "Code",
    "Line",
    "OnProgress",
    "Table",
    "as_html",
    "as_text",
    "silent",
    "time_of",
    "visible",
]
