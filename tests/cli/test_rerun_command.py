import json
import shlex
from pathlib import Path

import onnx
import pytest
from commands import succeeded
from harness import as_model
from straightline.cli.commands import app
from typer.testing import CliRunner


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    text = """g (float[2] x, float[N] w, int64 n, bool q) => (float[2] y) {
            z = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] r) {
                d = Identity (c)  s = Sin (a)  r = Exp (s) }>
            y = If (q) <then_branch = t () => (float[2] s) { s = Neg (z) },
                        else_branch = e () => (float[2] u) { u = Abs (z) }> }"""
    onnx.save(as_model(text), folder / "my model.onnx")
    return folder


def commands(*arguments: str) -> list[list[str]]:
    """The commands that are offered, as a shell reads them."""
    result = succeeded(CliRunner().invoke(app, list(arguments), prog_name="straightline"))
    lines = [line.strip() for line in result.stdout.splitlines()]
    return [shlex.split(line) for line in lines if line.startswith("straightline ")]


def test_a_pasted_command_decides_what_it_says(folder: Path) -> None:
    first = commands("rewrite", "my model.onnx", "out.onnx", "--samples", "2", "--force")
    assert first == [
        ["straightline", "rewrite", "my model.onnx", "out.onnx", "--force", "--samples", "2", *more]
        for more in (["--set", "n=4"], ["--set", "q=true"], ["--set", "n=4", "--set", "q=true"])
    ]
    assert commands(*first[2][1:]) == []
    ((*words, option, value),) = commands(*first[0][1:])
    assert sorted(words) == sorted(first[0]) and [option, value] == ["--set", "q=true"]
    assert commands(*[*first[0], "--set", "q=true"][1:]) == []
    nodes = onnx.load(folder / "out.onnx").graph.node
    assert {node.op_type for node in nodes} == {"Sin", "Exp", "Neg"}


def test_inspect_offers_itself() -> None:
    found = commands("inspect", "my model.onnx", "--shape", "w=3")
    assert found[0] == [
        "straightline",
        "inspect",
        "my model.onnx",
        "--shape",
        "w=3",
        "--set",
        "n=4",
    ]


def test_flags_are_given_on() -> None:
    options = "--no-verify", "--max-trips", "9"
    command, *_ = commands("rewrite", "my model.onnx", "o.onnx", *options)
    assert command[4:] == ["--max-trips", "9", "--no-verify", "--set", "n=4"]


def test_json_has_hints() -> None:
    found = CliRunner().invoke(app, ["inspect", "my model.onnx", "--json"])
    hints = json.loads(found.stdout)["hints"]
    assert hints[0] == {
        "options": ["--set", "n=4"],
        "decides": ["Loop 'z'"],
        "stand_ins": ["n"],
        "arguments": {"values": {"n": 4}},
    }


def test_watching_options_are_not_repeated() -> None:
    watching = ("-v", "--print-after", "--print-before=inline-ifs")
    for command in commands("rewrite", "my model.onnx", "out.onnx", *watching):
        assert command[:4] == ["straightline", "rewrite", "my model.onnx", "out.onnx"]
        assert command[4] == "--set"
