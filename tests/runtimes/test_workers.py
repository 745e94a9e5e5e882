import os
import signal
import sys
import threading
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from straightline.ir import Error
from straightline.limits import Limits, governed
from straightline.runtimes.source import Source
from straightline.runtimes.workers import RuntimeFailure, Worker, Workers

RUNTIMES = ["onnxruntime", "reference"]


def source(body, opset=21, **options):
    text = f'<ir_version: 10, opset_import: ["": {opset}]> g {body}'
    return Source(onnx.parser.parse_model(text), **options)


DOUBLE = "(float[N] x) => (float[N] y) { y = Add(x, x) }"
ENDLESS = """(float[1] x) => (float[1] y) {
  go = Constant <value_int = 1> ()
  cond = Cast <to = 9> (go)
  y = Loop ("", cond, x) <body = b (int64 i, bool c, float[1] a) => (bool d, float[1] e) {
    d = Identity (c)
    e = Identity (a) }>
}"""


@pytest.fixture(scope="module")
def workers():
    with Workers() as shared:
        yield shared


@pytest.fixture(params=RUNTIMES)
def worker(request, workers):
    return workers.get(request.param, timeout=60)


def test_the_outputs_come_back_in_order(worker):
    model = source("(float[N] x) => (float[N] b, float[N] a) { a = Add(x, x) b = Neg(x) }")
    b, a = worker.run(model, {"x": np.float32([1, 2])})
    assert (b.tolist(), a.tolist()) == ([-1, -2], [2, 4])


def test_sequences_optionals_and_strings_pass(worker):
    model = source(
        "(seq(float[K]) s, optional(float[2]) o, string[2] t)"
        " => (seq(float[K]) s2, bool has, string[2] t2)"
        " { s2 = Identity(s) has = OptionalHasElement(o) t2 = Identity(t) }"
    )
    texts = np.array(["a", "ü"], object)
    feeds = {"s": [np.float32([1]), np.float32([2, 3])], "o": None, "t": texts}
    s, has, t = worker.run(model, feeds)
    assert [element.tolist() for element in s] == [[1], [2, 3]]
    assert not has
    assert t.tolist() == ["a", "ü"]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2fnuz"])
