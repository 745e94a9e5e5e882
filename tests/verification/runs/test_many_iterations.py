import numpy as np
import onnx
from straightline.reference.signature import Signature
from straightline.verification.runs.input_generator import Drawer
from straightline.verification.runs.many_iterations import long_running


def drawn(most, bound=None):
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[N] x, int64 n, int8[2] k, float s, int64 plain, string w) => (float[1] out) {
        out = Constant <value_floats = [0.0]> () }"""
    signature = Signature.of(onnx.parser.parse_model(text))
    steering = ["x", "n", "k", "s"]
    return list(
        long_running(Drawer(signature, signature, bound or {}, 0, steering), steering, most)
    )


def test_numbers_and_sizes_go_beyond_and_others_stay_as_they_were():
    found = drawn(300)
    numbers = {(int(f["n"]), f["k"].max()) for f in found}
    assert {
        (301, 127),
        (301, 0),
        (0, 127),
    } <= numbers  # together, and each alone; as the type allows
    assert any(f["x"].shape == (301,) for f in found)
    assert max(int(f["plain"]) for f in found) < 301
    assert len(found) < 60


def test_floats_that_steer_grow_shrink_and_vanish():
    sizes = [abs(float(f["s"])) for f in drawn(3)]
    assert min(sizes) == 0 and 0 < min(s for s in sizes if s) < 1e-4 and max(sizes) > 1e4


def test_a_value_that_is_set_stays():
    for feeds in drawn(3, {"plain": np.array(2)}):
        assert feeds["plain"] == 2


def test_the_same_is_drawn_each_time():
    for one, other in zip(drawn(5), drawn(5), strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)
