import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from straightline import ir
from straightline.ir.io.fingerprint import digest_of
from tables import table

TEXT = """<ir_version: 10, opset_import: ["" : 18]>
g (float[N] x, bool c) => (float[N] y) <float[2] w = {1, 2}, string[2] s = {"a", "b"}> {
    k = Constant <value = float[1] {3}> ()
    z = If (c) <
        then_branch = t () => (float[N] r) <float[2] v = {4, 5}> { r = Add (x, v) },
        else_branch = f () => (float[N] q) { q = Mul (x, w) } >
    y = Add (z, k) }"""


def model():
    return onnx.parser.parse_model(TEXT)


def test_equal_models_have_equal_digests():
    assert len(digest_of(model())) == 64
    assert digest_of(model()) == digest_of(model()) == digest_of(model().SerializeToString())


def test_how_elements_are_written_makes_no_difference():
    other = model()
    for tensor in other.graph.initializer:
        if tensor.name == "w":
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), "w"))
    assert digest_of(other) == digest_of(model())


def test_the_place_of_elements_does_not_matter(tmp_path):
    inline = model()
    weight = np.arange(1000, dtype=np.float32)
    inline.graph.initializer.append(numpy_helper.from_array(weight, "big"))
    path = tmp_path / "m.onnx"
    kept = onnx.ModelProto.FromString(inline.SerializeToString())
    onnx.save(kept, path, save_as_external_data=True, size_threshold=100, location="m.bin")
    assert digest_of(path) == digest_of(inline) == digest_of(ir.load(path))
    with (tmp_path / "m.bin").open("r+b") as file:
        file.write(b"\x01")
    assert digest_of(path) != digest_of(inline)
    (tmp_path / "m.bin").unlink()
    with pytest.raises(ir.LoadError, match=r"m\.bin"):
        digest_of(path)


@table(
    ("{1, 2}", "{1, -2}"),
    ('"b"', '"c"'),
    ("{3}", "{4}"),
    ("{4, 5}", "{5, 4}"),
    ("Mul", "Sub"),
    ("float[N] x", "float[M] x"),
    (": 18", ": 19"),
    ("y = Add (z, k)", "y = Add (k, z)"),
    ("float[2] w = {1, 2}", "float[1,2] w = {1, 2}"),
)
def test_different_models_have_different_digests(old, new):
    assert TEXT.count(old) == 1
    assert digest_of(onnx.parser.parse_model(TEXT.replace(old, new))) != digest_of(model())


def test_the_model_is_left_as_it_is():
    given = model()
    digest_of(given)
    assert given == model()


def test_a_model_is_the_same_after_saving_and_loading(tmp_path):
    loaded = ir.load(model())
    ir.save(loaded, tmp_path / "m.onnx")
    assert digest_of(loaded) == digest_of(tmp_path / "m.onnx")
