"""What commands read before their work, and what must not be overwritten."""

import numpy as np
import onnx
import pytest
import straightline as sl
from straightline.cli.opening import load_passes, opened
from straightline.passes import parse_pipeline
from straightline.passes.manager import plugins

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T, 2] x) => (float[T, 2] y) { y = Abs (x) }"""
PASS = '''
import dataclasses
from typing import ClassVar
from straightline.passes import Pass

@dataclasses.dataclass(frozen=True)
class Idle(Pass):
    """Do nothing."""
    name: ClassVar[str] = "idle-of-this-test"
    def run(self, model, run):
        return False
'''


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


def test_the_model_comes_with_the_files_beside_it(model, tmp_path):
    inputs, kept = tmp_path / "in.npz", tmp_path / "proof.json"
    np.savez(inputs, x=np.zeros((1, 2), np.float32))
    original, read = opened(model, None, tmp_path / "o.onnx", [inputs, None], kept, False)
    assert original.path == model and read == [inputs, kept]


def test_what_is_read_is_no_place_for_the_result(model, tmp_path):
    inputs = tmp_path / "in.npz"
    np.savez(inputs, x=np.zeros((1, 2), np.float32))
    with pytest.raises(sl.SaveError, match="it is read itself"):
        opened(model, None, inputs, [inputs], None, False)
    with pytest.raises(sl.SaveError, match="it is read, or the result itself"):
        opened(model, None, tmp_path / "o.onnx", [], tmp_path / "o.onnx", False)


def test_passes_of_a_file_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setattr(plugins, "_loaded", {})
    load_passes(None)
    file = tmp_path / "mine.py"
    file.write_text(PASS)
    load_passes([file])
    assert str(parse_pipeline("idle-of-this-test")) == "idle-of-this-test"
