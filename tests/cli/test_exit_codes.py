import errno
import json

import pytest
import typer
from straightline.cli import commands, exit_codes
from straightline.cli.exit_codes import Commands, finish, is_asked_for_json
from straightline.ir import LoadError
from straightline.passes import PassOptionError
from straightline.version_converter import ConversionError
from straightline.version_converter.errors import Failure
from tables import table


def command_that(raises, as_json=False):
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)

    @app.callback()
    def main():
        """So that there are commands."""

    @app.command()
    def work(json: bool = as_json):
        raise raises

    return app


@pytest.fixture(autouse=True)
def _streams(monkeypatch):
    monkeypatch.setattr(exit_codes.interrupts, "over", lambda: None)


@table(
    (LoadError("it is broken"), 1, "error: it is broken\n"),
    (PassOptionError("no such pass"), 2, "error: no such pass\n"),
    (typer.BadParameter("bad  \n value"), 2, "bad value (see --help)\n"),
    (OSError(errno.ENOSPC, "no space"), 1, "error: [Errno 28] no space\n"),
    (FileNotFoundError(errno.ENOENT, "x"), 1, "error: the working folder was deleted\n"),
    (MemoryError(), 1, "error: out of memory\n"),
    (KeyboardInterrupt(), 130, "error: interrupted\n"),
    (TypeError("a\nb"), 70, "error: a fault of straightline itself, TypeError: a b;"),
)
def test_every_error_is_one_line_and_a_code(error, code, line, capsys, monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as ended:
        command_that(error)(["work"])
    told = capsys.readouterr()
    assert ended.value.code == code
    assert line in told.err and told.err.count("\n") == 1
    assert told.out == ""


@table(
    (LoadError("it is broken"), "LoadError", 1),
    (PassOptionError("no such pass"), "PassOptionError", 2),
    (OSError(errno.ENOSPC, "no space"), "OSError", 1),
    (KeyboardInterrupt(), "KeyboardInterrupt", 130),
    (TypeError("oops"), "TypeError", 70),
    (ConversionError("no", [Failure("p", "Op", 11, 10, "why")]), "ConversionError", 1),
)
def test_errors_are_one_json_document_too(error, kind, code, capsys, monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_TRACEBACK", raising=False)
    app = command_that(error, as_json=True)
    with pytest.raises(SystemExit) as ended:
        app(["work", "--json"])
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert (ended.value.code, found["exit"], found["kind"]) == (code, code, kind)
    assert ("failures" in found) == (kind == "ConversionError")
    first, *items = told.err.splitlines()
    assert first == f"error: {found['error']}" and [i.strip() for i in items] == found["items"]


@table((["work", "--json", "--jsno"], "NoSuchOption"), (["wrok", "--json"], "UsageError"))
def test_wrong_usage_is_json_too(arguments, kind, capsys):
    with pytest.raises(SystemExit):
        command_that(TypeError(), as_json=True)(arguments)
    found = json.loads(capsys.readouterr().out)
    assert (found["exit"], found["kind"]) == (2, kind)


WRONG = {
    "--max-nodes abc": "--max-nodes abc: write a whole number, 0 or more",
    "--max-trips -1": "--max-trips -1: write a whole number, 0 or more",
    "--max-work 1.5": "--max-work 1.5: write a whole number, 0 or more",
    "--max-memory x": "--max-memory x: write bytes, or 500M, or 2G",
    "--opset x": "--opset x: write a whole number, 7 or more",
    "--opset 99": "--opset 99: write a number from 7 to",
    "--samples 0": "--samples 0: write a whole number, 1 or more",
    "--seed x": "--seed x: write a whole number, 0 or more",
    "--jobs 0": "--jobs 0: write a whole number, 1 or more",
    "--rtol x": "--rtol x: write a number, 0 or more",
    "--atol nan": "--atol nan: write a number, 0 or more",
    "--timeout 0": "--timeout 0: write a number, more than 0",
    "--dim T": "--dim T: write it as in T=6",
    "--runtime both2": "--runtime both2: did you mean 'both'? there are 'auto', 'onnxruntime',"
    " 'reference', 'both'",
    "--target tensort": "--target tensort: there is no target 'tensort'; did you mean 'tensorrt'?",
    "--backend das": "--backend das: did you mean 'dask'? there are 'loky', 'dask', 'ray'",
    "--set a=1 --set a=2": "--set 'a' occurs twice",
    "--prove --no-verify": "a proof needs verification; leave out --no-verify",
}


@pytest.mark.sample(18)
@pytest.mark.parametrize("given", WRONG)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_wrong_value_is_one_line_that_names_the_option_and_what_it_takes(given, form, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.app(["rewrite", "a.onnx", "b.onnx", *given.split(), *form])
    told = capsys.readouterr()
    assert ended.value.code == 2
    assert told.err.startswith(f"error: {WRONG[given]}") and told.err.endswith(" (see --help)\n")
    assert told.err.count("\n") == 1 and "in Python" not in told.err
    if form:
        found = json.loads(told.out)
        assert f"error: {found['error']}\n" == told.err and found["exit"] == 2


def test_a_file_in_place_of_a_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.onnx").touch()
    with pytest.raises(SystemExit) as ended:
        commands.app(["a b.onnx"])
    assert ended.value.code == 2
    assert "straightline rewrite 'a b.onnx' OUT.onnx" in capsys.readouterr().err


def test_requests_for_json():
    assert is_asked_for_json(["inspect", "a", "--json"])
    assert not is_asked_for_json(["inspect", "--", "--json"]) and not is_asked_for_json([])


def test_a_fault_can_be_traced(monkeypatch):
    monkeypatch.setenv("STRAIGHTLINE_TRACEBACK", "1")
    with pytest.raises(TypeError, match="oops"):
        command_that(TypeError("oops"))(["work"])


def lose():
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt():
    raise KeyboardInterrupt


@table(
    (0, lambda: None, True, 0, ""),
    (4, lambda: None, False, 4, ""),
    (0, lose, True, 1, "error: the result could not be shown: No space left on device\n"),
    (3, lose, True, 3, "error: the result could not be shown"),
    (0, lose, False, 0, "warning: the report could not be shown"),
    (0, interrupt, False, 0, ""),
)
def test_output_that_cannot_be_shown(code, show, product, wanted, told, capsys, monkeypatch):
    monkeypatch.setattr("straightline.cli.terminal.silence", lambda stream: None)
    assert finish(code, show, product=product) == wanted
    err = capsys.readouterr().err
    assert told in err and bool(told) == bool(err)


def test_an_interrupt_while_the_product_is_shown():
    with pytest.raises(KeyboardInterrupt):
        finish(0, interrupt, product=True)
