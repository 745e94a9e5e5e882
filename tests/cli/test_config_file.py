import json
from pathlib import Path

import pytest
from commands import assert_refused, succeeded, write
from straightline.cli.config_file import Config, matches, merge
from tables import table
from texts import NODE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def model(folder):
    write(folder / "a.onnx", NODE % "y = Relu (x)")


@table(
    ("max-trip = 3", "max-trip: unknown; did you mean 'max-trips'?"),
    ("[rewrit]", "rewrit: unknown; did you mean 'rewrite'?"),
    ("zzz = 3", "zzz: unknown; there are 'passes', "),
    ("[rewrite]\nmax_trips = 3", "[rewrite] max_trips: unknown; write the option of"),
    ("values = 3", "values: unknown; write the option of the command line, 'set'"),
    ("rules = []", "rules: write it as 'load'"),
    ("no-verify = true", "no-verify: write verify = false"),
    ("force = true", "force: this option belongs to one run; write it on the command line"),
    ("[convert]\npasses = ''", "[convert] passes: this is not an option of the command"),
    ('[models."a b".check]\nopset = -1', '[models."a b".check] opset: -1: write'),
    ("models = 3", "models: write tables, each for a pattern"),
    ("[models]\na = 3", 'a: write a table: [models."a"]'),
    ("rewrite = false", "rewrite: write the options of this command: [rewrite]"),
    ("max-trips = 'x'", 'max-trips: write a whole number, not "x"'),
    ("max-trips = true", "max-trips: write a whole number, not true"),
    ("rtol = 'x'", 'rtol: write a number, not "x"'),
    ("max-memory = 1.5", "max-memory: write a number of bytes, or a text"),
    ("verify = 'no'", 'verify: write true or false, not "no"'),
    ("passes = ['x']", 'passes: write a text, not ["x"]'),
    ("passes = 'unrol-loops'", "did you mean 'unroll-loops' or"),
    ("set = 3", "set: write a table, such as { NAME = ... }, not 3"),
    ("set = {n = 2024-01-01}", "set: 2024-01-01 is a date or a time"),
    ("shape = {x = 3}", 'shape: write a list such as [1, "?", 512], not 3'),
    ("dim = {T = -1}", "dim: T=-1: write a size, as in T=6"),
    ("target = 'tvmm'", "did you mean 'tvm'?"),
    ("load = ['p.py']", "load: this runs Python files; allow it by naming the file: --config"),
    ("x = ", "this is not TOML"),
)
def test_an_error_names_its_place(text, message, folder, run):
    (folder / "straightline.toml").write_text(text)
    assert_refused(run("rewrite", "a.onnx", "b.onnx"), 1, "straightline.toml", message)
    assert not (folder / "b.onnx").exists()


def test_the_file_of_the_documentation_is_one(folder, run):
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    text = page.partition("## straightline.toml")[2].partition("```toml")[2].partition("```")[0]
    (folder / "straightline.toml").write_text(text)
    result = succeeded(run("check", "a.onnx", "--json"))
    (model,) = json.loads(result.stdout)["models"]
    assert model["config"]["options"] == {
        "target": "onnxruntime",
        "max-opset": 17,
        "require-straight-line": True,
    }


@table(
    ("a.onnx", "a.onnx", True),
    ("deep/a.onnx", "a.*", True),
    ("deep/a.onnx", "*/a.onnx", True),
    ("more/deep/a.onnx", "*/a.onnx", False),
    ("more/deep/a.onnx", "**/a.onnx", True),
    ("a.onnx", "**/a.onnx", True),
    ("more/deep/a.onnx", "more/**", True),
    ("deep/a.onnx", "more/**", False),
    ("A.onnx", "a.onnx", False),
)
def test_a_pattern_is_about_the_name_or_the_path(path, pattern, expected):
    assert matches(tuple(path.split("/")), pattern) is expected


def test_a_pattern_of_many_folders_is_matched_in_linear_time():
    # without a set of positions, 40 times ** never ends
    folders = ("d",) * 60
    assert not matches((*folders, "m.onnx"), "**/" * 40 + "z.onnx")
    assert matches((*folders, "z.onnx"), "**/d/" * 12 + "z.onnx")


def test_the_more_special_table_wins(tmp_path):
    table = {
        "set": {"n": 1, "m": 1},
        "rewrite": {"set": {"n": 2}},
        "models": {
            "*.onnx": {"selects": True, "rewrite": {"set": {"k": 3}}},
            "b.onnx": {"passes": "x"},
        },
    }
    config = Config(tmp_path / "straightline.toml", table, ["rewrite", "check"])
    assert config.options("check", None) == {"set": {"n": 1, "m": 1}}
    expected = {"set": {"n": 2, "m": 1, "k": 3}, "selects": True}
    assert config.options("rewrite", tmp_path / "a.onnx") == expected
    assert config.options("check", tmp_path / "b.onnx") == {"set": {"n": 1, "m": 1}, "passes": "x"}


@table(
    ({"passes": "a"}, {"selects": False}, {"passes": "a", "selects": False}),
    ({"passes": "a"}, {"selects": True}, {"selects": True}),
    ({"prove": True}, {"verify": False}, {"verify": False}),
    ({"verify": False}, {"prove": True}, {"prove": True}),
    ({"target": "a"}, {"target-file": "b"}, {"target-file": "b"}),
)
def test_an_option_that_contradicts_a_stronger_one_is_void(options, stronger, result):
    merge(options, stronger)
    assert options == result
