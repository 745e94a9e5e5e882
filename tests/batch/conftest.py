import numpy as np
import onnx
import pytest
from texts import HEADER, LOOP

DATA = "g (float[4] x) => (float[4] y) { y = Add (x, w) }"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a tree of models, one of which has its weights in a file.

    Two processes work on them, whatever the machine has: they stay for the tests that follow.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    for name in ("a", "b", "deep/c", "deep/er/d"):
        path = tmp_path / "models" / f"{name}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(onnx.parser.parse_model(HEADER + LOOP), path)
    model = onnx.parser.parse_model(HEADER + DATA)
    weights = onnx.numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
    model.graph.initializer.append(weights)
    where = {"save_as_external_data": True, "location": "w.weights", "size_threshold": 0}
    onnx.save(model, tmp_path / "models" / "deep" / "w.onnx", **where)
    return tmp_path
