"""`convert`: what it rewrites on the way, and what it says of what it cannot convert."""

import json

import onnx
from commands import assert_refused, succeeded, write
from straightline.cli.commands import app
from texts import SEQUENCE
from typer.testing import CliRunner


def test_convert_rewrites_what_stands_in_the_way_and_says_so(folder, run):
    write(folder / "in.onnx", SEQUENCE)
    arguments = ["convert", "in.onnx", "out.onnx", "--opset", "10", "--set", "k=1"]
    result = succeeded(CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}))
    told = "lowered, it is element 1, because SequenceAt does not exist in opset 10"
    assert told in result.output
    assert "opset 17 became 10" in result.output
    assert [value.name for value in onnx.load("out.onnx").graph.input] == ["x", "y"]
    arguments = ("--opset", "10", "--set", "k=1", "--json")
    found = json.loads(run("convert", "in.onnx", "out.onnx", *arguments).stdout)
    assert found["opset"] == {"before": 17, "after": 10}
    assert [remark["op_type"] for remark in found["remarks"]] == ["SequenceAt", "SequenceConstruct"]
    assert found["verification"]["status"] == "equal"


def test_convert_names_the_opset_that_is_reached(folder, run):
    write(folder / "in.onnx", SEQUENCE)
    result = run("convert", "in.onnx", "out.onnx", "--opset", "10")
    assert result.exit_code == 1 and not (folder / "out.onnx").exists()
    first, *others = result.stderr.splitlines()
    assert first == (
        "error: 2 nodes cannot be converted from opset 17 to 10; the model was not changed; the"
        " lowest opset that it reaches is 11; blocking the next: SequenceAt, SequenceConstruct"
    )
    assert "decide it with --set k=..." in others[0]
    result = run("convert", "in.onnx", "out.onnx", "--opset", "10", "--set", "k=1", "--no-rewrite")
    assert result.exit_code == 1 and "SequenceAt does not exist" in result.stderr


def test_convert_takes_shapes_and_defaults(folder, run):
    write(
        folder / "in.onnx",
        """g (float[N, 2] x, float[2] p, int64 k) => (float[2] y) <int64 k = {2}> {
            size = Shape <end = 1> (x)
            length = Squeeze (size)
            position = Sub (length, k)
            q = Neg (p)
            s = SequenceConstruct (p, q)
            y = SequenceAt (s, position) }""",
    )
    given = ["--opset", "10", "--shape", "x=3,?", "--freeze-initializers"]
    result = succeeded(run("convert", "in.onnx", "out.onnx", *given))
    for left_out in (given[:4], [*given[:2], given[4]]):
        assert run("convert", "in.onnx", "no.onnx", *left_out).exit_code == 1
    result = run("convert", "in.onnx", "out.onnx", "--opset", "11", "--set", "q=1")
    assert_refused(result, 1, "has no input 'q'")
    assert_refused(run("convert", "in.onnx", "o.onnx", "--opset", "11", "--set", "q"), 2, "--set")
