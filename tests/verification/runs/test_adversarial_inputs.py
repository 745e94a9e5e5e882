import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto
from straightline.verification.runs.adversarial_inputs import (
    KINDS,
    affects,
    make_adversarial,
    perturb,
)

FAR, SCALED, SPECIAL, INFINITE = KINDS
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def one(array, kind):
    return make_adversarial({"x": array}, kind, ["x"], [0, 1])["x"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_distant_values_keep_their_spread(dtype):
    array = np.random.default_rng(0).normal(size=(8, 8)).astype(dtype)
    moved = one(array, FAR).astype(np.float64)
    assert moved.mean() > 20
    assert 0.5 < moved.std() < 2


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_have_magnitudes_of_their_own(dtype):
    sizes = np.abs(one(np.ones((32, 2), dtype), SCALED).astype(np.float64)).max(axis=1)
    assert sizes.max() / sizes.min() >= 1e3
    assert np.isfinite(sizes).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_are_among_ordinary_ones(dtype):
    found = one(np.full(200, 0.5, dtype), SPECIAL).astype(np.float64)
    assert np.isnan(found).any()
    assert {np.inf, -np.inf, 0.5} <= set(found.tolist())
    assert any(0 < abs(v) < float(ml_dtypes.finfo(dtype).tiny) for v in found.tolist())
    assert any(v == 0 and np.signbit(v) for v in found)
    assert (found == 0.5).sum() > 100


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_value_of_one_input_is_infinite(dtype):
    feeds = {"small": np.ones(2, dtype), "large": np.ones((3, 4), dtype), "none": np.ones(0, dtype)}
    for seed, name in enumerate(["large", "small", "none"]):
        found = make_adversarial(feeds, INFINITE, list(feeds), [seed, 0])
        counts = {key: int(np.isinf(array).sum()) for key, array in found.items()}
        assert counts == {**dict.fromkeys(feeds, 0), **({name: 1} if name != "none" else {})}
        assert (found["large"] == 1).sum() >= 11


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_reach_the_ends_of_their_range(dtype):
    found = set(one(np.full(200, 2, dtype), SPECIAL).tolist())
    assert {int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), 2} <= found


@pytest.mark.parametrize("kind", KINDS)
def test_type_shape_and_structure_stay(kind):
    feeds = {
        "a": np.zeros((), np.float32),
        "b": [np.zeros((2, 0), np.float16), None],
        "c": np.array(["x"], object),
        "d": np.array([True]),
        "e": np.zeros(3, np.complex64),
        "f": np.zeros(3, ml_dtypes.float8_e5m2),
        "g": np.zeros(3, ml_dtypes.int4),
        "h": None,
    }
    found = make_adversarial(feeds, kind, list(feeds), [1])
    assert found["a"].shape == () and found["a"].dtype == np.float32
    assert found["b"][0].shape == (2, 0) and found["b"][1] is None
    assert found["h"] is None
    for name in "cdefg":
        assert found[name].dtype == feeds[name].dtype
    for name in "cdfg":
        assert (found[name] == feeds[name]).all()


def test_only_named_inputs_change_and_the_same_seed_changes_alike():
    feeds = {"a": np.ones(4, np.float32), "b": np.ones(4, np.float32)}
    found = [make_adversarial(feeds, FAR, ["a"], [seed]) for seed in (3, 3)]
    assert found[0]["b"] is feeds["b"]
    assert (found[0]["a"] == found[1]["a"]).all()
    assert (feeds["a"] == 1).all()


def test_a_kind_is_known_to_change_a_type_or_not():
    assert affects(FAR, TensorProto.FLOAT) and affects(SPECIAL, TensorProto.BFLOAT16)
    assert affects(SPECIAL, TensorProto.INT32) and not affects(FAR, TensorProto.INT32)
    for elem_type in (TensorProto.STRING, TensorProto.BOOL, TensorProto.UNDEFINED):
        assert not any(affects(kind, elem_type) for kind in KINDS)
    assert not any(affects(kind, TensorProto.FLOAT8E5M2) for kind in KINDS)
    assert not any(affects(kind, TensorProto.INT4) for kind in KINDS)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_nudge_is_one_rounding_and_keeps_what_is_special(dtype):
    most = ml_dtypes.finfo(dtype).max
    array = np.array([1.0, -3.0, 0.0, np.inf, np.nan, most], dtype)
    moved = perturb({"x": array}, 0)["x"]
    with np.errstate(all="ignore"):
        ratio = moved.astype(np.float64)[:2] / array.astype(np.float64)[:2]
    assert (np.abs(ratio - 1) > 0).all() and (
        np.abs(ratio - 1) < 2 * float(ml_dtypes.finfo(dtype).eps)
    ).all()
    assert moved[2] == 0 and np.isinf(moved[3]) and np.isnan(moved[4]) and np.isinf(moved[5])
    integers = np.arange(3)
    assert (perturb({"n": integers}, 0)["n"] == integers).all()
