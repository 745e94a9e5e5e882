import json
import shlex

import pytest
from commands import assert_refused

pytestmark = pytest.mark.usefixtures("models")


@pytest.mark.parametrize("names", [("relu", "abs"), ("thirds", "third")])
def test_a_counterexample_reproduces(folder, run, names):
    first, second = (f"{name}.onnx" for name in names)
    result = run("prove", first, second, "--counterexample", "ex")
    assert result.stdout.splitlines()[-1].startswith("the input is in ex, ")
    command = (folder / "ex" / "README.md").read_text().split("```sh\n")[1].split("\n")[0]
    assert run(*shlex.split(command)[1:]).exit_code == 3
    document = run("prove", first, second, "--counterexample", "ex", "--json").stdout
    assert json.loads(document)["counterexample"] == "ex"
    assert json.loads(document)["feeds"]["x"].startswith("float32[1, 3] ")


def test_a_counterexample_with_a_value_that_was_set(folder, run):
    options = ("--set", "k=3.0", "--counterexample", "ex")
    assert run("prove", "scaled.onnx", "double.onnx", *options).exit_code == 3
    command = (folder / "ex" / "README.md").read_text().split("```sh\n")[1].split("\n")[0]
    assert run(*shlex.split(command)[1:]).exit_code == 3


def test_verify_writes_a_counterexample_as_well(folder, run):
    options = ("--counterexample", "ex", "--rtol", "1e-3")
    assert run("verify", "relu.onnx", "abs.onnx", *options).exit_code == 3
    command = (folder / "ex" / "README.md").read_text().split("```sh\n")[1].split("\n")[0]
    assert command.endswith("--rtol 0.001")
    assert run(*shlex.split(command)[1:]).exit_code == 3
    assert run("verify", "relu.onnx", "again.onnx", "--counterexample", "none").exit_code == 0
    assert not (folder / "none").exists()


def test_no_counterexample_without_a_refutation(folder, run):
    result = run("prove", "ceil.onnx", "mirrored.onnx", "--counterexample", "ex")
    assert result.stdout.splitlines()[-1] == "there is no input to write to ex"
    result = run("prove", "relu.onnx", "again.onnx", "--counterexample", "ex")
    assert "ex" not in result.stdout.split() and not (folder / "ex").exists()


@pytest.mark.parametrize("command", ["prove", "verify"])
def test_a_folder_of_others_is_refused_before_the_work(folder, run, command, monkeypatch):
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("mine")
    monkeypatch.setattr("straightline.verification.proof.prove", lambda *_, **__: 1 / 0)
    for place, words in (("mine", "other files"), ("relu.onnx", "not a folder"), ("a/b", "make")):
        result = run(command, "relu.onnx", "abs.onnx", "--counterexample", place)
        assert_refused(result, 1, f"cannot write '{place}'", words)
    assert (folder / "mine" / "notes.txt").read_text() == "mine"
