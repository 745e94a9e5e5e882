"""What commands refuse: bad models, missing files, options that do not fit; in one line each."""

import onnx
import pytest
import straightline as sl
from commands import assert_refused, write
from tables import table
from texts import DECIDED_BY_INPUTS, LOOP, NODE


@table(
    ("an undefined name", NODE % "y = Add (x, nowhere)", "nowhere"),
    ("a name defined twice", NODE % "y = Abs (x) y = Neg (x)", "y"),
    ("a cycle", NODE % "y = Add (x, z) z = Neg (y)", "cycle"),
    ("a body of another arity", LOOP.replace("(bool d, float[2] e)", "(bool d)"), "Loop"),
    ("an unknown opset", None, "opset"),
)
def test_a_bad_model_is_refused_in_one_line(fault, text, word, folder, run):
    write(folder / "in.onnx", text or LOOP)
    if text is None:
        model = onnx.load("in.onnx")
        model.opset_import[0].version = 9999
        onnx.save(model, "in.onnx")
    for arguments in (("rewrite", "in.onnx", "out.onnx"), ("inspect", "in.onnx")):
        assert_refused(run(*arguments), 1, word)
    assert list(folder.iterdir()) == [folder / "in.onnx"]
    with pytest.raises(sl.Error, match=word):
        sl.rewrite("in.onnx")


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x08\x07", bytes(range(64))])
def test_bytes_that_are_no_model_are_refused(folder, run, content):
    (folder / "in.onnx").write_bytes(content)
    assert_refused(run("rewrite", "in.onnx", "out.onnx"), 1, "in.onnx")
    assert_refused(run("verify", "in.onnx", "in.onnx"), 1, "in.onnx")
    assert not (folder / "out.onnx").exists()


def test_missing_files_and_folders_are_refused(folder, run):
    write(folder / "in.onnx", LOOP)
    assert_refused(run("rewrite", "none.onnx", "out.onnx"), 1, "none.onnx")
    assert_refused(run("rewrite", "in.onnx", "none/out.onnx"), 1, "make the folder 'none' first")
    assert_refused(run("rewrite", "in.onnx", "in.onnx/out.onnx"), 1, "'in.onnx' is a file, not")
    assert_refused(run("rewrite", folder, "out.onnx"), 1)
    assert_refused(run("rewrite", "in.onnx", folder), 1, "is a folder")
    assert_refused(run("inspect", "none.onnx"), 1, "none.onnx")
    assert list(folder.iterdir()) == [folder / "in.onnx"]


@table(
    (["--set", "q=1"], 1, ["no input 'q'"]),
    (["--set", "n=1.5"], 1, ["input 'n' is int64", "1.5"]),
    (["--set", "n=[1, 2]"], 1, ["input 'n'"]),
    (["--shape", "x=1,5"], 1, ["dimension 1 is 4, not 5"]),
    (["--shape", "x=1"], 1, ["rank 2"]),
    (["--shape", "x=1,4", "--shape", "z=2"], 1, ["'N'", "input 'x'"]),
    (["--set", "n"], 2, ["--set n: write it as in n=3"]),
    (["--set", "n=1", "--set", "n=2"], 2, ["'n' occurs twice"]),
    (["--shape", "x=1,a"], 2, ["--shape x=1,a: write"]),
    (["--passes", "no-such-pass"], 2, ["no pass 'no-such-pass'", "straightline passes"]),
    (["--passes", "unroll-loops{depth=3}"], 2, ["no option 'depth'", "max_trips"]),
    (["--passes", "unroll-loops{max_trips=many}"], 2, ["max_trips", "many"]),
    (["--max-trips", "-1"], 2, ["--max-trips"]),
    (["--runtime", "cuda"], 2, ["--runtime", "cuda"]),
    (["--no-such-option"], 2, ["--no-such-option"]),
)
def test_options_that_do_not_fit_are_refused(options, code, words, folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    assert_refused(run("rewrite", "in.onnx", "out.onnx", *options), code, *words)
    assert list(folder.iterdir()) == [folder / "in.onnx"]


def test_usage_errors(run):
    assert_refused(run("rewrite", "in.onnx"), 2, "OUT")
    assert_refused(run("frobnicate"), 2, "frobnicate")
    bare = run()
    assert (bare.exit_code, bare.stderr) == (2, "")
    assert "rewrite" in bare.stdout


def test_a_fault_of_our_own_is_one_line_too(folder, run, monkeypatch):
    def fail(*_, **__):
        raise TypeError("oops")

    monkeypatch.setattr("straightline.driver.calls.run", fail)
    assert_refused(run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx"), 70, "oops")


def test_an_interrupt_has_the_shells_exit_code(folder, run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("straightline.driver.calls.run", interrupt)
    assert_refused(run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx"), 130, "interrupted")
    assert list(folder.iterdir()) == [folder / "in.onnx"]
