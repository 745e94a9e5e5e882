import pytest
import typer.main
from straightline.cli.commands import app
from typer.testing import CliRunner

GROUP = typer.main.get_command(app)
COMMANDS = {"": GROUP, **GROUP.commands}


def help_of(name, width):
    arguments = [*name.split(), "-h"]
    found = CliRunner().invoke(
        app, arguments, env={"COLUMNS": str(width)}, prog_name="straightline"
    )
    assert found.exit_code == 0
    assert max(map(len, found.stdout.splitlines())) <= width
    return found.stdout


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut(name, width):
    shown, command = help_of(name, width), COMMANDS[name]
    words = set(shown.replace(",", " ").split())
    for param in command.params:
        if param.param_type_name == "option":
            assert {*param.opts, *param.secondary_opts} <= words, param
        assert set((param.help or "").replace(",", " ").split()) <= words, param
    assert set((command.help or "").replace(",", " ").split()) <= words
    assert "…" not in shown


@pytest.mark.parametrize("width", [20, 40, 59])
@pytest.mark.parametrize("name", COMMANDS)
def test_narrow_terminals_lose_no_letter(name, width):
    """Words that are longer than a line are broken, and nothing is left out."""
    shown = "".join(help_of(name, width).split())
    for param in COMMANDS[name].params:
        assert "".join((param.help or "").split()) in shown, param


def test_order_of_the_help():
    shown = help_of("convert", 80)
    parts = [shown.index(f"\n{title}\n") for title in ("Arguments", "Options", "Verification")]
    assert parts == sorted(parts)
    assert "  -q, --quiet  " in shown and "  --verify, --no-verify  " in shown
    assert "7 or later." in " ".join(shown.split())
    assert "\n  IN  " in shown and "Usage: straightline convert [OPTIONS] [IN]... OUT\n" in shown


def test_help_and_its_short_form_are_the_same():
    runner = CliRunner()
    for command in ([], ["inspect"]):
        long, short = (runner.invoke(app, [*command, o]).stdout for o in ("--help", "-h"))
        assert long == short != ""
