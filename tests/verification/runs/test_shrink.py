import ml_dtypes
import numpy as np
import onnx
from harness import as_model
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from straightline.reference.signature import Signature
from straightline.verification.runs.shrink import shrunk
from tables import table


def signature(inputs):
    return Signature.of(as_model(f" g ({inputs}) => () {{ }}"))


def smallest(inputs, feeds, is_telling, after=None, **options):
    before = signature(inputs)
    assert is_telling(feeds)
    result = shrunk(feeds, is_telling, before, signature(after) if after else before, **options)
    assert is_telling(result)
    return result


def test_sizes_stay_at_least_as_large_as_is_assumed():
    feeds = {"x": np.ones((9, 9), np.float32)}
    result = smallest("float[n, m] x", feeds, lambda f: True, minima={"n": 4})
    assert result["x"].shape == (4, 1)


def test_sizes_of_one_name_shrink_together():
    feeds = {"x": np.ones((5, 3), np.float32), "b": np.arange(5.0)}
    result = smallest("float[n, 3] x, double[n] b", feeds, lambda f: 3 in f["b"])
    assert result["x"].shape == (1, 3) and result["b"].tolist() == [3]


def test_sizes_that_the_rewrite_fixes_stay():
    feeds = {"x": np.ones((4, 6), np.float32), "b": np.ones((4, 6), np.float32)}
    text = "float[n, m] x, float[?, ?] b".replace("?", "k")
    result = smallest(text, feeds, lambda f: True, after="float[4, m] x, float[4, 6] b")
    assert result["x"].shape == (4, 1) and result["b"].shape == (4, 6)


def test_only_what_matters_differs_from_0():
    rng = np.random.default_rng(0)
    feeds = {"x": rng.normal(size=(4, 8)).astype(np.float32)}
    result = smallest("float[4, 8] x", feeds, lambda f: f["x"][2, 5] != 0)
    assert np.argwhere(result["x"]).tolist() == [[2, 5]]
    assert result["x"][2, 5] == 1


@table(
    (np.array(17), lambda v: v > 5, 8),
    (np.array(-9, np.int8), lambda v: v < 0, -1),
    (np.array(200, np.uint8), lambda v: v > 1, 2),
    (np.array(True), lambda v: v.dtype == bool, False),
    (np.array(3.14159, np.float32), lambda v: v > 2.5, 3),
    (np.array(0.37, np.float64), lambda v: 0 < v < 0.5, 0.4),
    (np.array(np.nan, np.float32), np.isnan, np.nan),
    (np.array(7, ml_dtypes.bfloat16), lambda v: v != 0, 1),
    (np.array("word", object), lambda v: v.dtype == object, ""),
)
def test_numbers_become_simple(value, is_telling, expected):
    kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    name = onnx.TensorProto.DataType.Name(kind).lower()
    result = smallest(f"{name} x", {"x": value}, lambda f: bool(is_telling(f["x"])))["x"]
    assert result.dtype == value.dtype
    np.testing.assert_equal(result.item(), expected)


def test_sequences_and_defaults_lose_what_does_not_matter():
    feeds = {"s": [np.ones(2), np.zeros(2), np.ones(2)], "d": np.ones(1, np.float32)}
    before = Signature.of(
        as_model(" g (seq(double[2]) s, float[1] d) => () <float[1] d = {5}> { }")
    )
    result = shrunk(feeds, lambda f: len(f["s"]) > 1, before, before)
    assert len(result["s"]) == 2 and "d" not in result


def test_fixed_inputs_stay():
    feeds = {"x": np.full(3, 9.0), "k": np.array(5)}
    result = smallest("double[n] x, int64 k", feeds, lambda f: True, fixed=["k"])
    assert result["k"] == 5 and result["x"].tolist() == [0]


def test_the_work_is_bounded():
    calls = []
    feeds = {"x": np.ones((64, 64), np.float32)}
    shrunk(feeds, calls.append, *[signature("float[n, m] x")] * 2, most=20)
    assert len(calls) == 20


@given(arrays.arrays(np.float32, (3, 4)), st.integers(0, 11))
def test_a_shrunk_input_is_telling_and_no_larger(value, place):
    def is_telling(feeds):
        return feeds["x"].shape == (3, 4) and bits(feeds["x"])[place] == bits(value)[place]

    def bits(array):
        return array.view(np.uint32).reshape(-1)

    result = smallest("float[3, 4] x", {"x": value}, is_telling)["x"]
    assert np.count_nonzero(result) <= max(np.count_nonzero(value), 0)
