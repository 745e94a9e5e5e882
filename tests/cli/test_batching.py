import glob
import json
import os
import pty
import select
import signal
import sys
from pathlib import Path

import onnx
import pytest
from commands import run_here
from straightline.batch import Record
from straightline.cli import batching
from straightline.cli.batching import require_summaries, write_summaries
from straightline.ir import SaveError
from tables import table
from texts import HEADER, LOOP


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of models; two processes that stay work on them, whatever the machine has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    for name in ("a", "b", "deep/c"):
        path = tmp_path / "models" / f"{name}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(onnx.parser.parse_model(HEADER + LOOP), path)
    return tmp_path


def run(*arguments, code=0):
    found = run_here(*arguments, environment={"COLUMNS": "200"})
    assert found.exit_code == code, found.stderr
    return found.stdout, found.stderr


def written(folder="out"):
    """The models written so far, while the folder of what is being made comes and goes."""
    found = glob.glob("**/*.onnx", root_dir=folder, recursive=True)  # skips hidden folders
    return sorted(Path(name).as_posix() for name in found)


def test_a_table_and_the_worst_exit_code():
    Path("models/b.onnx").write_bytes(b"no model")
    shown, told = run("rewrite", "models", "-o", "out", "--jobs", "2", code=1)
    assert told == ""
    rows = [line.split() for line in shown.splitlines() if line.strip()]
    assert rows[2][:6] == ["a.onnx", "written", "proved", "4", "to", "3"]
    assert rows[3][:2] == ["b.onnx", "failed"] and "is not an ONNX model" in shown
    assert shown.endswith("3 models: 2 written, 1 failed\n")
    assert written() == ["a.onnx", "deep/c.onnx"]
    shown, _ = run("rewrite", "models", "-o", "out", "--resume", code=1)
    assert shown.endswith("3 models: 2 skipped, 1 failed\n")


def test_lines_of_json():
    shown, _ = run("convert", "models/*.onnx", "-o", "out", "--opset", "18", "--json")
    found = [json.loads(line) for line in shown.splitlines()]
    assert [one["name"] for one in found] == ["a.onnx", "b.onnx"]
    assert {(one["status"], one["exit"], *one["opset"]) for one in found} == {
        ("written", 0, 17, 18)
    }
    assert onnx.load("out/a.onnx").opset_import[0].version == 18


def test_options_reach_every_model():
    options = ("--max-trips", "2", "--passes", "unroll-loops", "--require-straight-line")
    shown, _ = run("rewrite", "models", "-o", "out", *options, "--no-verify", "--json", code=4)
    found = [json.loads(line) for line in shown.splitlines()]
    assert {one["problem"] for one in found} == {"control flow left"}
    assert "max_trips=2" in found[0]["left"][0]["reason"] and written() == []


def test_a_configuration_file_decides_for_each_model():
    text = "max-trips = 2\n[models.'b.onnx'.rewrite]\nmax-trips = 5\n[convert]\nopset = 18\n"
    Path("models/straightline.toml").write_text(text)
    words = ("rewrite", "models", "-o", "out", "--no-verify", "--passes", "unroll-loops", "--json")
    rows = {one["name"]: one for one in map(json.loads, run(*words)[0].splitlines())}
    iterations = {name: row["config"]["options"]["max-trips"] for name, row in rows.items()}
    assert iterations == {"a.onnx": 2, "b.onnx": 5, "deep/c.onnx": 2}
    assert {name for name, row in rows.items() if row["left"]} == {"a.onnx", "deep/c.onnx"}
    again = map(json.loads, run(*words, "--resume")[0].splitlines())
    assert {row["status"] for row in again} == {"skipped"}


