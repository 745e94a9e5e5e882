"""The command line and files: nothing is lost, and everything that is read is read once."""

import os
import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest
from commands import succeeded
from harness import as_model
from memory import growth
from onnx import TensorProto
from straightline.cli.commands import app
from typer.testing import CliRunner
from wrong_passes import Breaking

SIZE = 600
TEXT = """g (float[600] x) => (float[600] y) {
    iterations = Constant <value_int = 3> ()
    y = Loop (iterations, , x) <body = b (int64 i, bool c, float[600] a) => (bool d, float[600] e) {
        d = Identity (c)
        e = Add (a, w) }> }"""
COMMANDS = [("rewrite",), ("convert", "--opset", "18")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model with its data in a folder of its own; the current folder is another one."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    write_model(tmp_path / "home" / "in.onnx", "w.bin")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def write_model(path, location, value=1.0):
    model = as_model(TEXT)
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[SIZE])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    path.write_bytes(model.SerializeToString())
    np.full(SIZE, value, np.float32).tofile(path.parent / location)
    return path


def weight(path):
    return float(onnx.numpy_helper.to_array(onnx.load(path).graph.initializer[0])[-1])


def contents(folder):
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def run(command, *arguments):
    name, *options = command
    return CliRunner().invoke(app, [name, *map(str, arguments), *options])


def assert_refused(folder, command, *arguments, message):
    before = contents(folder)
    result = run(command, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: cannot write ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert contents(folder) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["itself", "link", "hard link"])
def test_the_data_of_the_input_is_not_overwritten(folder, command, kind):
    source, data = folder / "home" / "in.onnx", folder / "home" / "w.bin"
    target = data if kind == "itself" else folder / "work" / "out.onnx"
    if kind == "link":
        target.symlink_to(data)
    elif kind == "hard link":
        target.hardlink_to(data)
    for options in ((), ("--force",), ("--no-verify",)):
        assert_refused(folder, (*command, *options), source, target, message="it is read itself")


@pytest.mark.parametrize("command", COMMANDS)
def test_overwriting_another_file_needs_force(folder, command):
    source = folder / "home" / "in.onnx"
    other = write_model(folder / "work" / "other.onnx", "out.onnx.data", 5.0)
    assert_refused(folder, command, source, "out.onnx", message="its data would overwrite")
    (folder / "work" / "notes.txt").write_text("mine")
    assert_refused(folder, command, source, "notes.txt", message="not an ONNX model")
    assert weight(other) == 5
    for name in ("out.onnx", "notes.txt"):
        succeeded(run((*command, "--force", "--no-verify"), source, name))
        assert weight(name) == 1


def test_an_impossible_write_is_refused_before_the_work(folder, monkeypatch):
    monkeypatch.setattr("straightline.driver.calls.run", lambda *_, **__: pytest.fail("ran"))
    (folder / "work" / "notes.txt").write_text("mine")
    source = folder / "home" / "in.onnx"
    assert_refused(folder, ("rewrite",), source, "notes.txt", message="not an ONNX model")
    assert_refused(folder, ("rewrite",), source, folder / "home" / "w.bin", message="read itself")


@pytest.mark.parametrize("command", COMMANDS)
def test_inputs_to_compare_on_are_not_overwritten(folder, command):
    source = folder / "home" / "in.onnx"
    x = np.ones(SIZE, np.float32)
    np.savez("inputs.npz", x=x)
    (folder / "work" / "set").mkdir()
    for name in ("input_0.pb", "output_0.pb"):
        path = folder / "work" / "set" / name
        path.write_bytes(onnx.numpy_helper.from_array(x).SerializeToString())
    for inputs, target in (
        ("inputs.npz", "inputs.npz"),
        ("set", "set/input_0.pb"),
        ("set", "set/output_0.pb"),
        (".", "set/input_0.pb"),
    ):
        options = (*command, "--inputs", inputs, "--force")
        if inputs == ".":
            os.rename("set", "test_data_set_0")
            target = "test_data_set_0/input_0.pb"
        assert_refused(folder, options, source, target, message="it is read itself")


def test_a_link_to_the_input_in_another_folder(folder):
    source, link = folder / "home" / "in.onnx", folder / "work" / "link.onnx"
    link.symlink_to(source)
    assert_refused(folder, ("rewrite",), source, link, message="a link into another folder")
    assert weight(source) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_the_input_may_be_replaced(folder, command):
    source = folder / "home" / "in.onnx"
    for _ in range(2):
        succeeded(run(command, source, source))
        assert weight(source) == 1
    assert {path.name for path in source.parent.iterdir()} == {"in.onnx", "w.bin"}


def test_the_result_may_be_written_again(folder):
    for _ in range(2):
        assert run(("rewrite",), folder / "home" / "in.onnx", "out.onnx").exit_code == 0
        assert weight("out.onnx") == 1


