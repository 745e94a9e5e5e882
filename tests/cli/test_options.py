import dataclasses

import typer
from straightline.cli.arguments import grouped
from straightline.cli.options import argument, choice, flag, option, whole
from tables import table
from typer.testing import CliRunner


@dataclasses.dataclass(frozen=True)
class Group:
    """A group of options."""

    number: int = option("How many.", default=2, **whole(1))
    color: str | None = option("Which.", **choice("NAME", "red", "green"))
    fast: bool = flag("How.", "--fast")


MODEL = argument("IN", "The model.")


def invoke(*words):
    app, seen = typer.Typer(), []

    @app.command()
    @grouped
    def command(group: Group, model=MODEL) -> int:
        seen.append((str(model), group))
        return 0

    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    return result.exit_code, result.output, seen


def test_fields_become_options_and_arguments():
    assert invoke("m")[2] == [("m", Group())]
    more = ("--number", "3", "--color", "green", "--fast")
    assert invoke("m", *more)[2] == [("m", Group(3, "green", True))]
    assert Group().number == 2 and Group().color is None


@table(
    (("m", "--number", "0"), "write a whole number, 1 or more"),
    (("m", "--color", "gren"), "did you mean 'green'?"),
    ((), "IN"),
)
def test_a_wrong_value_is_refused(words, message):
    code, output, seen = invoke(*words)
    assert code == 2 and message in output and not seen
