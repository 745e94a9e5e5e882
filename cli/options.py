"""Options and arguments of commands, each a field of its group or command."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import typer

from . import parsing
from .completing import words

TYPER = "typer"
"""The key of a field's metadata for what typer declares of it."""

VERIFICATION = "Verification"
WATCHING = "Watching"
MANY = "Many models"


def option(text: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """Return the field of an option.

    Args:
        text: its help.
        names: its spellings; by default that of the field.
        default: its value where it is left out.
        settings: those of `typer.Option`.
    """
    setting = typer.Option(*names, help=text, **settings)
    return dataclasses.field(default=default, metadata={TYPER: setting})


flag = partial(option, default=False)
verifying = partial(option, rich_help_panel=VERIFICATION)
for_many = partial(option, rich_help_panel=MANY)
repeatable = partial(option, callback=parsing.once)
"""An option that may be given again, for each name once."""


def argument(metavar: str, text: str, **settings: Any) -> Any:
    """Return the field of an argument that names a model."""
    setting = typer.Argument(metavar=metavar, parser=parsing.model_path, help=text, **settings)
    return dataclasses.field(metadata={TYPER: setting})


def whole(least: int = 0) -> dict[str, Any]:
    """Return the settings of an option that takes a whole number."""
    return {"metavar": "N", "parser": parsing.whole(least)}


def choice(metavar: str, *choices: str) -> dict[str, Any]:
    """Return the settings of an option that takes one of a few words."""
    parser: Callable[[Any], str] = parsing.choice(*choices)
    return {"metavar": metavar, "parser": parser, "autocompletion": words(*choices)}


SIZE: dict[str, Any] = {"metavar": "SIZE", "parser": parsing.size}

# Shared by groups and commands that give them the same name.
SOURCE = argument("IN", "The model; '-' is standard input.")
TARGET = argument("OUT", "Where the result is written; '-' is standard output.")
LOAD = option(
    "Run a Python file that defines passes, which --passes may name then. Repeatable.",
    "--load",
    metavar="FILE.py",
)
MAX_MEMORY = option(
    "Bytes of computed constants that may be held at a time; 256M if not given. A model that is run"
    " to be compared may take four times as much.",
    **SIZE,
)
SET = repeatable(
    "Give an input a value; it leaves the signature. Repeatable. Values as in JSON: 16000, true,"
    " [1, 2]; or @file.npy.",
    "--set",
    metavar="NAME=VALUE",
    parser=parsing.assignment,
)
DIM = repeatable(
    "Fix a named dimension wherever it stands. Repeatable.",
    "--dim",
    metavar="NAME=D",
    parser=parsing.dimension,
)
FORCE = flag(
    "Overwrite also a file that is no model, and data that belongs to another one.", "--force"
)
MAX_INPUT_SIZE = option(
    "Refuse a model file with more bytes; 500M and 2G are understood. 2G if not given, the most"
    " that ONNX allows.",
    **SIZE,
)
JSON = flag("Print one JSON document, also of what goes wrong.", "--json")
QUIET = flag("Print errors and warnings only, no report.", "--quiet", "-q")
PROVE = verifying(
    "Take nothing but a proof for every input, or try none; by default the models are run where"
    " there is no proof.",
    "--prove/--no-prove",
)
REPORT = option(
    "Also write an HTML page that shows both models, what was done, and what became of each node.",
    "--report",
    metavar="FILE",
)
VERBOSE = option(
    "Tell on stderr what passes do and what is tried; -vv tells all.",
    "-v",
    "--verbose",
    default=0,
    count=True,
    metavar="",
    rich_help_panel=WATCHING,
)
