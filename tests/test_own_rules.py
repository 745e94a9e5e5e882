"""The tutorial on rules of one's own, run as it is written."""

import functools
import json
import shlex
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from commands import succeeded
from harness import as_model
from pages import texts
from straightline.cli.commands import app
from straightline.passes.manager import plugins
from straightline.passes.simplify.rules import registry
from typer.testing import CliRunner

blocks = functools.partial(texts, "own-rules.md")
MODEL = """g (float[N, 2] x)
    => (float[N, 2] y) <float[2, 2] w = {1, 2, 3, 4}, float[2] s = {2, 4}> {
    t = MatMul (x, w) y = Mul (t, s) }"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.delitem(sys.modules, "my_rules", raising=False)
    Path("my_rules.py").write_text(blocks("python")[0])
    onnx.save(as_model(MODEL), "model.onnx")
    return tmp_path


def test_the_python_of_the_page_runs(folder):
    exec(compile("\n".join(blocks("python")), "own-rules.md", "exec"), {"__name__": "page"})
    names = [rule.name for rule, proof in registry.registered() if proof.proved]
    assert names == ["scale-weights", "merge-transposes"]
    sys.modules.pop("my_rules")


def test_the_commands_of_the_page_run(folder):
    (commands,) = blocks("sh")
    for line in commands.splitlines():
        succeeded(CliRunner().invoke(app, shlex.split(line)[1:]))
    assert [node.op_type for node in onnx.load("out.onnx").graph.node] == ["MatMul"]


def test_rules_as_json(folder):
    result = CliRunner().invoke(app, ["rules", "--rules", "my_rules.py", "--json"])
    rules = {rule["name"]: rule for rule in json.loads(result.stdout)}
    own = rules["scale-weights"]
    assert own["proof"]["status"] == "proved" and own["proof"]["cases"] > 0
    assert own["after"] == "(x, w, s) => (y) { v = Mul (w, s) y = MatMul (x, v) }"
    assert rules["mul-by-one"]["exactness"] == "bits"


def test_a_wrong_rule_is_refused_with_one_line(folder):
    text = Path("my_rules.py").read_text().replace("v = Mul (w, s)", "v = Add (w, s)")
    Path("wrong.py").write_text(text)
    result = CliRunner().invoke(app, ["rules", "--rules", "wrong.py"])
    assert result.exit_code == 1
    assert "rule 'scale-weights' is refuted" in result.stderr and "on x = " in result.stderr
    assert result.stderr.count("\n") == 1


def test_models_rewritten_by_trusted_rules_are_run(folder):
    text = Path("my_rules.py").read_text()
    text = text.replace('"reals"', '"reals", trusted=True').replace("Mul (w, s)", "Add (w, s)")
    Path("trusted.py").write_text(text)
    command = ["simplify", "model.onnx", "out.onnx", "--rules", "trusted.py"]
    result = CliRunner().invoke(app, [*command, "--exactness", "reals"])
    assert result.exit_code == 3, result.output


def test_entry_points_register_rules(folder, monkeypatch):
    folder.joinpath("more-1.dist-info").mkdir()
    entry = "[straightline.rules]\nmore = my_rules\n"
    folder.joinpath("more-1.dist-info", "entry_points.txt").write_text(entry)
    folder.joinpath("more-1.dist-info", "METADATA").write_text("Name: more\nVersion: 1\n")
    code = "from straightline.passes.simplify.rule_set import all_rules; print(all_rules()[0][0])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "rule 'scale-weights'\n"
