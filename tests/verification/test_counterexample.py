import os
import shlex
import stat

import ml_dtypes
import numpy as np
import onnx
import pytest
import straightline as sl
from proofs import model
from straightline.runtimes.feeds import read_feeds
from straightline.verification.counterexample import Counterexample, place_of
from tables import table

RELU = model("g (float[n] x) => (float[n] y) { y = Relu (x) }")
FEEDS = {"x": np.array([-1, 2], np.float32)}


@pytest.fixture
def example():
    return Counterexample.of(RELU, FEEDS, "they differ")


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_layout_is_that_of_onnx(tmp_path, example):
    example.write(tmp_path / "ex", ("a.onnx", "b.onnx"))
    assert sorted(contents(tmp_path / "ex")) == [
        "README.md",
        "test_data_set_0/input_0.pb",
        "test_data_set_0/output_0.pb",
    ]
    tensor = onnx.TensorProto.FromString((tmp_path / "ex/test_data_set_0/output_0.pb").read_bytes())
    assert onnx.numpy_helper.to_array(tensor).tolist() == [0, 2]
    (feeds,) = read_feeds(tmp_path / "ex", RELU, {})
    assert feeds["x"].tolist() == [-1, 2]
    text = (tmp_path / "ex/README.md").read_text()
    assert "they differ" in text and "`x = float32[2] [-1.0, 2.0]`" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ex"]


@table(({"y": FEEDS["x"]}, "no input 'y'; it has 'x'"), ({}, "no value for input 'x'"))
def test_an_input_must_fit_the_model(feeds, message):
    with pytest.raises(sl.BindingError, match=message):
        Counterexample.of(RELU, feeds, "they differ")


@table(
    ("seq(float[n]) x", [np.ones(2, np.float32), np.zeros(0, np.float32)]),
    ("optional(int64) x", np.array(4)),
    ("optional(float[n]) x", None),
    ("optional(seq(int32)) x", [np.array(1, np.int32)]),
    ("string[n] x", np.array(["a", "ü"], object)),
    ("bfloat16[n] x", np.array([1.5], ml_dtypes.bfloat16)),
    ("float8e4m3fn[n] x", np.array([1.5], ml_dtypes.float8_e4m3fn)),
    ("bool x", np.array(True)),
    ("complex64[n] x", np.array([1j], np.complex64)),
)
def test_every_type_is_read_again(declared, case, tmp_path):
    kind = declared.split(" ")[0]
    identity = model(f"g ({declared}) => ({kind} y) {{ y = Identity (x) }}")
    Counterexample.of(identity, {"x": case}, "").write(tmp_path / "ex")
    (feeds,) = read_feeds(tmp_path / "ex", identity, {})
    np.testing.assert_equal(feeds["x"], case)


def test_an_input_with_a_default_is_written_if_another_one_has_a_value(tmp_path):
    inputs = "float[2] x, float[2] a, float[2] b"
    defaults = "<float[2] a = {1, 2}, float[2] b = {3, 4}>"
    nodes = "{ s = Add (x, a) y = Add (s, b) }"
    three = model(f"g ({inputs}) => (float[2] y) {defaults} {nodes}")
    x = np.zeros(2, np.float32)
    Counterexample.of(three, {"x": x, "b": x + 7}, "").write(tmp_path / "some")
    (feeds,) = read_feeds(tmp_path / "some", three, {})
    assert feeds["a"].tolist() == [1, 2] and feeds["b"].tolist() == [7, 7]
    Counterexample.of(three, {"x": x}, "").write(tmp_path / "none")
    (feeds,) = read_feeds(tmp_path / "none", three, {})
    assert list(feeds) == ["x"]


def test_the_command_is_quoted_and_sets_what_was_set(tmp_path, example):
    bound = Counterexample.of(RELU, FEEDS, "", bound=["x"])
    folder = tmp_path / "my folder"
    words = shlex.split(bound.command(folder, ("a b.onnx", "-c.onnx"), ("--rtol", "0")))
    assert words[:4] == ["straightline", "verify", "a b.onnx", "-c.onnx"]
    assert words[-4:] == ["--set", f"x=@{folder}/test_data_set_0/input_0.pb", "--rtol", "0"]


def test_a_model_that_no_runtime_runs_has_no_outputs(tmp_path):
    custom = model("g (float[n] x) => (float[n] y) { y = local.Unknown (x) }")
    Counterexample.of(custom, FEEDS, "").write(tmp_path / "ex")
    assert "test_data_set_0/output_0.pb" not in contents(tmp_path / "ex")


def test_an_earlier_one_is_replaced(tmp_path, example):
    folder = tmp_path / "ex"
    folder.mkdir()
    Counterexample.of(RELU, {"x": np.zeros(9, np.float32)}, "long ago").write(folder)
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    example.write(folder)
    (feeds,) = read_feeds(folder, RELU, {})
    assert feeds["x"].size == 2 and "long ago" not in (folder / "README.md").read_text()
    assert stat.S_IMODE(os.stat(folder).st_mode) == mode
    assert [p.name for p in tmp_path.iterdir()] == ["ex"]


@pytest.mark.parametrize("name", ["notes.txt", "README.md", "test_data_set_0/more.txt"])
def test_other_files_are_not_lost(tmp_path, example, name):
    folder = tmp_path / "ex"
    example.write(folder)
    (folder / name).write_text("mine")
    before = contents(folder)
    with pytest.raises(sl.SaveError, match="a folder with other files is there"):
        example.write(folder)
    assert contents(folder) == before
    example.write(folder, force=True)
    assert (folder / "README.md").read_text().startswith("# Counterexample")
    if name == "notes.txt":
        assert (folder / name).read_text() == "mine"


def test_a_failure_leaves_what_was_there(tmp_path, example, monkeypatch):
    folder = tmp_path / "ex"
    example.write(folder)
    before = contents(folder)
    real = os.replace

    moves = []

    def replace(source, target):
        moves.append(source)
        if len(moves) == 4:
            raise OSError("disk full")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(sl.SaveError, match="disk full"):
        Counterexample.of(RELU, {"x": np.zeros(9, np.float32)}, "new").write(folder)
    monkeypatch.undo()
    assert contents(folder) == before
    assert [p.name for p in tmp_path.iterdir()] == ["ex"]


@table(("file", "not a folder"), ("none/ex", "make the folder"), ("a\0b", "zero byte"))
def test_impossible_folders_are_refused(name, message, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(sl.SaveError, match=message):
        place_of(tmp_path / name)


def test_a_link_to_a_folder_is_followed(tmp_path, example):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    example.write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real/README.md").exists()
