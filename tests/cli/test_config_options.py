"""Options of a configuration file: which file, and what the command line wins over."""

import json

import numpy as np
import pytest
from commands import assert_refused, write

LOOP = """g (int64 n, int64 m, float[2] x) => (float[2] y) <bool yes = {1}> {
    t = Add (n, m)
    y = Loop (t, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Add (a, a)
    }>
}"""


@pytest.fixture(autouse=True)
def models(folder):
    for name in ("models/a.onnx", "models/deep/b.onnx", "c.onnx"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, LOOP)
    (folder / "models/straightline.toml").write_text("set = { n = 2, m = '@m.npy' }\nstrict = true")
    np.save(folder / "models/m.npy", np.int64(1))


def options(run, *words):
    """The options of the file that a rewrite reports, and the number of nodes that it leaves."""
    result = run("rewrite", *words, "out.onnx", "--json", "--no-verify")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    return document["config"], document["nodes"]["after"]


def test_the_file_beside_the_model_or_above_it(run, monkeypatch, folder):
    given = {"set": {"n": 2, "m": "@m.npy"}, "strict": True}
    expected = {"file": "models/straightline.toml", "options": given}
    assert options(run, "models/a.onnx") == (expected, 3)
    assert options(run, "models/deep/b.onnx") == (expected, 3)
    assert options(run, "c.onnx") == (None, 4)
    assert options(run, "models/a.onnx", "--no-config") == (None, 4)
    assert options(run, "c.onnx", "--config", "models/straightline.toml") == (expected, 3)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")  # above the model, but not above this folder
    assert options(run, "../models/deep/b.onnx") == (None, 4)


def test_the_command_line_wins_name_by_name(run):
    config, nodes = options(run, "models/a.onnx", "--set", "n=5")
    assert config["options"]["set"] == {"m": "@m.npy"} and nodes == 6
    config, _ = options(run, "models/a.onnx", "--set", "n=5", "--set", "m=1")
    assert config["options"] == {"strict": True}


def test_options_that_contradict_the_command_line_are_void(run, folder):
    (folder / "straightline.toml").write_text("selects = true\nprove = true\ntarget = 'tvm'")
    config, _ = options(run, "c.onnx", "--passes", "inline-ifs", "--target", "onnxruntime")
    assert config["options"] == {}


def test_the_log_and_inspect_name_the_file(run):
    logged = run("rewrite", "models/a.onnx", "out.onnx", "-v").stderr.splitlines()[0]
    assert logged.startswith("configuration models/straightline.toml: set = {'n': 2, ")
    document = json.loads(run("inspect", "models/a.onnx", "--json").stdout)
    assert document["config"]["options"] == {"set": {"n": 2, "m": "@m.npy"}}


def test_python_files_run_from_a_named_file_only(run, folder):
    (folder / "models/p.py").write_text("raise SystemExit('ran')")
    (folder / "models/straightline.toml").write_text("load = ['p.py']")
    assert_refused(run("inspect", "models/a.onnx"), 1, "load: this runs Python files")
    result = run("inspect", "models/a.onnx", "--config", "models/straightline.toml")
    assert "ran" in result.stderr + str(result.exception)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--config", "no.toml"], 1, "cannot read the configuration 'no.toml': No such file"),
        (["--config", "models/straigtline.toml"], 1, "did you mean 'models/straightline.toml'?"),
        (["--config", "c.toml", "--no-config"], 2, "--config and --no-config contradict"),
    ],
)
def test_wrong_usage(run, words, code, message):
    assert_refused(run("inspect", "c.onnx", *words), code, message)
