"""Targets on the command line: what is named, what is written, and how it ends."""

import json

import onnx
import pytest
from commands import succeeded
from straightline.cli.commands import app
from tables import table
from typer.testing import CliRunner

GELU = '<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) { y = Gelu (x) }'
NPU = """about = "a chip"
opsets = [11, 17]
operators = ["Add", "Mul", "Div", "Sqrt", "Erf", "Constant"]
[source]
list = "a list"
version = "1"
date = 2026-01-01
"""


@pytest.fixture(autouse=True)
def folder(folder):
    onnx.save(onnx.parser.parse_model(GELU), "in.onnx")
    (folder / "npu.toml").write_text(NPU)
    (folder / "poor.toml").write_text(NPU.replace('"Erf", ', ""))
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("command", ["rewrite", "convert"])
def test_a_model_is_made_to_fit(command, folder):
    options = [] if command == "rewrite" else ["--no-verify"]
    result = succeeded(run(command, "in.onnx", "out.onnx", "--target-file", "npu.toml", *options))
    assert "opset 20 became 17" in result.output
    assert "npu supports every node, according to its operator list, not tried" in result.output
    written = onnx.load("out.onnx")
    assert {node.op_type for node in written.graph.node} <= {"Add", "Mul", "Div", "Sqrt", "Erf"}
    assert written.opset_import[0].version == 17


def test_unsupported_operators_are_reported_and_can_fail(folder):
    options = ("--target-file", "poor.toml", "--no-verify")
    result = succeeded(run("rewrite", "in.onnx", "out.onnx", *options, "--json"))
    target = json.loads(result.output)["target"]
    assert (target["name"], target["takes_all"]) == ("poor", False)
    assert {"Erf"} == {remark["op_type"] for remark in target["left"]}
    (folder / "out.onnx").unlink()
    result = run("rewrite", "in.onnx", "out.onnx", *options, "--require-target")
    assert result.exit_code == 4
    assert result.stderr == "error: poor does not support 1: Erf 1; nothing was written\n"
    assert not (folder / "out.onnx").exists()


@table(
    (["rewrite", "--target", "onnx2torc"], 2, "did you mean 'onnx2torch'?"),
    (["rewrite", "--target", "tvm", "--target-file", "npu.toml"], 2, "use one of them"),
    (["rewrite", "--require-target"], 2, "name one with --target"),
    (["rewrite", "--target-file", "none.toml"], 1, "cannot read the target 'none.toml'"),
    (["rewrite", "--target-file", "npu.toml", "--opset", "9"], 1, "reads opsets 11 to 17, not"),
    (["convert"], 2, "name a destination: --opset N, or --target NAME"),
)
def test_wrong_use_is_one_line(arguments, code, told, folder):
    command, *options = arguments
    result = run(command, "in.onnx", "out.onnx", *options)
    assert result.exit_code == code, result.output
    assert told in result.stderr and result.stderr.count("\n") == 1
    assert not (folder / "out.onnx").exists()


def test_names_are_completed():
    from straightline.cli.completing import target_names

    assert target_names("onnx") == [
        *("onnx", "onnx2pytorch", "onnx2torch", "onnxruntime", "onnxruntime-web"),
        "onnxruntime-webnn",
    ]


def test_inspect_tells_what_a_rewrite_for_a_target_would_do():
    succeeded(run("inspect", "in.onnx", "--target", "onnxruntime"))