@table(
    (["models", "-o", "out.onnx"], "'out.onnx' looks like a model; for one model write IN OUT"),
    (["a", "b", "c"], "3 names: write IN OUT for one model, or -o FOLDER"),
    (["a", "b", "--print-after", "c"], "write the pass behind '=', as in --print-after=PASS"),
    (["a"], "one name: write"),
    (["models/a.onnx", "x.onnx", "--jobs", "2"], "--jobs is for many models"),
    (["models/a.onnx", "x.onnx", "--resume"], "--resume is for many models"),
    (["models/a.onnx", "x.onnx", "--backend", "dask"], "--backend is for many models"),
    (["-", "-o", "out"], "standard input holds one model"),
    (["models", "-o", "out", "--address", "tcp://x:1"], "choose one with --backend"),
    (["models", "-o", "out", "--certificate", "c"], "--certificate applies to one model"),
    (["models", "-o", "out", "--report", "c", "--backend", "dask"], "needs --backend local"),
    (["models", "-o", "out", "-v"], "--verbose applies to one model"),
)
def test_wrong_usage(arguments, message):
    _, told = run("rewrite", *arguments, code=2)
    assert message in told
    assert not Path("out").exists()


def test_one_model_goes_as_before():
    _, told = run("rewrite", "models", "out", code=1)
    assert "'models': it is a folder; for all models in it write -o out" in told
    run("rewrite", "models/a.onnx", "x.onnx")
    assert "Loop" not in [node.op_type for node in onnx.load("x.onnx").graph.node]
    _, told = run("rewrite", "models", "-o", "models", code=1)
    assert "would overwrite the model" in told


@table(
    ([""], 0),
    (["", "control flow left", ""], 4),
    (["control flow left", "not verified", "bad input"], 1),
    (["bad input", "outputs differ", "worker died"], 3),
    (["outputs differ", "fault"], 70),
)
def test_the_worst_exit_code(problems, code):
    assert batching.worst(problems) == code


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminal here")
def test_ctrl_c_in_a_terminal_says_how_to_go_on():
    many = 1000  # more than are done before a busy machine sends the interrupt
    for number in range(many):
        os.link("models/a.onnx", f"models/m{number:03}.onnx")
    child, terminal = pty.fork()
    command = [sys.executable, "-m", "straightline"]
    if not child:
        os.environ["COLUMNS"] = "200"
        # A shell in a terminal does so; tests that run in the background are told to ignore it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(sys.executable, [*command, "rewrite", "models", "-o", "out", "--jobs", "1"])
    shown, sent = b"", False
    while True:
        if select.select([terminal], [], [], 0.005)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
        if not sent and Path("out").exists() and len(written()) > 3:
            os.write(terminal, b"\x03")
            sent = True
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    told = " ".join(shown.decode().split())
    assert "straightline rewrite models --out out --jobs 1 --resume" in told
    assert told.endswith("error: interrupted")
    done = written()
    assert 3 < len(done) < many
    for name in done:
        onnx.checker.check_model(Path("out", name), full_check=True)
    assert not list(Path("out/.straightline").glob("made-*"))


RECORDS = [Record("a.onnx", "in/a.onnx", "out/a.onnx", "written", nodes=(5, 8))]


def require(*paths, force=False):
    require_summaries([Path(path) for path in paths], Path("out"), [Path("models")], force=force)


def test_places_are_checked_before_the_work(folder):
    require("s.html", "s.csv", "out/s.html")
    Path("s.csv").write_text("precious")
    with pytest.raises(SaveError, match="not a summary"):
        require("s.csv")
    require("s.csv", force=True)
    with pytest.raises(SaveError, match="make the folder"):
        require("none/s.html")


def test_a_summary_that_cannot_be_written_is_told_at_the_end(folder):
    Path("s.html").mkdir()
    lost = write_summaries([Path("s.html"), Path("s.csv")], RECORDS, "out", [])
    assert "'s.html': it is a folder" in str(lost)
    assert Path("s.csv").read_text().splitlines()[1].startswith("a.onnx,written,,,5,8,")
    assert write_summaries([Path("s.csv")], RECORDS, "out", []) is None
    assert write_summaries(None, RECORDS, "out", []) is None
