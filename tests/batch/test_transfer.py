from pathlib import Path

import numpy as np
import onnx
import pytest
from straightline import batch
from straightline.batch import BatchError
from straightline.batch.addresses import Address
from tables import table

pytest.importorskip("fsspec")
IN, OUT = Address("memory://transfer/models"), Address("memory://transfer/out")
NAMES = ["a.onnx", "bad.onnx", "deep/w.onnx"]


@pytest.fixture(autouse=True)
def stored_models():
    """Three models, one with its weights beside it, and one that is none; no result."""
    for place in (IN, OUT):
        for name in place.below():
            (place / name).remove()
    for name in ("a.onnx", "deep/w.onnx", "deep/w.weights"):
        (IN / name).put(Path("models", name))
    (IN / "bad.onnx").put(b"no model")
    (IN / ".hidden/x.onnx").put(b"no model")


def run(sources=str(IN), out=str(OUT), **options):
    options.setdefault("backend", "threading")
    records = batch.run(sources, out, jobs=2, verify=False, **options)
    return {record.name: record for record in records}


def test_a_run_and_a_resume():
    records = run()
    assert list(records) == NAMES
    assert {name: record.status for name, record in records.items()} == {
        "a.onnx": "written",
        "bad.onnx": "failed",
        "deep/w.onnx": "written",
    }
    assert records["bad.onnx"].messages[0].startswith(f"'{IN}/bad.onnx' is not an ONNX model")
    assert records["a.onnx"].target == f"{OUT}/a.onnx"
    results = [name for name in OUT.below() if not name.startswith(".straightline")]
    assert results == ["a.onnx", "deep/w.onnx", "deep/w.onnx.data"]
    (OUT / "a.onnx").fetch(Path("near/a.onnx"))
    assert "Loop" not in [node.op_type for node in onnx.load("near/a.onnx").graph.node]
    for name in ("w.onnx", "w.onnx.data"):
        (OUT / "deep" / name).fetch(Path("near", name))
    (tensor,) = onnx.load("near/w.onnx").graph.initializer
    assert onnx.numpy_helper.to_array(tensor).tolist() == [0, 1, 2, 3]
    again = run(resume=True)
    assert [record.status for record in again.values()] == ["skipped", "failed", "skipped"]
    (IN / "deep/w.weights").put(np.arange(4, 8, dtype=np.float32).tobytes())
    (OUT / "a.onnx").remove()
    again = run(resume=True)
    assert [record.status for record in again.values()] == ["written", "failed", "written"]


def test_from_here_to_storage_and_back():
    records = run("models/deep", f"{OUT}/mine")
    assert {record.status for record in records.values()} == {"written"}
    records = run(f"{OUT}/mine/*.onnx", "back")
    assert list(records) == ["c.onnx", "w.onnx"]
    onnx.checker.check_model("back/w.onnx", full_check=True)
    assert run(f"{OUT}/mine/c.onnx", "one")["c.onnx"].ok


def test_files_of_others_stay():
    (OUT / "a.onnx").put(b"precious")
    (OUT / "deep/w.onnx.data").put(b"precious")
    for _ in range(2):
        records = run()
        assert "the file there is not an ONNX model" in records["a.onnx"].messages[0]
        assert f"would overwrite '{OUT}/deep/w.onnx.data'" in records["deep/w.onnx"].messages[0]
    assert (OUT / "a.onnx").read() == (OUT / "deep/w.onnx.data").read() == b"precious"
    assert run(force=True)["deep/w.onnx"].ok


def test_weights_that_are_missing_are_told():
    (IN / "deep/w.weights").remove()
    record = run()["deep/w.onnx"]
    assert not record.ok and f"{IN}/deep/w.weights" in record.messages[0]


@table(
    (str(IN), str(IN), {}, "would overwrite the model"),
    (f"{IN}/none/*.onnx", str(OUT), {}, "no file matches"),
    (f"{OUT}/none", str(OUT), {}, r"there is no model \('\*.onnx'\) below"),
    ([f"{IN}/a.onnx", "models/a.onnx"], str(OUT), {}, "would both be"),
    (str(IN), "out", {"backend": "loky"}, "only one process has"),
    (str(IN), "out", {"link_data": True}, "data cannot be linked"),
)
def test_impossible_requests_are_refused_before_the_work(sources, out, options, message):
    with pytest.raises(BatchError, match=message):
        run(sources, out, **options)
    assert not OUT.below()


def test_a_larger_file_than_allowed_is_not_fetched():
    assert "is larger than 10 bytes" in run(max_bytes=10)["a.onnx"].messages[0]
