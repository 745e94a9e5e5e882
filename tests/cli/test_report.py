import dataclasses
import io
import json
import sys
from pathlib import Path

import onnx
import pytest
from commands import succeeded
from harness import as_model
from straightline.cli import report
from straightline.cli.commands import app
from straightline.display import visible
from straightline.driver.calls import inspect, transform
from straightline.driver.result import remarks_table
from straightline.ir.errors import BindingError
from straightline.passes import Remark
from straightline.verification.mismatch import MismatchError
from straightline.verification.runs.comparison import Difference
from straightline.verification.runs.verdict import OutputDifference, Verdict
from straightline.version_converter import ConversionError
from straightline.version_converter.errors import Failure
from typer.testing import CliRunner

EVIL = "a\x1b[2Jb\rc\x07d\x9be\u202ef\u2066g\x7fh\u2028i\nj\tk\x08l"


def everything_shown() -> None:
    """Each function of the report, with names that mean harm wherever a name can stand."""
    name = EVIL
    model = as_model(
        """g (float[2] x, bool c) => (float[2] y) {
            y = If (c) <
                then_branch = t () => (float[2] r) { r = Relu (x) },
                else_branch = f () => (float[2] s) { s = Neg (x) } > }"""
    )
    model.graph.node[0].name = model.graph.node[0].input[0] = model.graph.input[1].name = name
    outcome = transform(model, verify=False)
    verdict = Verdict(
        "different",
        f"differs in '{name}'",
        (name,),
        (name,),
        (OutputDifference(name, "different", Difference(), name),),
        (OutputDifference(name, "different", Difference(), name),),
        (name,),
    )
    remark = Remark(name, name, name, "rewritten", name)
    mismatch = MismatchError(verdict, name, (remark,))
    converted = transform(model, (), opset=14, verify=False)
    converted = dataclasses.replace(converted, remarks=(remark,), verdict=verdict)
    for as_json in (False, True):
        for written in (None, Path(name)):
            report.show_outcome(outcome, mismatch, written, as_json)
            report.show_outcome(converted, None, written, as_json)
        for result in (verdict, inspect(model)):
            report.show_result(result.to_dict, result.blocks(), as_json)
    report.show([remarks_table([remark], [remark], name)])
    unverified = dataclasses.replace(outcome, verdict=Verdict("not verified", name))
    for each, found in ((converted, mismatch), (unverified, None), (outcome, None)):
        report.show_error(*report.failure_of(each, found))
    for error in (BindingError(name), ConversionError(name, [Failure(name, name, 1, 2, name)])):
        report.show_error(*error.lines())
    report.show_warning(name)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_nothing_steers_the_terminal(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    out, err = io.BytesIO(), io.BytesIO()
    for name, stream in (("stdout", out), ("stderr", err)):
        wrapper = io.TextIOWrapper(stream, encoding=encoding, write_through=True)
        monkeypatch.setattr(sys, name, wrapper)
    everything_shown()
    for stream in (out, err):
        text = stream.getvalue().decode(encoding)
        assert r"a\x1b[2J" in text or r"a\u001b[2J" in text
        assert not {c for c in text if c != "\n" and visible(c) != c}
    lines = err.getvalue().decode(encoding).splitlines()
    assert all(line.startswith(("error: ", "warning: ", "  ")) for line in lines)
    assert sum(line.startswith("  ") for line in lines) == 1


def test_the_progress_display(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with report.progress(EVIL, quiet=False) as told:
        told("rewriting", EVIL, 1, 2)
    assert r"\x1b[2J" in stream.getvalue()
    assert not any(bad in stream.getvalue() for bad in ("\x1b[2J", "\u202e", "\x9b", "\x08"))


# What is left


def remarks(count: int, action: str) -> list[Remark]:
    return [Remark("p", "If", f"{action}/{n}", action, "why") for n in range(count)]  # type: ignore[arg-type]


def test_kept_constructs_are_all_shown(capsys: pytest.CaptureFixture[str]) -> None:
    done, left = remarks(100, "rewritten"), remarks(60, "kept")
    report.show([remarks_table(done, left, "--json")])
    shown_ = capsys.readouterr().out
    assert all(f" kept/{n} " in shown_ for n in range(60))
    assert sum(f" rewritten/{n} " in shown_ for n in range(100)) == 40
    assert "60 more" in shown_


def test_the_same_done_many_times_is_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    done = remarks(1, "rewritten") * 100 + remarks(41, "rewritten")[1:]
    report.show([remarks_table(done, [], "--json")])
    shown_ = capsys.readouterr().out
    assert "why (100 times)" in shown_
    assert "1 more" in shown_


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A model with many Ifs that are decided, and then many that are not."""
    branches = """then_branch = t () => (float[2] r{0}) {{ r{0} = Relu (x) }},
        else_branch = f () => (float[2] s{0}) {{ s{0} = Neg (x) }}"""
    nodes = [f"d{n} = If (yes) <{branches.format(f'd{n}')}>" for n in range(50)]
    nodes += [f"k{n} = If (c) <{branches.format(f'k{n}')}>" for n in range(45)]
    nodes += [f"y = Sum ({', '.join([f'd{n}' for n in range(50)] + [f'k{n}' for n in range(45)])})"]
    signature = "g (float[2] x, bool c) => (float[2] y) <bool yes = {1}>"
    header = '<ir_version: 8, opset_import: ["" : 17]>'
    text = f"{header} {signature} {{ {' '.join(nodes)} }}"
    path = tmp_path / "many.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


@pytest.mark.parametrize("option", ["--no-verify", "--require-straight-line"])
def test_every_construct_that_is_left_is_named(many: Path, option: str) -> None:
    wanted = {f"k{n}" for n in range(45)}
    command = ["rewrite", str(many), str(many.with_name("out.onnx")), option]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == (4 if "straight" in option else 0)
    rows = [line.split() for line in found.stdout.splitlines()]
    assert {row[1] for row in rows if row[:1] == ["If"] and row[2] == "kept"} == wanted
    assert "control flow left: 45" in found.stdout
    as_json = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert {remark["path"] for remark in as_json["left"]} == wanted
    assert len([r for r in as_json["remarks"] if r["action"] == "rewritten"]) == 50


def test_inspection_shows_every_construct(many: Path) -> None:
    found = CliRunner().invoke(app, ["inspect", str(many)])
    rows = [line.split() for line in found.stdout.splitlines()]
    assert len([row for row in rows if row[:1] == ["If"]]) == 95
    assert "45 of 95 stay" in found.stdout


def test_a_corrected_declaration_is_shown(tmp_path: Path) -> None:
    """A declaration that turns out to be false is corrected, and its user is told."""
    model = as_model("""g (float[2,3] x) => (float[6] y) <bool yes = {1}> {
            z = If (yes) <
                then_branch = t () => (float[2,3] r) { r = Relu (x) },
                else_branch = f () => (float[6] s) { flat = Constant <value_ints = [6]> ()
                                                     s = Reshape (x, flat) } >
            y = Neg (z) }""")
    onnx.save(model, tmp_path / "in.onnx")
    arguments = ["rewrite", str(tmp_path / "in.onnx"), str(tmp_path / "out.onnx")]
    result = succeeded(CliRunner().invoke(app, arguments))
    said = "output 'y' was declared as float[6], but is float[2,3]; which is declared now"
    assert said in result.output
    assert CliRunner().invoke(app, [*arguments, "--strict"]).exit_code == 0


def test_a_long_message_loses_its_middle():
    assert report.bounded("short") == "short"
    text = report.bounded("value '" + "x" * 100_000 + "'; write a number")
    assert len(text) < 5000 and text.startswith("value 'x") and text.endswith("; write a number")
