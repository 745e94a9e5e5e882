"""What stands beside a model and is malformed: external data, and what a command is given."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model
from onnx import TensorProto, helper, numpy_helper
from straightline.cli.commands import app
from tables import table
from typer.testing import CliRunner

TEXT = """main (int64 n, float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> {
    y = Loop(n, , x) <body = iteration (int64 i, bool go, float[3] v) => (bool more, float[3] u) {
        more = Identity(go) u = Add(v, w) }> }"""


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def assert_refused(result: Any, code: int, *words: str) -> None:
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr, result.stderr
    assert len(result.stderr) < 10_000


def external(folder: Path, dims: list[int], data_type: int = 1, **entries: str) -> Path:
    """A model whose constant lies in a file of 12 bytes."""
    proto = as_model(TEXT)
    tensor = proto.graph.initializer[0]
    del tensor.float_data[:]
    tensor.data_type, tensor.data_location = data_type, TensorProto.EXTERNAL
    del tensor.dims[:]
    tensor.dims.extend(dims)
    for key, value in {"location": "w.bin", **entries}.items():
        tensor.external_data.add(key=key, value=value)
    (folder / "w.bin").write_bytes(np.ones(3, np.float32).tobytes())
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


CASES: dict[str, tuple[list[int], dict[str, Any], str]] = {
    "nul": ([3], {"location": "w\0.bin"}, "names external data in 'w\\x00.bin'"),
    "negative size": ([-3], {}, "negative dimension"),
    "huge size": ([2**40, 2**40], {}, "which has 12"),
    "huge size of small elements": ([2**62] * 20, {"data_type": 22}, "which has 12"),
    "negative offset": ([3], {"offset": "-4"}, "negative"),
    "negative length": ([3], {"length": "-12"}, "negative"),
    "odd offset": ([3], {"offset": "four"}, "external data of tensor 'w'"),
    "endless offset": ([3], {"offset": "9" * 5000}, "external data of tensor 'w'"),
    "long location": ([3], {"location": "w" * 5000}, "external data"),
    "folder": ([3], {"location": "."}, "outside the model's folder"),
    "strings": ([3], {"data_type": 8}, "cannot be external"),
}


@pytest.mark.parametrize("name", CASES)
def test_external_data(name: str, tmp_path: Path) -> None:
    dims, entries, message = CASES[name]
    path, out = external(tmp_path, dims, **entries), tmp_path / "out.onnx"
    for call in (
        lambda: sl.rewrite(path, values={"n": 1}),
        lambda: sl.convert_version(path, 13),
        lambda: sl.reference.run(path, {"n": np.int64(1), "x": np.ones(3, np.float32)}),
    ):
        with pytest.raises(sl.Error) as caught:
            call()
        assert "\n" not in str(caught.value).partition("the model was not changed")[0]
    for arguments in (
        ["rewrite", path, out, "--set", "n=1"],
        ["convert", path, out, "--opset", 13],
    ):
        result = run(*arguments, "--no-verify")
        # What need not be read is carried over as it is.
        assert result.exit_code in (0, 1), result.stderr
        assert result.stderr.startswith("error: ") == bool(result.exit_code)
    with pytest.raises(sl.Error, match=message.replace("\\", "\\\\").replace("[", "\\[")):
        # A shape is refused at once, the rest where it is read.
        next(iter(sl.ir.load(path).graph.initializers.values())).numpy()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(as_model(TEXT), path)
    return path


def test_values_that_no_number_is_read_from(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert_refused(run("rewrite", model, out, "--set", "n=" + "9" * 5000), 2, "--set n:")
    assert_refused(run("rewrite", model, out, "--set", "n=" + "[" * 100_000), 2, "--set n:")
    assert_refused(run("inspect", model, "--set", "n=-" + "9" * 5000), 2, "--set n:")
    assert_refused(run("inspect", model, "--set", "n=" + "9" * 4000), 1, "input 'n' is int64")
    assert_refused(run("inspect", model, "--set", "n=1e999"), 1, "input 'n' is int64")
    assert_refused(run("inspect", model, "--shape", "x=" + "9" * 5000), 2, "--shape x=")
    assert_refused(run("inspect", model, "--shape", "x=99999999999999999999999"), 1, "input 'x'")
    assert_refused(
        run("inspect", model, "--passes", "unroll-loops{max_trips=" + "9" * 5000 + "}"), 2
    )


def given(folder: Path, tensor: TensorProto) -> Path:
    inputs = folder / "inputs"
    inputs.mkdir()
    iterations = numpy_helper.from_array(np.array(1), "n")
    for number, message in enumerate((iterations, tensor)):
        (inputs / f"input_{number}.pb").write_bytes(message.SerializeToString())
    return inputs


def test_inputs_whose_data_is_elsewhere(model: Path, tmp_path: Path) -> None:
    tensor = TensorProto(data_type=1, dims=[3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="x.bin")
    inputs = given(tmp_path, tensor)
    (inputs / "x.bin").write_bytes(np.ones(3, np.float32).tobytes())
    out = tmp_path / "out.onnx"
    assert run("verify", model, model, "--inputs", inputs).exit_code == 0
    assert run("rewrite", model, out, "--inputs", inputs).exit_code == 0
    (inputs / "x.bin").unlink()
    assert_refused(run("verify", model, model, "--inputs", inputs), 1, "input_1.pb", "external")
    assert_refused(run("rewrite", model, tmp_path / "o", "--inputs", inputs), 1, "input_1.pb")
    with pytest.raises(sl.Error, match="external"):
        sl.verify(model, model, feeds={"n": np.array(1), "x": tensor})


@table(
    TensorProto(data_type=999, dims=[3]),
    TensorProto(data_type=1, dims=[-3], raw_data=b"0" * 12),
    TensorProto(data_type=1, dims=[2**60], raw_data=b"0" * 12),
    TensorProto(data_type=1, dims=[3], raw_data=b"0"),
    TensorProto(dims=[3]),
    TensorProto(data_type=8, dims=[1], string_data=[b"\xff"]),
    ids=["type", "negative", "huge", "short", "undefined", "text"],
)
def test_inputs_that_are_malformed(tensor: TensorProto, model: Path, tmp_path: Path) -> None:
    inputs = given(tmp_path, tensor)
    assert_refused(run("verify", model, model, "--inputs", inputs), 1, "input_1.pb")
    with pytest.raises(sl.Error):
        sl.verify(model, model, feeds={"n": np.array(1), "x": tensor})
    with pytest.raises(sl.Error):
        sl.rewrite(model, values={"x": tensor})


def test_sparse_initializers_that_are_too_large(tmp_path: Path) -> None:
    proto = as_model(TEXT)
    del proto.graph.initializer[:]
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1])
    indices = helper.make_tensor("", TensorProto.INT64, [1], [1])
    for dims in ([2**40, 2**20], [2**62, 2**62]):
        del proto.graph.sparse_initializer[:]
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, dims))
        tensor = next(iter(sl.ir.load(proto).graph.initializers.values()))
        with pytest.raises(sl.Error, match="sparse tensor 'w'"):
            tensor.numpy()
        with pytest.raises(sl.Error):
            sl.reference.run(proto, {"n": np.int64(1), "x": np.ones(3, np.float32)})
