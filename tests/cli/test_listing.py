import json

import onnx
import pytest
from commands import succeeded
from straightline.cli.commands import app
from straightline.passes.simplify.rules import rule_proof
from typer.testing import CliRunner


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_targets_are_listed_with_their_sources():
    result = run("targets")
    assert result.exit_code == 0 and "onnx2torch" in result.output
    listed = json.loads(run("targets", "--json").output)
    assert {"name", "opsets", "control_flow", "source"} <= set(listed[0])
    assert all(target["source"]["date"] for target in listed)


def test_a_model_is_checked_against_all_targets(tmp_path):
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Relu (x) }'
    )
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    checks = json.loads(run("targets", "--check", str(file), "--json").output)
    assert {check["target"] for check in checks} >= {"openvino", "onnx2torch"}
    assert not any(check["after"] for check in checks)
    assert "nothing" in run("targets", "--check", str(file)).output
    assert run("targets", "--check", str(tmp_path / "none.onnx")).exit_code == 1


def test_rules_are_listed_by_name():
    result = succeeded(run("rules"))
    assert "neg-of-neg, not-of-not" in result.stdout
    assert "t = Neg (x)" not in result.stdout


@pytest.mark.parametrize("name", ["mul-by-one", "MUL-BY-*", "mul"])
def test_a_rule_is_shown_with_its_proof(name):
    result = succeeded(run("rules", name))
    assert "mul-by-one" in result.stdout and "->" in result.stdout and "proved" in result.stdout
    assert "neg-of-neg" not in result.stdout


def test_only_shown_rules_are_proved(monkeypatch):
    proved = []
    monkeypatch.setattr(rule_proof, "require_proof", lambda rule: proved.append(rule.name))
    succeeded(run("rules", "mul-by-one", "--prove"))
    assert proved == ["mul-by-one"]


def test_rules_of_a_file_are_shown_beside_the_names(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "import straightline as sl\n@sl.rule()\nclass NegateOnce(sl.Rule):\n"
        "    'Negate once.'\n"
        "    before = '(x) => (y) { a = Neg (x) b = Neg (a) y = Neg (b) }'\n"
        "    after = '(x) => (y) { y = Neg (x) }'\n"
    )
    out = run("rules", "--rules", str(file)).stdout
    assert out.count("->") == 1 and "negate-once" in out


def test_an_unknown_rule_is_an_error():
    result = run("rules", "nothing-like-it")
    assert result.exit_code == 2 and "no rule" in result.output
