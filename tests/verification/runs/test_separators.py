import numpy as np
import onnx
import pytest
from straightline.verification.runs.separators import Separators, id_ranges
from verified import model


def test_constants_of_bodies_functions_and_attributes_are_found():
    deep = """<ir_version: 8, opset_import: ["" : 18, "own" : 1, "ai.onnx.ml" : 3]>
    g (float[n] x, bool c) => (float[n] y) <float[2] w = {100, 200}> {
        k = Constant <value_int = 11> ()
        a = If (c) <then_branch = t () => (float[n] p) <float u = {12}> { p = Add (x, u) },
            else_branch = e () => (float[n] q) { q = LeakyRelu <alpha = 13.0> (x) }>
        y = own.f (a) }
    <domain: "own", opset_import: ["" : 18, "ai.onnx.ml" : 3]>
    f (x) => (y) {
        l = Constant <value_strings = ["hello"]> ()
        m = ai.onnx.ml.LabelEncoder <keys_strings = ["cat"], values_int64s = [14]> (l)
        y = Elu <alpha = 15.0> (x) }"""
    found = Separators.of(onnx.parser.parse_model(deep))
    assert {11, 12, 13, 14, 15, 100, 200} <= set(found.numbers)
    assert {"hello", "cat"} <= set(found.words)
    assert found.numbers.index(12) < found.numbers.index(100)  # scalars first


def test_constants_that_cannot_be_read_are_none():
    proto = model("(float[2] x) => (float[2] y) <float[1] w = {5}> { y = Add (x, w) }")
    text = onnx.TensorProto(data_type=onnx.TensorProto.STRING, dims=[1], string_data=[b"\xff"])
    stripped = onnx.TensorProto(data_type=onnx.TensorProto.FLOAT, dims=[2])
    proto.graph.initializer.extend([text, stripped])
    found = Separators.of(proto)
    assert 5 in found.numbers and found.words == ()


def test_weights_and_modes_are_no_thresholds():
    weights = ", ".join(map(str, range(1000, 1080)))
    proto = model(
        f"(float[80] x) => (float[80] y) <float[80] w = {{{weights}}}> {{ y = Add (x, w) }}"
    )
    assert not Separators.of(proto).numbers
    pool = 'y = MaxPool <kernel_shape = [2], auto_pad = "VALID"> (x)'
    assert Separators.of(model(f"(float[1,1,4] x) => (float[1,1,n] y) {{ {pool} }}")).words == ()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integers_fit_their_type_and_surround_constants(dtype):
    found = Separators((42, 1000000)).integers(np.dtype(dtype))
    info = np.iinfo(dtype)
    assert {0, 1, 41, 42, 43, info.max, info.min} <= set(found)
    assert all(info.min <= n <= info.max for n in found)


def test_floats_surround_constants_and_what_others_make_of_them():
    found = set(np.float32(Separators((4, 14)).floats(np.dtype("float32"))).tolist())
    k = np.float32(14)
    assert {14.0, float(np.nextafter(k, k + 1)), -14.0, 3.5, 18.0, 10.0, 0.5, -2.5} <= found
    assert all(np.isfinite(n) for n in found)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_values_have_both_signs(dtype):
    with np.errstate(over="ignore"):
        found = np.array(Separators().extremes(np.dtype(dtype))).astype(dtype)
    most = np.finfo(dtype).max
    assert np.isnan(found).any() and {np.inf, -np.inf, most, -most} <= set(found.tolist())
    assert (np.signbit(found) & (found == 0)).any()


def test_sizes_surround_constants():
    found = Separators((10, 1e9, -6)).sizes()
    assert {9, 10, 11, 5, 6, 7, 1, 2} <= set(found) and found[-1] == 0 and max(found) <= 256


def test_huge_constants_break_nothing():
    found = Separators((1e308, -1e308, 2**63 - 1, 1e-320))
    for dtype in ("float16", "float32", "float64"):
        with np.errstate(all="raise"):
            assert found.floats(np.dtype(dtype))
    assert found.integers(np.dtype("int64")) and found.sizes()


def test_the_range_of_ids_is_that_of_the_smallest_table():
    text = """(int64[n] x, int64 k, float[n, 3] z) => (float[n, 1] y, float[n, 3] u)
    <float[9, 1] w = {0, 1, 2, 3, 4, 5, 6, 7, 8}, int64 o = {1}> {
        s = Sub (x, o) y = Gather (w, s) u = CumSum (z, k) }"""
    assert id_ranges(model(text)) == {"x": 9, "k": 2}