def test_types_that_numpy_lacks_pass(worker, name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    onnx_name = name.replace("_", "")
    model = source(f"({onnx_name}[2] x) => ({onnx_name}[2] y) {{ y = Identity(x) }}")
    value = np.array([0.5, -2]).astype(dtype)
    (found,) = worker.run(model, {"x": value})
    assert found.dtype == dtype
    assert found.tolist() == value.tolist()


def test_four_bit_integers_pass(worker):
    model = source(
        "(int4[3] x, float[1] s) => (int4[3] y, float[3] z)"
        " { z = DequantizeLinear(x, s) zero = Cast<to = 22>(s) y = QuantizeLinear(z, s, zero) }"
    )
    value = np.array([-8, 7, 3]).astype(ml_dtypes.int4)
    y, z = worker.run(model, {"x": value, "s": np.float32([1])})
    assert z.tolist() == [-8, 7, 3]
    assert y.dtype == ml_dtypes.int4


def test_a_wrong_value_fails_and_the_worker_goes_on(worker):
    model = source("(float[4] x, int64[2] s) => (float[A,B] y) { y = Reshape(x, s) }")
    x = np.zeros(4, np.float32)
    with pytest.raises(RuntimeFailure) as caught:
        worker.run(model, {"x": x, "s": np.int64([3, 3])})
    assert caught.value.reason == "failed"
    assert isinstance(caught.value, Error)
    assert "\n" not in str(caught.value)
    assert worker.run(model, {"x": x, "s": np.int64([2, 2])})[0].shape == (2, 2)


def test_an_unknown_operator_is_unsupported(worker):
    model = source("(float[N] x) => (float[N] y) { y = nowhere.Foo(x) }")
    model.proto.opset_import.add(domain="nowhere", version=1)
    with pytest.raises(RuntimeFailure) as caught:
        worker.run(model, {"x": np.float32([1])})
    assert caught.value.reason == "unsupported"


def test_a_crash_is_told_with_its_signal_and_the_worker_starts_again(worker):
    model = source(DOUBLE)
    worker.run(model, {"x": np.float32([1])})
    os.kill(worker._process._process.pid, signal.SIGSEGV)
    with pytest.raises(RuntimeFailure, match="crashed: SIGSEGV") as caught:
        worker.run(model, {"x": np.float32([1])})
    assert caught.value.reason == "crashed"
    assert worker.run(model, {"x": np.float32([3])})[0].tolist() == [6]


def test_an_endless_loop_is_ended(workers):
    worker = workers.get("onnxruntime", timeout=1)
    with pytest.raises(RuntimeFailure, match="no answer within 1 s") as caught:
        worker.run(source(ENDLESS), {"x": np.float32([1])})
    assert caught.value.reason == "timed out"
    worker.timeout = 60
    assert worker.run(source(DOUBLE), {"x": np.float32([3])})[0].tolist() == [6]


def test_ctrl_c_ends_the_child():
    worker = Worker("onnxruntime", timeout=60)
    worker.run(source(DOUBLE), {"x": np.float32([1])})
    child = worker._process._process
    # Whoever starts the tests in the background of a shell has the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.run(source(ENDLESS), {"x": np.float32([1])})
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.poll() is not None


def test_external_data_is_found_beside_a_path_or_in_the_folder_given(worker, tmp_path):
    text = "(float[256] x) => (float[256] y) { y = Add(x, w) }"
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {text}')
    weights = onnx.numpy_helper.from_array(np.arange(256, dtype=np.float32), "w")
    proto.graph.initializer.append(weights)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    light = onnx.load(path, load_external_data=False)
    assert not light.graph.initializer[0].raw_data
    for model in (Source(path), Source(light, base_dir=tmp_path)):
        (y,) = worker.run(model, {"x": np.zeros(256, np.float32)})
        assert y.tolist() == list(range(256))


def test_a_fresh_load_starts_seeded_draws_again(worker):
    model = source("(float[2] x) => (float[2] y) { y = RandomNormalLike <seed = 3.0> (x) }")
    draws = [worker.run(model, {"x": np.zeros(2, np.float32)}, fresh=True)[0] for _ in range(2)]
    assert draws[0].tolist() == draws[1].tolist()


def test_unseeded_draws_differ_between_loads(worker):
    model = source("(float[2] x) => (float[2] y) { y = RandomNormalLike (x) }")
    draws = [worker.run(model, {"x": np.zeros(2, np.float32)}, fresh=True)[0] for _ in range(2)]
    assert draws[0].tolist() != draws[1].tolist()


def test_forgetting_a_model_frees_it_and_it_can_come_back(worker):
    model = source(DOUBLE)
    for _ in range(2):
        assert worker.run(model, {"x": np.float32([2])})[0].tolist() == [4]
        worker.forget(model)
    assert model.key not in worker._loaded


HUGE = (
    """(int64[1] n) => (float[N] y) { a = ConstantOfShape (n) b = Neg (a) y = Slice (b, n, n) }"""
)


def test_want_of_memory_is_told_from_a_fault(worker):
    with pytest.raises(RuntimeFailure, match="ran out of memory") as caught:
        worker.run(source(HUGE), {"n": np.int64([1 << 46])})
    assert caught.value.reason == "out of memory"
    assert worker.run(source(DOUBLE), {"x": np.float32([3])})[0].tolist() == [6]


def test_a_killed_child_is_taken_for_want_of_memory():
    model = source(DOUBLE)
    with Workers() as workers:
        worker = workers.get("reference", timeout=60)
        worker.ready()
        os.kill(worker._process._process.pid, signal.SIGKILL)
        with pytest.raises(RuntimeFailure, match="ran out of memory: SIGKILL") as caught:
            worker.run(model, {"x": np.float32([1])})
        assert caught.value.reason == "out of memory"


def test_a_model_that_has_no_room_beside_another_is_loaded_alone(worker, monkeypatch):
    one, other = source(DOUBLE), source(DOUBLE)
    for model in (one, other):
        worker.run(model, {"x": np.float32([1])})
    assert {one.key, other.key} <= worker._loaded.keys()
    worker.forget(other)
    monkeypatch.setattr("straightline.runtimes.workers.has_room_for", lambda size: False)
    for model in (other, one, one):
        assert worker.run(model, {"x": np.float32([3])})[0].tolist() == [6]
        assert worker._loaded.keys() == {model.key}


def test_a_model_out_of_memory_is_tried_alone(worker):
    worker.run(source(DOUBLE), {"x": np.float32([1])})
    child = worker._process
    with pytest.raises(RuntimeFailure):
        worker.run(source(HUGE), {"n": np.int64([1 << 46])})
    assert worker._process is not child and not worker._loaded


NARROW = Limits(max_memory=1 << 20)


def test_a_child_takes_no_more_memory_than_it_may(worker):
    heavy, feeds = source(HUGE), {"n": np.int64([1 << 25])}
    message = (
        r"ran out of memory: .*; its limit is 260 MB; raise it with --max-memory \(max_memory="
    )
    with governed(NARROW), pytest.raises(RuntimeFailure, match=message) as caught:
        worker.run(heavy, feeds)
    assert caught.value.reason == "out of memory"
    assert worker.run(heavy, feeds)[0].shape == (0,)


def test_large_inputs_and_weights_are_no_want_of_memory(worker):
    weight = np.ones(1 << 24, np.float32)
    model = source("(float[N] x) => (float[1] z) { y = Add(x, w) z = ReduceMax(y) }", opset=17)
    model.proto.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    with governed(NARROW):
        assert worker.run(model, {"x": np.ones(1 << 24, np.float32)})[0].tolist() == [2]


def test_outputs_that_have_no_room_here_are_not_sent(worker):
    model = source("(int64[1] n) => (float[N] y, float[N] z) { y = ConstantOfShape(n) z = Neg(y) }")
    worker.close()
    with governed(NARROW), pytest.raises(RuntimeFailure, match="outputs need 96 MB") as caught:
        worker.run(model, {"n": np.int64([12 << 20])})
    assert caught.value.reason == "out of memory"


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells it as Linux does")
def test_a_run_gives_back_what_it_has_taken(worker):
    """Else the next model would find it taken."""
    worker.run(source(HUGE), {"n": np.int64([1 << 25])})
    for _ in range(100):  # it answers before it has given all back
        status = Path(f"/proc/{worker._process._process.pid}/status").read_text()
        lines = (line.partition(":") for line in status.splitlines())
        held = {name: text.split()[0] for name, _, text in lines if text.split()}
        if int(held["VmRSS"]) < 200_000:
            break
        time.sleep(0.1)
    assert int(held["VmRSS"]) < 200_000 and int(held["VmHWM"]) > 200_000


@pytest.mark.sample(1)
@pytest.mark.skipif(sys.platform != "linux", reason="the system tells it as Linux does")
@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_a_runtime_has_one_thread_whatever_the_environment_says(monkeypatch, threads):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, threads)
    worker = Worker("reference")
    try:
        worker.ready()
        environment = (
            Path(f"/proc/{worker._process._process.pid}/environ").read_bytes().split(b"\0")
        )
        assert b"OPENBLAS_NUM_THREADS=1" in environment
        assert b"OPENBLAS_NUM_THREADS=4" not in environment
    finally:
        worker.close()
