import sys
from typing import Annotated

import typer
from straightline.cli import parsing
from straightline.cli.piping import Command
from tables import table
from typer.core import TyperCommand
from typer.testing import CliRunner


def seen(kind, words):
    """The values of a command of some class, or the exit code with the message."""
    app, values = typer.Typer(), []

    @app.command(cls=kind)
    def command(
        name: Annotated[str, typer.Argument(parser=str)],
        rest: Annotated[list[int], typer.Argument(parser=parsing.whole(), default_factory=list)],
        count: Annotated[int, typer.Option(parser=parsing.whole(1))] = 3,
        size: Annotated[float | None, typer.Option()] = None,
        sets: Annotated[
            list[parsing.Given] | None,
            typer.Option("--set", parser=parsing.assignment, callback=parsing.once),
        ] = None,
        switch: Annotated[bool, typer.Option("--yes/--no")] = False,
        loud: Annotated[int, typer.Option("-v", count=True)] = 0,
    ) -> None:
        values.append((name, rest, count, size, sets, switch, loud))

    result = CliRunner().invoke(app, words)
    return values or (result.exit_code, result.output)


@table(
    ["a"],
    ["a", "1", "2"],
    ["a", "x"],
    ["a", "--count", "7", "--size", "1.5", "-vv", "--yes"],
    ["a", "--count", "0"],
    ["a", "--count", "x"],
    ["a", "--size", "x"],
    ["a", "--set", "n=3", "--set", "m=x"],
    ["a", "--set", "n=3", "--set", "n=4"],
    ["a", "--set", "n"],
    ["--no"],
)
def test_values_and_errors_are_those_of_typer(words):
    assert seen(Command, words) == seen(TyperCommand, words)


def test_a_small_command_makes_no_adapter(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer._adapters", None)
    assert seen(Command, ["a", "1", "--count", "7", "--set", "n=3", "--yes", "-v"])[0][2] == 7
