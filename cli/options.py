"""Options and arguments of commands, each a field of its group or command."""

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
OUTPUT = "Output"


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
of_output = partial(option, rich_help_panel=OUTPUT)
repeatable = partial(option, callback=parsing.once)
"""An option that may be given again, for each name once."""


def argument(metavar: str, text: str, **settings: Any) -> Any:
    """Return the field of an argument that names a model."""
    settings.setdefault("parser", parsing.model_path)
    setting = typer.Argument(metavar=metavar, help=text, **settings)
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
TARGET = argument("OUT", "The file of the result; '-' is standard output.", parser=parsing.place)
LOAD = option(
    "Run a Python file with passes, rewrite rules, or operators and their adapters, or read a file"
    " with definitions of operators. Repeatable.",
    "--rules",
    "--define",
    "--load",
    metavar="FILE",
)
FORCE = of_output(
    "Also overwrite a file other than a model, and data of another model.", "--force", default=False
)
MAX_INPUT_SIZE = option(
    "Refuse a model file of more bytes, such as 500M; by default 2G, the most that ONNX allows.",
    **SIZE,
)
JSON = of_output("Print one JSON document, also for errors.", "--json", default=False)
QUIET = of_output("Print errors and warnings only, no report.", "--quiet", "-q", default=False)
PROVE = verifying(
    "Require a proof for every input, replayed by the checker of certificates (exit code 6 if it"
    " cannot be), or try none; by default models without a proof are run and compared.",
    "--prove/--no-prove",
)
BY_POSITION = flag(
    "Let inputs and outputs correspond by position; by default by name.", "--by-position"
)
FORCE_FOLDER = flag(
    "Write a counterexample also into a folder with other files, and a certificate over another"
    " file.",
    "--force",
)
COUNTEREXAMPLE = verifying(
    "Write an input on which the outputs differ, minimized, into FOLDER, in the layout of ONNX's"
    " tests, with a README of how to see it.",
    "--counterexample",
    metavar="FOLDER",
)
REPORT = of_output(
    "Also write an HTML page that shows both models, the rewrites, and the fate of each node.",
    "--report",
    metavar="FILE",
)
VERBOSE = option(
    "Print passes, trials and all reasons on stderr; -vv prints everything.",
    "-v",
    "--verbose",
    default=0,
    count=True,
    metavar="",
    rich_help_panel=WATCHING,
)
CONFIG = of_output(
    "Read options from this file; by default from the nearest straightline.toml in the model's"
    " folder or above it, up to the current folder.",
    "--config",
    metavar="FILE",
)
NO_CONFIG = of_output("Read no configuration file.", "--no-config", default=False)
