"""The child process: messages on its streams, and what it answers."""

import io
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from straightline.runtimes._child import (
    _line,
    _Server,
    open_onnxruntime,
    open_reference,
    receive,
    send,
)
from straightline.runtimes.session import ModelData, Unsupported

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
)
X = {"x": np.float32([1, 2])}


def test_messages_come_back_one_after_the_other():
    stream = io.BytesIO()
    for message in (("load", 1, None), {"x": [1, 2]}, b""):
        send(stream, message)
    stream.seek(0)
    assert [receive(stream) for _ in range(3)] == [("load", 1, None), {"x": [1, 2]}, b""]
    with pytest.raises(EOFError):
        receive(stream)


@pytest.mark.parametrize("length", [0, 5, 12])
def test_half_a_message_is_none(length):
    stream = io.BytesIO()
    send(stream, list(range(100)))
    with pytest.raises(EOFError):
        receive(io.BytesIO(stream.getvalue()[:length]))


class Model:
    """What a fake runtime loads: a function."""

    def __init__(self, call):
        self.call = call

    def __call__(self, feeds):
        return self.call(feeds)


def test_models_are_loaded_run_and_dropped():
    server = _Server(lambda model: Model(lambda feeds: [model.path, feeds["x"]]))
    for key, path in enumerate("ab"):
        assert server.answer(("load", key, ModelData(path, None, None))) == ("ok", None)
    assert server.answer(("run", 0, {"x": 1})) == ("ok", ["a", 1])
    assert server.answer(("run", 1, {"x": 2})) == ("ok", ["b", 2])
    assert server.answer(("drop", 0, None)) == ("ok", None)
    assert server.answer(("run", 0, {"x": 1}))[0] == "failed"
    assert server.answer(("drop", 0, None)) == ("ok", None), "once more does no harm"


def test_errors_of_a_runtime_are_answers():
    def fail(error):
        def raising(_):
            raise error

        return raising

    refusing = _Server(fail(ValueError("no\nsuch operator")))
    assert refusing.answer(("load", 0, None)) == ("unsupported", "no such operator")
    for error, status in ((ValueError("bad"), "failed"), (Unsupported("bad"), "unsupported")):
        server = _Server(lambda _, error=error: Model(fail(error)))
        server.answer(("load", 0, None))
        assert server.answer(("run", 0, {})) == (status, "bad")


def test_a_model_that_fails_to_load_again_is_gone():
    models = [Model(lambda _: ["old"])]
    server = _Server(lambda _: models.pop())
    assert server.answer(("load", 0, None))[0] == "ok"
    assert server.answer(("load", 0, None))[0] == "unsupported"
    assert server.answer(("run", 0, {}))[0] == "failed"


def test_errors_are_lines_of_bounded_length():
    assert _line(ValueError("a\n  b")) == "a b"
    assert _line(ValueError()) == "ValueError"
    assert len(_line(ValueError("x" * 1000))) == 603


@pytest.mark.parametrize("opened", [open_reference, open_onnxruntime])
def test_both_runtimes_take_a_path_or_bytes_with_a_folder(opened, tmp_path):
    load = opened()
    proto = onnx.ModelProto()
    proto.CopyFrom(MODEL)
    proto.graph.node[0].CopyFrom(onnx.helper.make_node("Add", ["x", "w"], ["y"]))
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([10, 20]), "w"))
    path = tmp_path / "m.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    light = onnx.load(path, load_external_data=False).SerializeToString()
    for data in (ModelData(str(path), None, None), ModelData(None, light, str(tmp_path))):
        assert load(data)(X)[0].tolist() == [11, 22]


def child(runtime):
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-m", "straightline.runtimes._child", runtime],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_the_process_serves_until_its_stream_is_closed():
    process = child("reference")
    assert receive(process.stdout) == ("ok", None)
    send(process.stdin, ("load", 7, ModelData(None, MODEL.SerializeToString(), None)))
    assert receive(process.stdout) == ("ok", None)
    send(process.stdin, ("run", 7, X))
    status, (y,) = receive(process.stdout)
    assert status == "ok" and y.tolist() == [-1, -2]
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()
