"""What there is to choose from."""

import json

from straightline.cli.commands import app
from typer.testing import CliRunner


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_targets_are_listed_with_their_sources():
    result = run("targets")
    assert result.exit_code == 0 and "onnx2torch" in result.output
    listed = json.loads(run("targets", "--json").output)
    assert {"name", "opsets", "control_flow", "source"} <= set(listed[0])
    assert all(target["source"]["date"] for target in listed)


def test_passes_are_listed_with_their_options():
    assert "max_trips=" in run("passes").output
    assert "unroll-loops" in {item["name"] for item in json.loads(run("passes", "--json").output)}


def test_rules_are_listed_with_their_proofs():
    result = run("rules")
    assert result.exit_code == 0
    assert "mul-by-one" in result.stdout and "proved" in result.stdout
