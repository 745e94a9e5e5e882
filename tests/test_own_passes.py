"""The tutorial on passes of one's own, run as it is written."""

import functools
import shlex
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from harness import as_model
from pages import texts
from straightline.cli.commands import app
from straightline.passes.manager import plugins as outside
from typer.testing import CliRunner

blocks = functools.partial(texts, "own-passes.md")
MODEL = """g (float[4] x) => (float[4] y) { h = HardSwish (x) y = HardSwish (h) }"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(outside, "_loaded", {})
    monkeypatch.delitem(sys.modules, "my_passes", raising=False)
    Path("my_passes.py").write_text(blocks("python")[0])
    onnx.save(as_model(MODEL), "model.onnx")
    return tmp_path


def test_the_python_of_the_page_runs(folder, capsys):
    _, *rest = blocks("python")
    assert len(rest) == 2
    exec(compile("\n".join(rest), "own-passes.md", "exec"), {})
    assert "HardSigmoid and Mul" in capsys.readouterr().out
    sys.modules.pop("my_passes")


def test_the_pass_is_short():
    assert len(blocks("python")[0].splitlines()) <= 40


def test_the_commands_of_the_page_run(folder):
    (text,) = blocks("sh")
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "straightline"
        command = [sys.executable, "-m", "straightline", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "spell-hard-swish" in done.stdout or "HardSigmoid and Mul" in done.stdout
    found = onnx.load("out.onnx")
    assert [node.op_type for node in found.graph.node] == ["HardSigmoid", "Mul"] * 2


def test_the_entry_point_of_the_page_is_one(folder):
    (text,) = blocks("toml")
    header, line = text.splitlines()
    assert header == f'[project.entry-points."{outside.GROUP}"]'
    name, value = line.split(" = ")
    module, kind = value.strip('"').split(":")
    assert getattr(__import__(module), kind).name == name


@pytest.mark.parametrize("command", ["rewrite", "inspect", "convert", "passes"])
def test_a_file_that_is_no_good_is_an_error_in_one_line(folder, command):
    (folder / "bad.py").write_text("x = 1\ny = x / 0")
    places = {"rewrite": ["out.onnx"], "convert": ["out.onnx", "--opset", "18"]}
    model = [] if command == "passes" else ["model.onnx"]
    options = [command, *model, *places.get(command, ()), "--load", "bad.py"]
    found = CliRunner().invoke(app, options)
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr == (
        "error: 'bad.py' cannot be loaded: line 2: ZeroDivisionError: division by zero\n"
    )
    assert not (folder / "out.onnx").exists()
