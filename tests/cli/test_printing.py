import json
import logging

import onnx
import pytest
from commands import succeeded
from straightline.cli.commands import app
from straightline.cli.printing import with_values
from texts import HEADER, LOOP
from typer.testing import CliRunner


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(HEADER + LOOP), "in.onnx")
    return lambda *options: CliRunner().invoke(app, ["rewrite", "in.onnx", "out.onnx", *options])


def titles(result):
    return [line for line in result.stderr.splitlines() if line.startswith("// ")]


def test_an_option_may_stand_without_a_value():
    given = ["rewrite", "--print-after", "a", "--print-before=x", "--", "--print-after"]
    assert with_values(given) == [
        *("rewrite", "--print-after=", "a", "--print-before=x", "--", "--print-after")
    ]


def test_after_each_pass_that_changes_the_model(run):
    result = succeeded(run("--print-after"))
    found = titles(result)
    assert "// after unroll-loops" in found and "// after inline-ifs" not in found
    text = result.stderr.partition("// after unroll-loops")[2]
    assert "e_0 = Add (x, x)" in text and "Loop" not in text


def test_before_one_pass(run):
    result = run("--print-before=unroll-loops")
    assert set(titles(result)) == {"// before unroll-loops"}
    assert "y = Loop" in result.stderr


def test_before_each_pass_that_changes_the_model(run):
    found = titles(run("--print-before", "--print-after"))
    assert found[0].startswith("// before ") and len(found) % 2 == 0
    assert [t.split()[2] for t in found[::2]] == [t.split()[2] for t in found[1::2]]


def test_a_pass_that_is_named_and_changes_nothing_says_so(run):
    assert set(titles(run("--print-after=inline-ifs"))) == {"// inline-ifs changed nothing"}


def test_trial_passes_are_not_printed(run):
    found = titles(run("--print-after=unroll-loops", "--passes", "accelerate"))
    assert sum(title.startswith("// after") for title in found) == 1  # of many pipelines one is run


def test_a_pass_that_is_none_is_an_error(run):
    result = run("--print-after=unrol")
    assert result.exit_code == 2 and "there is no pass 'unrol'" in result.stderr


def test_the_conversion_is_a_step_like_a_pass(run):
    result = run("--opset", "18", "--print-after=convert", "--print-before=convert")
    assert titles(result) == ["// before convert to opset 18", "// after convert to opset 18"]
    after = result.stderr.partition("// after")[2]
    assert 'opset_import: ["" : 18]' in after and "Loop" not in after


def test_straightening_for_a_conversion_is_printed(run):
    text = """g (float[2] x) => (float[2] y) <int64 zero = {0}> {
        s = SequenceConstruct (x, x)  y = SequenceAt (s, zero) }"""
    onnx.save(onnx.parser.parse_model(HEADER + text), "in.onnx")
    options = ("convert", "in.onnx", "out.onnx", "--opset", "10", "--print-after", "-v")
    result = succeeded(CliRunner().invoke(app, options))
    assert "// after convert to opset 10" in titles(result) and len(titles(result)) > 1
    assert "converting model 'g' from opset 17 to 10" in result.stderr


def test_standard_output_stays_what_it_was(run):
    assert json.loads(run("--print-after", "-v", "--json").stdout)["written"] == "out.onnx"


def test_large_tensors_are_left_out(run, tmp_path):
    many = ", ".join(["1"] * 50)
    text = f"g (float[50] x) => (float[50] y) <float[50] w = {{{many}}}>"
    text += "{ a = Identity (x) y = Add (a, w) }"
    onnx.save(onnx.parser.parse_model(HEADER + text), "in.onnx")
    shown = run("--print-after").stderr
    assert "float[50] w" in shown and "1, 1" not in shown and "1,1" not in shown


def test_verbose_tells_a_line_for_each_pass_and_only_while_it_works(run):
    assert "unroll-loops changed the model" in run("-v").stderr
    assert run().stderr == ""
    assert not logging.getLogger("straightline").handlers


def test_verbose_twice_tells_more(run):
    assert len(run("-vv").stderr) > len(run("-v").stderr)
