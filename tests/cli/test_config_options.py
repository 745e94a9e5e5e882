import json
import os

import numpy as np
import pytest
from commands import assert_refused, succeeded, write
from tables import table


@pytest.fixture(autouse=True)
def models(folder):
    loop = """g (int64 n, int64 m, float[2] x) => (float[2] y) <bool yes = {1}> {
        t = Add (n, m)
        y = Loop (t, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Identity (c)
            e = Add (a, a) }> }"""
    for name in ("models/a.onnx", "models/deep/b.onnx", "c.onnx"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, loop)
    (folder / "models/straightline.toml").write_text("set = { n = 2, m = '@m.npy' }\nstrict = true")
    np.save(folder / "models/m.npy", np.int64(1))


def options(run, *words):
    """The options of the file that a rewrite reports, and the number of nodes that it leaves."""
    result = succeeded(run("rewrite", *words, "out.onnx", "--json", "--no-verify"))
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
    assert logged.startswith('configuration models/straightline.toml: set = {"n": 2, ')
    document = json.loads(run("inspect", "models/a.onnx", "--json").stdout)
    assert document["config"]["options"] == {"set": {"n": 2, "m": "@m.npy"}}


def test_each_file_is_named_once(run, folder):
    assert run("inspect", "models/a.onnx").stderr == "configuration models/straightline.toml\n"
    assert "configuration" not in run("inspect", "c.onnx").stderr
    assert run("inspect", "models/a.onnx", "--json").stderr == ""
    result = run("check", "models", "c.onnx", "--max-opset", "20")
    assert result.stderr == "configuration models/straightline.toml\n"


@pytest.mark.sample(5)
@table(
    "verify = false",
    "prove = false",
    "unproved = 'allow'",
    "rtol = 0.5",
    "atol = 0.5",
    "equality = 'reals'",
    "inputs = 'in.npz'",
    "assume = { x = 'then' }",
    "assume-max = { x = 1 }",
    "dim = { N = '>=1' }",
)
def test_a_weaker_guarantee_needs_a_file_of_the_user(line, run, folder, monkeypatch):
    file = folder / "models/straightline.toml"
    file.write_text(f"set = {{ n = 2, m = 1 }}\n{line}")
    key, place = line.split()[0], "models/straightline.toml"
    ignored = succeeded(run("rewrite", "models/a.onnx", "out.onnx", "--quiet"))
    start = f"warning: configuration {place}: {key} = "
    assert ignored.stderr.startswith(start) and f"--config '{place}'" in ignored.stderr
    document = json.loads(run("rewrite", "models/a.onnx", "out.onnx", "--json").stdout)
    assert document["config"]["options"] == {"set": {"n": 2, "m": 1}}
    warning = f"weakens the guarantee: {key} = "
    named = run("rewrite", "models/a.onnx", "out.onnx", "--quiet", "--config", place)
    assert f"warning: configuration {place} {warning}" in named.stderr
    monkeypatch.chdir(folder / "models")
    assert warning in run("rewrite", "a.onnx", "out.onnx", "--json").stderr
    monkeypatch.chdir(folder / "models/deep")
    result = run("rewrite", "b.onnx", "out.onnx", "--config", "../straightline.toml")
    assert warning in result.stderr


def test_equal_guarantees_need_no_trust(run, folder):
    (folder / "models/straightline.toml").write_text(
        "set = { n = 2, m = 1 }\nverify = true\nequality = 'bits'\nunproved = 'keep'"
    )
    assert run("rewrite", "models/a.onnx", "out.onnx").exit_code == 0


@pytest.mark.parametrize("kind", ["a link", "a folder", "not a regular file"])
def test_only_a_plain_file_is_a_configuration(run, folder, kind):
    place = folder / "models/straightline.toml"
    place.unlink()
    if kind == "a link":
        place.symlink_to("gone.toml")
    elif kind == "a folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    message = f"error: 'models/straightline.toml' is {kind}", "--no-config"
    assert_refused(run("inspect", "models/a.onnx"), 1, *message)
    assert run("inspect", "models/a.onnx", "--no-config").exit_code == 0


def test_python_files_run_from_a_named_file_only(run, folder):
    (folder / "models/p.py").write_text("raise SystemExit('ran')")
    (folder / "models/straightline.toml").write_text("load = ['p.py']")
    assert_refused(run("inspect", "models/a.onnx"), 1, "load: this runs Python files")
    result = run("inspect", "models/a.onnx", "--config", "models/straightline.toml")
    assert "ran" in result.stderr + str(result.exception)


@table(
    (["--config", "no.toml"], 1, "cannot read the configuration 'no.toml': No such file"),
    (["--config", "models/straigtline.toml"], 1, "did you mean 'models/straightline.toml'?"),
    (["--config", "c.toml", "--no-config"], 2, "--config and --no-config contradict"),
)
def test_wrong_usage(words, code, message, run):
    assert_refused(run("inspect", "c.onnx", *words), code, message)
