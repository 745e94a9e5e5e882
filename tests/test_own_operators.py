"""The tutorial on operators of one's own, run as it is written."""

import functools
import importlib.util
from pathlib import Path

import onnx
import pytest
from commands import succeeded
from pages import texts
from straightline.cli.commands import app
from straightline.definitions import registry
from straightline.dev.tools import data_files
from straightline.passes.manager import plugins
from typer.testing import CliRunner

blocks = functools.partial(texts, "own-operators.md")
MODEL = """<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>
    g (float[N, 3] x) => (float[N, 3] y) { y = com.acme.Swish <beta = 2.0> (x) }"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plugins, "_defining", {})
    Path("acme.txt").write_text(blocks("text")[0])
    onnx.save(onnx.parser.parse_model(MODEL), "model.onnx")
    yield tmp_path
    registry.forget("com.acme.Swish")


def test_the_python_of_the_page_runs(folder):
    exec(compile("\n".join(blocks("python")), "own-operators.md", "exec"), {"__name__": "page"})


def test_the_command_of_the_page_leaves_no_operator_of_another_domain(folder):
    (command,) = blocks("sh")[0].splitlines()
    result = succeeded(CliRunner().invoke(app, [*command.split()[1:], "--prove"]))
    assert "computes its definition" in " ".join(result.output.split())
    nodes = onnx.load("out.onnx").graph.node
    assert [node.op_type for node in nodes] == ["Mul", "Sigmoid", "Mul"]


def test_the_table_is_that_of_the_definitions():
    path = Path(__file__).parent.parent / "dev" / "tools" / "definitions.py"
    spec = importlib.util.spec_from_file_location("tools_definitions", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert data_files.read("definitions") == [*tool.rows()], "run python dev/tools/definitions.py"


def test_a_mistake_in_the_file_is_one_line(folder):
    Path("acme.txt").write_text("before (x) => (y) { y = com.acme.Swish (x) }")
    command = ["rewrite", "model.onnx", "out.onnx", "--define", "acme.txt"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code != 0 and "then 'after' with its graph" in " ".join(
        result.output.split()
    )
