import json

import jsonschema
import pytest
import typer.main
from commands import assert_refused, write
from output_schemas import assert_described
from straightline.batch import Record
from straightline.cli import commands
from straightline.cli.exit_codes import NOT_REPLAYED
from straightline.cli.schema import output_schema, schema_of
from straightline.passes.costs import calibrate as calibration
from straightline.passes.costs.table import cost_table

ALL = typer.main.get_command(commands.app).commands
WITH_JSON = sorted(
    name for name, command in ALL.items() if any("--json" in each.opts for each in command.params)
)


def test_every_command_with_json_has_a_schema():
    schema = output_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert sorted(entry["$ref"].rpartition("/")[2] for entry in schema["anyOf"]) == WITH_JSON


def test_a_key_that_is_not_described_is_noticed():
    with pytest.raises(AssertionError, match="surprise"):
        assert_described(
            ["passes"], '{"error": "e", "items": [], "exit": 1, "kind": "E", "surprise": 1}'
        )
    with pytest.raises(AssertionError, match="exit"):
        assert_described(["passes"], '{"error": "e", "items": [], "exit": "1", "kind": "E"}')


def test_the_command_prints_it(run):
    assert json.loads(run("schema").stdout) == output_schema()
    one = json.loads(run("schema", "rewrite").stdout)
    assert one == schema_of("rewrite")
    jsonschema.validate({"error": "no such file", "items": [], "exit": 1, "kind": "LoadError"}, one)
    assert_refused(run("schema", "rewritten"), 2, "did you mean 'rewrite'?")


DOCUMENTS = (
    ("rewrite", "a.onnx", "b.onnx", "--set", "n=2", "--target", "tvm"),
    ("rewrite", "a.onnx", "b.onnx", "--samples", "1", "--require-straight-line"),
    ("simplify", "a.onnx", "b.onnx", "--no-verify"),
    ("convert", "a.onnx", "b.onnx", "--opset", "13"),
    ("convert", "none.onnx", "b.onnx", "--opset", "13"),
    ("inspect", "a.onnx"),
    ("diff", "a.onnx", "a.onnx"),
    ("prove", "ceil.onnx", "abs.onnx", "--no-search"),
    ("verify", "ceil.onnx", "abs.onnx"),
    ("passes",),
    ("rules",),
    ("targets",),
    ("targets", "--check", "a.onnx"),
    ("calibrate",),
)


@pytest.mark.parametrize("words", DOCUMENTS, ids=" ".join)
def test_schemas_of_command_outputs(words, run, models, folder, monkeypatch):
    text = "g (float[2] x, int64 n) => (float[2] y) { y = Loop (n, , x) <body = b"
    text += (
        " (int64 i, bool c, float[2] a) => (bool d, float[2] r) { d = Identity (c) r = Exp (a) }> }"
    )
    write(folder / "a.onnx", text)
    table = cost_table("onnxruntime")
    monkeypatch.setattr(calibration, "calibrate", lambda on_progress: table)
    result = run(*words, "--json")  # which asserts that it is described
    assert json.loads(result.stdout)


def test_others_are_run_by_their_own_tests():
    """`run_here` holds each document that any test prints to its schema."""
    others = {"check", "check-certificate", "reduce"}
    assert {*WITH_JSON} - {words[0] for words in DOCUMENTS} == others


def test_a_record_of_a_proof_without_replay():
    record = Record("a", "a.onnx", "b.onnx", "written", outputs=NOT_REPLAYED)
    row = json.dumps({**record.to_dict(), "config": None, "exit": 6})
    assert_described(["rewrite"], row)
