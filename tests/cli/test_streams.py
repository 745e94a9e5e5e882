"""The command line as a process whose streams fail: the exit code tells of the work."""

import json
import os
import subprocess
import sys

import onnx
import pytest
from commands import run_here
from tables import table
from texts import HEADER, LOOP

PROGRAM = f'"{sys.executable}" -m straightline'
LOST = {">&-": "Bad file descriptor", "> /dev/full": "No space left on device", "| head -0": ""}


@pytest.fixture(autouse=True)
def folder(folder):
    for name, text in (("in", LOOP), ("other", LOOP.replace("Add (a, a)", "Mul (a, a)"))):
        onnx.save(onnx.parser.parse_model(HEADER + text), f"{name}.onnx")
    return folder


def shell(line, **environment):
    """The exit code of the command, what it complained of, and what it showed."""
    found = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {PROGRAM} {line}"],
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    return found.returncode, found.stderr.decode(), found.stdout.decode("utf-8", "replace")


def assert_told(errors, kind, reason):
    """One line at most, and none where nobody reads."""
    assert errors.count("\n") == bool(reason), errors
    assert not reason or (errors.startswith(f"{kind}: ") and reason in errors), errors


@pytest.mark.sample(1)
@pytest.mark.parametrize("stream", LOST)
@table(
    "rewrite in.onnx out.onnx --no-verify", "convert in.onnx out.onnx --opset 18 --no-verify --json"
)
def test_a_written_result_survives_a_lost_report(command, stream):
    code, errors, _ = shell(f"{command} {stream}")
    assert code == 0, errors
    assert_told(errors, "warning", LOST[stream])
    assert onnx.load("out.onnx").graph.node


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["passes --json", "rewrite weighted.onnx - -q"])
def test_a_disk_that_fills_in_the_middle_is_an_error(words, unbuffered):
    nodes = "y = Add (x, w)" + "".join(f" y{k} = Neg (y)" for k in range(200))
    outputs = "".join(f", float[3] y{k}" for k in range(200))
    text = f"g (float[3] x) => (float[3] y{outputs}) <float[3] w = {{1, 2, 3}}> {{ {nodes} }}"
    onnx.save(onnx.parser.parse_model(HEADER + text), "weighted.onnx")
    line = f"ulimit -f 1; {PROGRAM} {words} > shown"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    run = subprocess.run(["bash", "-c", line], capture_output=True, check=False, env=environment)
    assert run.returncode == 1 and b"File too large" in run.stderr
    assert os.path.getsize("shown") == 1024


def test_withheld_results_have_their_own_exit_code():
    options = "--passes inline-ifs --require-straight-line"
    code, errors, _ = shell(f"rewrite in.onnx out.onnx {options} > /dev/full")
    assert code == 4
    assert [line.partition(":")[0] for line in errors.splitlines()] == ["warning", "error"]
    assert not os.path.exists("out.onnx")


@pytest.mark.sample(1)
@table(
    ("inspect in.onnx", LOST, 0),
    ("--help", ["| head -0"], 0),
    ("passes --json", ["> /dev/full"], 0),
    ("verify in.onnx in.onnx --runtime reference", ["| head -0"], 0),
    ("verify in.onnx other.onnx --runtime reference", ["> /dev/full"], 3),
)
def test_shown_text_is_the_product(command, streams, wanted):
    for stream in streams:
        code, errors, _ = shell(f"{command} {stream}")
        reason = LOST[stream]
        assert code == (wanted or (1 if reason else 0)), errors
        assert_told(errors, "error", reason)


@pytest.mark.sample(1)
@pytest.mark.parametrize("stream", ["2>&-", "2> /dev/full"])
def test_errors_that_cannot_be_told(stream):
    assert shell(f"inspect none.onnx {stream}") == (1, "", "")


def test_streams_that_are_closed():
    code, _, found = shell("inspect in.onnx --json 2>&- <&-")
    assert (code, json.loads(found)["straight_line"]) == (0, True)
    assert shell("rewrite in.onnx out.onnx --no-verify <&- >&- 2>&-")[0] == 0
    onnx.checker.check_model("out.onnx", full_check=True)


@pytest.mark.sample(1)
@table(
    ("verify in.onnx in.onnx", 0),
    ("verify in.onnx other.onnx", 3),
    ("verify in.onnx none.onnx", 1),
    ("inspect in.onnx --json", 0),
    ("convert in.onnx - --opset 18", 1),
)
def test_the_exit_code_answers_without_streams(command, code):
    assert shell(f"{command} <&- >&- 2>&-")[0] == code


@pytest.mark.sample(1)
@table(
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)
def test_unencodable_text_is_replaced(environment):
    model = onnx.load("in.onnx")
    model.graph.node[1].name = "große Schleife 大\x1b[2J"
    onnx.save(model, "größe.onnx")
    code, errors, found = shell(
        "rewrite größe.onnx öut.onnx --no-verify", COLUMNS="200", **environment
    )
    assert (code, errors) == (0, "")
    assert os.path.exists("öut.onnx")
    assert r"gro\xdfe Schleife \u5927\x1b[2J" in found
    assert "ut.onnx: " in found
    assert found.isascii()


def test_names_that_are_no_text():
    os.rename("in.onnx", b"in\xff.onnx")
    code, errors, found = shell(r"rewrite $'in\xff.onnx' $'out\xff.onnx' --samples 1")
    assert (code, errors) == (0, "")
    assert r"out\udcff.onnx: " in found
    assert "onnxruntime, verified" in found
    assert os.path.exists(b"out\xff.onnx")
    result = run_here("rewrite", "in\udcff.onnx", "out\udcff.onnx", "--json", "--no-verify")
    assert (result.exit_code, json.loads(result.stdout)["written"]) == (0, "out\udcff.onnx")
    result = run_here("inspect", "no\udcff\x1b[2J\r\nerror: x.onnx")
    message = "error: there is no file 'no\\udcff\\x1b[2J\\r\\nerror: x.onnx'\n"
    assert (result.exit_code, result.stderr) == (1, message)
