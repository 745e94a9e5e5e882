import json

import pytest
from straightline.cli.commands import app
from straightline.passes.costs import calibrate as calibration
from straightline.passes.costs.table import cost_table
from typer.testing import CliRunner


@pytest.fixture(autouse=True)
def _measured(monkeypatch):
    table = cost_table("onnxruntime")
    monkeypatch.setattr(calibration, "calibrate", lambda on_progress: table)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_costs_are_shown_and_written(tmp_path):
    file = tmp_path / "costs.toml"
    result = run("calibrate", "-o", file)
    assert result.exit_code == 0 and "GRU Sigmoid" in result.output
    assert cost_table(str(file)) == cost_table("onnxruntime")
    assert json.loads(run("calibrate", "--json").output)["load"]["session"] > 0
    assert run("calibrate", "-o", file).exit_code == 0


def test_no_other_file_is_lost(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_text("a model")
    result = run("calibrate", "-o", file)
    assert result.exit_code == 1 and file.read_text() == "a model"
    assert run("calibrate", "--force", "-q", "-o", file).exit_code == 0
    assert "[load]" in file.read_text()
