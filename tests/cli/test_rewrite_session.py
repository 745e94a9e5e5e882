import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import straightline as sl
from texts import HEADER, LOOP

COMMANDS = ("rewrite", "convert --opset 18")


@pytest.fixture
def run(folder, run):
    onnx.save(onnx.parser.parse_model(HEADER + LOOP), "in.onnx")
    np.savez("in.npz", x=np.zeros(2, np.float32))
    return run


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--sample-shape q=2", "no input 'q' is drawn; those that are: 'x'"),
        ("--sample-shape x=2,2", "input 'x' has rank 1, not 2"),
        ("--sample-shape x=2 --set x=[1,2]", "input 'x' is set; no values are drawn for it"),
        ("--sample-shape x=2 --inputs in.npz", "inputs were passed, so none is drawn"),
        ("--dim T=2", "no input has a dimension named 'T'"),
        ("--report none/page.html", "none"),
    ],
)
def test_wrong_options_are_refused_before_the_work(run, command, given, words, monkeypatch):
    monkeypatch.setattr("straightline.passes.Pipeline.apply", lambda *_: pytest.fail("ran"))
    monkeypatch.setattr(
        "straightline.version_converter.conversion.convert", lambda *_: pytest.fail("ran")
    )
    result = run(*command.split(), "in.onnx", "out.onnx", *given.split())
    assert result.exit_code == 1 and words in result.stderr, result.output
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("error: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_watched_text_stays_off_standard_output(run, command, tmp_path):
    watched = ("--print-before", "--print-after", "-v", "--json")
    result = run(*command.split(), "in.onnx", "out.onnx", *watched)
    found = json.loads(result.stdout)
    assert (found["exit"], found["written"], found["error"]) == (0, "out.onnx", None)
    assert "// before " in result.stderr and "// after " in result.stderr
    assert "the proof is proved" in result.stderr  # the comparison is watched too
    assert (tmp_path / "out.onnx").exists()


def test_sizes_for_what_is_compared(run, tmp_path):
    text = "g (float[N] x) => (float[N] y) { y = Abs (x) }"
    onnx.save(onnx.parser.parse_model(HEADER + text), "in.onnx")
    result = run("verify", "in.onnx", "in.onnx", "--dim", "M=3")
    assert (result.exit_code, result.stderr) == (
        1,
        "error: no input has a dimension named 'M'; there are 'N'\n",
    )
    assert run("verify", "in.onnx", "in.onnx", "--dim", "N=3").exit_code == 0


def test_nothing_is_written_where_the_certificate_cannot_be_made(run, monkeypatch):
    def fail(*_: object) -> None:
        raise sl.LoadError("tensor 'w' cannot be read")

    monkeypatch.setattr("straightline.verification.certificate.Certificate.of", fail)
    result = run("rewrite", "in.onnx", "out.onnx", "--prove", "--certificate", "c.json")
    assert result.exit_code == 1 and "'w' cannot be read" in result.stderr, result.output
    assert not Path("out.onnx").exists() and not Path("c.json").exists()