@pytest.mark.parametrize("target", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/dev/full"])
def test_a_special_file_is_no_destination(folder, target):
    message = "not a regular file"
    assert_refused(folder, ("rewrite",), folder / "home" / "in.onnx", target, message=message)


# What is read


@pytest.fixture
def pipe(folder):
    """A pipe that gives a model without external data, once."""
    model = onnx.load(folder / "home" / "in.onnx")
    os.mkfifo("pipe")
    content = model.SerializeToString()
    writer = threading.Thread(target=lambda: (folder / "work" / "pipe").write_bytes(content))
    writer.start()
    yield "pipe"
    writer.join(timeout=10)
    assert not writer.is_alive()


@pytest.mark.parametrize("command", [*COMMANDS, ("verify",), ("inspect",)])
def test_a_pipe_is_read_once(folder, pipe, command):
    second = {"verify": [folder / "home" / "in.onnx"], "inspect": []}
    result = succeeded(run(command, pipe, *second.get(command[0], ["out.onnx"])))
    assert command[0] == "inspect" or "equal for every input" in result.stdout


def test_a_rewrite_that_differs_is_blamed_on_a_pass_although_the_input_is_a_pipe(
    folder, pipe, monkeypatch
):
    from straightline.passes import PASSES

    monkeypatch.setattr("straightline.passes.manager.registry.PASSES", (*PASSES, Breaking))
    np.savez("x.npz", x=np.full(SIZE, 2, np.float32))
    options = ("rewrite", "--passes", "unroll-loops,breaking", "--inputs", "x.npz")
    result = run(options, pipe, "out.onnx")
    assert result.exit_code == 3
    assert "the pass breaking changed the outputs" in result.stderr


def test_the_shell_can_make_the_pipe(folder):
    program = f'"{sys.executable}" -m straightline'
    plain = folder / "work" / "plain.onnx"
    onnx.save(onnx.load(folder / "home" / "in.onnx"), plain)
    for line in (
        f"{program} rewrite <(cat plain.onnx) out.onnx",
        f"cat plain.onnx | {program} inspect /dev/stdin",
        f"{program} verify /dev/stdin <(cat plain.onnx) < plain.onnx",
    ):
        shell = ["bash", "-c", line]
        found = subprocess.run(shell, capture_output=True, text=True, check=False, timeout=120)
        assert (found.returncode, found.stderr) == (0, ""), line
    assert weight("out.onnx") == 1


@pytest.mark.parametrize("command", [*COMMANDS, ("verify",), ("inspect",)])
def test_an_endless_pipe_is_refused(folder, command, monkeypatch):
    monkeypatch.setattr("straightline.ir.file_reader._WRITER_COMES_WITHIN", 0.1)
    os.mkfifo("unwritten")
    rest = [] if command[0] == "inspect" else ["out.onnx"]
    for name, message in (
        ("/dev/zero", "it is neither a file nor a pipe"),
        ("unwritten", "a pipe without a writer"),
    ):
        result = run(command, name, *rest)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert message in result.stderr
    assert os.listdir() == ["unwritten"]


@pytest.mark.parametrize("command", [*COMMANDS, ("verify",), ("inspect",)])
def test_the_size_of_the_input_is_bounded(folder, command):
    source = folder / "home" / "in.onnx"
    rest = [] if command[0] == "inspect" else [source if command[0] == "verify" else "out.onnx"]
    result = run((*command, "--max-input-size", "100"), source, *rest)
    assert result.exit_code == 1
    assert "larger than 100 bytes" in result.stderr
    assert run((*command, "--max-input-size", "1K"), source, *rest).exit_code == 0


@pytest.mark.parametrize("size", ["", "many", "-1", "1.5G", "1T", "٣"])
def test_sizes_that_are_none(folder, size):
    result = run(("inspect", "--max-input-size", size), folder / "home" / "in.onnx")
    assert result.exit_code == 2
    assert "500M" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_data_is_shared_where_that_is_asked_for(folder, command):
    source, data = folder / "home" / "in.onnx", folder / "home" / "w.bin"
    succeeded(run(command, source, "out.onnx", "--link-data", "hard"))
    assert os.path.samefile("out.onnx.data", data)
    succeeded(run(command, source, folder / "out.onnx", "--link-data", "reference"))
    proto = onnx.load(folder / "out.onnx", load_external_data=False)
    assert proto.graph.initializer[0].external_data[0].value == "home/w.bin"
    assert not (folder / "out.onnx.data").exists()
    before = contents(folder)
    refused = run(command, source, "other.onnx", "--link-data", "reference")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "outside its folder" in refused.stderr and refused.stderr.count("\n") == 1
    refused = run(command, source, "-", "--link-data", "hard")
    assert refused.exit_code == 2 and "--link-data needs a file" in refused.stderr
    refused = run(command, source, "-o", "many", "--link-data", "reference")
    assert refused.exit_code == 2 and "applies to one model" in refused.stderr
    assert contents(folder) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_weights_cost_neither_memory_nor_room(folder, command):
    """Half a GB of weights, all holes, is rewritten or converted, proved and written."""
    source, size = folder / "home" / "in.onnx", 512 << 20
    os.truncate(folder / "home" / "w.bin", size)
    proto = onnx.load(source, load_external_data=False)
    for place in range(4):
        weight = proto.graph.initializer.add(name=f"w{place}", data_type=2, dims=[size >> 2])
        weight.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "w.bin"), ("offset", place * (size >> 2))):
            weight.external_data.add(key=key, value=str(value))
        proto.graph.node.add(op_type="Gather", input=[weight.name, "i"]).output.append(f"y{place}")
        value = onnx.helper.make_tensor_value_info(f"y{place}", 2, [1])
        proto.graph.output.append(value)
    proto.graph.input.append(onnx.helper.make_tensor_value_info("i", TensorProto.INT64, [1]))
    source.write_bytes(proto.SerializeToString())
    run(command, source, "warm.onnx", "--link-data", "hard")  # what is imported counts, too
    with growth() as grown:
        done = run(command, source, "out.onnx")
    assert done.exit_code == 0 and "proved" in done.output, done.output
    assert grown.peak < 32 << 20
    written = os.stat("out.onnx.data")
    assert written.st_size >= size
    if os.stat(folder / "home" / "w.bin").st_blocks < 1 << 10:
        assert written.st_blocks < 1 << 10
