import json
import os
import pty
import subprocess
import sys

import numpy as np
import onnx
import pytest
from commands import run_here
from onnx import numpy_helper
from tables import table
from texts import HEADER, LOOP

COMMAND = [sys.executable, "-m", "straightline"]
DATA = """g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { y = Add (x, w) }"""


@pytest.fixture(autouse=True)
def folder(folder):
    onnx.save(onnx.parser.parse_model(HEADER + LOOP), "in.onnx")
    return folder


def run(*arguments, given=b"", code=0):
    """What a command wrote to its streams, which are those of this process."""
    found = run_here(*arguments, given=given)
    assert found.exit_code == code, found.stderr
    return found.stdout_bytes, found.stderr


def run_alone(*arguments, given):
    """What a command in a process of its own wrote to its streams."""
    found = subprocess.run(
        [*COMMAND, *arguments], input=given, capture_output=True, check=True, timeout=120
    )
    return found.stdout, found.stderr.decode()


def content():
    return (onnx.load("in.onnx")).SerializeToString()


def kinds(model):
    return [node.op_type for node in onnx.load_from_string(model).graph.node]


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", [["rewrite"], ["convert", "--opset", "18"]])
def test_a_model_goes_through_a_pipe(command):
    name, *options = command
    model, told = run_alone(name, "-", "-", *options, given=content())
    onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
    assert "proved" in told and "standard output: " in told
    run(name, "in.onnx", "out.onnx", *options)
    assert onnx.load("out.onnx").SerializeToString() == model
    assert run(name, "-", "-", *options, "--quiet", given=content()) == (model, "")
    assert not os.path.exists("-")


def test_the_output_of_one_command_is_the_input_of_the_next():
    line = "{0} rewrite - - -q < in.onnx | {0} inspect -"
    shell = ["bash", "-c", "set -o pipefail; " + line.format(" ".join(COMMAND))]
    found = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "no control flow\n", "")


def test_verify_and_inspect_read_a_pipe():
    assert b"Loop" in run("inspect", "-", given=content())[0]
    assert b"proved" in run("verify", "-", "in.onnx", given=content())[0]
    assert b"proved" in run("verify", "in.onnx", "-", given=content())[0]
    assert json.loads(run("inspect", "-", "--json", given=content())[0])["model"] == "-"


@table(
    (["verify", "-", "-"], b"x", 2, "cannot both come from standard input"),
    (["rewrite", "in.onnx", "-", "--json"], b"", 2, "cannot both go to standard output"),
    (["rewrite", "-", "-"], b"", 1, "standard input is empty; pipe a model into it"),
    (["inspect", "-"], b"hello, world", 1, "standard input is not an ONNX model"),
    (["inspect", "-", "--max-input-size", "9"], b"x" * 10, 1, "larger than 9 bytes"),
    (["rewrite", "none.onnx", "-"], b"", 1, "there is no file 'none.onnx'"),
)
def test_refused_arguments(arguments, given, code, words):
    out, told = run(*arguments, given=given, code=code)
    assert words in told and told.startswith("error: ") and told.count("\n") == 1
    if "--json" in arguments:
        assert json.loads(out)["exit"] == code
    else:
        assert out == b""


def test_nothing_is_written_where_the_command_fails():
    options = ("--require-straight-line", "--passes", "inline-ifs")
    out, told = run("rewrite", "in.onnx", "-", *options, code=4)
    assert out == b"" and "control flow is left" in told


def save_with_data():
    model = onnx.parser.parse_model(HEADER + DATA)
    big = numpy_helper.from_array(np.arange(4096, dtype=np.float32)[:4], "w")
    model.graph.initializer[0].CopyFrom(big)
    onnx.save(model, "data.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")


def test_external_data_goes_into_the_stream():
    save_with_data()
    model, _ = run("rewrite", "data.onnx", "-")
    (weight,) = onnx.load_from_string(model).graph.initializer
    assert weight.raw_data == np.arange(4, dtype=np.float32).tobytes()


def test_external_data_that_a_stream_cannot_name_is_an_error():
    save_with_data()
    with open("data.onnx", "rb") as stream:
        given = stream.read()
    out, told = run("rewrite", "-", "-", given=given, code=1)
    assert out == b"" and told.startswith("error: ") and told.count("\n") == 1


def in_terminal(*arguments):
    """A command whose standard streams are a terminal: its exit code, and what it showed."""
    parent, child = pty.openpty()
    found = subprocess.run(
        [*COMMAND, *arguments], stdin=child, stdout=child, stderr=subprocess.PIPE, check=False
    )
    os.close(child)
    os.close(parent)
    return found.returncode, found.stderr.decode()


def test_a_terminal_is_neither_written_to_nor_waited_for():
    assert in_terminal("rewrite", "in.onnx", "-") == (
        1,
        "error: cannot write to standard output: it is a terminal; send it to a pipe or a file, or"
        " name one\n",
    )
    code, told = in_terminal("inspect", "-")
    assert code == 1 and "standard input is a terminal; pipe a model into it" in told


@pytest.mark.sample(1)
@pytest.mark.parametrize("stream", ["> /dev/full", "| head -c 0", ">&-"])
def test_a_model_that_cannot_be_delivered_is_an_error(stream):
    line = f"set -o pipefail; {' '.join(COMMAND)} rewrite in.onnx - -q {stream}"
    found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.startswith("error: cannot write to standard output: "), found.stderr
    assert found.stderr.count("\n") == 1


def test_a_file_may_have_that_name(folder):
    run("rewrite", "in.onnx", "./-")
    assert kinds((folder / "-").read_bytes()) == ["Add"] * 3


def test_a_folder_of_that_name_is_no_model(folder):
    (folder / "-").mkdir()
    content = (folder / "in.onnx").read_bytes()
    assert kinds(run("rewrite", "-", "-", given=content)[0]) == ["Add"] * 3


def test_quiet_leaves_warnings_errors_and_json():
    assert run("rewrite", "in.onnx", "out.onnx", "-q") == (b"", "")
    assert run("verify", "in.onnx", "out.onnx", "-q") == (b"", "")
    assert json.loads(run("verify", "in.onnx", "out.onnx", "-q", "--json")[0])["proved"]
    _, told = run("rewrite", "none.onnx", "out.onnx", "-q", code=1)
    assert told == "error: there is no file 'none.onnx'\n"
    onnx.save(
        onnx.parser.parse_model(
            HEADER + "g () => (float[2] y) { y = RandomNormal <shape = [2]> () }"
        ),
        "random.onnx",
    )
    out, told = run("rewrite", "random.onnx", "out.onnx", "-q", "--no-prove")
    assert out == b"" and told.startswith("warning: not verified")


def test_a_value_that_is_read_is_not_overwritten():
    np.save("n.npy", np.int64(3))
    onnx.save(
        onnx.parser.parse_model(HEADER + "g (int64 n) => (int64 y) { y = Neg (n) }"), "n.onnx"
    )
    _, told = run("rewrite", "n.onnx", "n.npy", "--set", "n=@n.npy", "--force", code=1)
    assert "it is read itself" in told
    assert np.load("n.npy") == 3
    run("rewrite", "n.onnx", "out.onnx", "--set", "n=@n.npy")
    assert run("verify", "n.onnx", "out.onnx", "--set", "n=@n.npy")[0].startswith(b"proved")
