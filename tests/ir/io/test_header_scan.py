import numpy as np
import onnx
import pytest
from memory import growth
from onnx import numpy_helper
from straightline import ir
from straightline.ir import LoadError
from straightline.ir.io import header_scan
from straightline.ir.io.header_scan import skim

TEXT = """<ir_version: 10, opset_import: ["": 21], producer_name: "me">
g (bool c, float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}, int64[2] n = {4, 5}> {
    s = Add (x, w)
    y = If (c) <
        then_branch = t () => (float[3] p) <float[3] v = {7, 8, 9}> { p = Add (s, v) },
        else_branch = e () => (float[3] q) { q = Neg (s) } > }"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(header_scan, "_LEAST_BYTES", 1)
    model = onnx.parser.parse_model(TEXT)
    for name in ("a", "b"):
        model.graph.initializer.append(numpy_helper.from_array(np.ones(900, np.float32), name))
    external = model.graph.initializer.add(name="far", data_type=1, dims=[5])
    external.data_location = onnx.TensorProto.EXTERNAL
    external.external_data.add(key="location", value="w.bin")
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "m.onnx"


def test_all_is_there_but_the_elements(path):
    whole = onnx.load(path, load_external_data=False)
    for tensor in whole.graph.initializer:
        for field in ("raw_data", "float_data", "int64_data"):
            tensor.ClearField(field)
    assert skim(path) == whole
    assert len(whole.graph.node[1].attribute[0].g.initializer[0].float_data) == 3


@pytest.mark.parametrize("content", [b"no model at all", b"\x3a\xff\x01", b"\x0b", b"\xff" * 40])
def test_files_that_are_not_models(path, content):
    path.write_bytes(content)
    with pytest.raises(LoadError, match="not an ONNX model"):
        skim(path)


def test_a_file_that_is_cut_short(path):
    content = path.read_bytes()
    for length in range(1, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(LoadError, match="not an ONNX model"):
            skim(path)
            onnx.load(path, load_external_data=False)
            raise LoadError("not an ONNX model: this one may be cut here")


def test_a_large_file_that_is_replaced_is_not_read_into_memory(tmp_path):
    size = 64 << 20
    model = onnx.parser.parse_model(TEXT)
    model.graph.initializer.add(name="a", data_type=2, dims=[size], raw_data=bytes(size))
    target = tmp_path / "m.onnx"
    target.write_bytes(model.SerializeToString())
    small = ir.parse(TEXT)
    with growth() as grown:
        ir.save(small, target)
    assert grown.peak < size // 4
    assert onnx.load(target) == ir.to_proto(small)
