"""Command `schema`: the JSON Schema of what commands print under --json."""

import dataclasses
import functools
import json
from importlib import resources
from typing import Any

import typer

from .exit_codes import finish
from .options import TYPER
from .report import show_json

COMMAND: Any = dataclasses.field(
    default="",
    metadata={
        TYPER: typer.Argument(
            metavar="COMMAND",
            help="A command, such as rewrite; by default all.",
            show_default=False,
        )
    },
)


@functools.cache
def output_schema() -> dict[str, Any]:
    """Return the schema (2020-12) of all documents; `$defs` has an entry for each command."""
    text = resources.files(__package__).joinpath("output_schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def schema_of(command: str) -> dict[str, Any]:
    """Return the schema of a command's documents.

    Raises:
        KeyError: the command prints none.
    """
    schema = output_schema()
    entry = {"$ref": f"#/$defs/{command}"}
    if entry not in schema["anyOf"]:
        raise KeyError(command)
    parts = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**parts, "$id": f"{schema['$id']}:{command}", **entry}


def show_schema(command: str = COMMAND) -> int:
    """Print the JSON Schema of what a command prints under --json."""
    try:
        schema = schema_of(command) if command else output_schema()
    except KeyError as error:
        from ..ir.did_you_mean import instead

        names = [entry["$ref"].rpartition("/")[2] for entry in output_schema()["anyOf"]]
        raise typer.BadParameter(
            f"there is no command '{command}' with --json; {instead(command, names)}"
        ) from error
    return finish(0, lambda: show_json(schema), product=True)
