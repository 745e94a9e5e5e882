import itertools
import tracemalloc

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from straightline.reference.signature import Signature
from straightline.verification.runs.input_generator import Drawer, DrawError

TYPES = [number for number in TensorProto.DataType.values() if number != TensorProto.UNDEFINED]


def signature(inputs, initializers=""):
    return Signature.of(
        onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["": 21]> g ({inputs}) => (float[1] out)'
            f"{initializers} {{ out = Constant<value_floats=[0.0]>() }}"
        )
    )


def drawn(inputs, *, narrowed=None, bound=(), seed=0, count=3, initializers=""):
    before = signature(inputs, initializers)
    after = before if narrowed is None else signature(narrowed, initializers)
    return list(Drawer(before, after, dict(bound), seed).samples(count))


def firsts(*args, **options):
    return [next(sample.candidates) for sample in drawn(*args, **options)]


def test_the_same_seed_draws_the_same():
    one, same, other = (firsts("float[N,K] x, int64[N] i", seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a["x"], b["x"]) for a, b in zip(one, same, strict=True))
    assert any(not np.array_equal(a["x"], b["x"]) for a, b in zip(one, other, strict=True))


def test_a_symbol_has_one_size_in_a_sample_and_one_sample_has_size_1():
    samples = firsts("float[N,3] x, float[N] y, float[M] z", count=6)
    assert all(s["x"].shape == (s["y"].shape[0], 3) for s in samples)
    assert samples[1]["x"].shape[0] == 1
    assert len({s["z"].shape for s in samples}) > 1
    assert any(s["z"].shape != s["y"].shape for s in samples)


@pytest.mark.parametrize("shape", [["N", 5], []])
@pytest.mark.parametrize("data_type", TYPES)
def test_every_element_type_is_drawn(data_type, shape):
    pair = Signature({"x": helper.make_tensor_value_info("x", data_type, shape).type}, {}, ())
    for sample in Drawer(pair, pair, {}, 0).samples(2):
        for feeds in sample.candidates:
            assert isinstance(feeds["x"], np.ndarray)
            assert feeds["x"].dtype == helper.tensor_dtype_to_np_dtype(data_type)
            assert feeds["x"].shape[1:] == tuple(shape[1:])


def test_integers_are_small_and_not_negative_floats_are_both():
    samples = firsts("int64[4,4] i, uint8[4,4] u, float[2] f", count=4)
    integers = np.concatenate([s["i"].ravel() for s in samples])
    assert integers.min() >= 0
    assert integers.max() <= 3
    assert all((s["f"] < 0).any() and (s["f"] > 0).any() for s in samples)


def test_switches_take_both_ways_in_all_combinations():
    samples = firsts("bool a, optional(float[2]) o", count=4)
    ways = {(bool(s["a"]), s["o"] is None) for s in samples}
    assert ways == set(itertools.product([True, False], repeat=2))


def test_candidates_become_tamer():
    (sample,) = drawn("int64[N] i, float[M] x, string[N] s", count=1)
    candidates = list(sample.candidates)
    assert any(c["i"].max() == 0 for c in candidates)
    assert any(c["i"].tolist() == [1] * len(c["i"]) for c in candidates)
    assert any(c["x"].shape == c["i"].shape == (64,) for c in candidates)
    assert any((c["i"] == len(c["x"])).all() for c in candidates)
    assert any("".join(c["s"].tolist()).isdigit() for c in candidates)


def test_an_optional_that_must_be_present_is_so_in_the_end():
    _, sample = drawn("optional(float[2]) o", count=2)
    present = [feeds["o"] is not None for feeds in sample.candidates]
    assert not present[0]
    assert present[-1]


def test_no_candidate_is_huge():
    (sample,) = drawn("float[A,B,C,D,E,F] x", count=1)
    assert max(feeds["x"].size for feeds in sample.candidates) <= 1 << 22


def test_sequences_and_unknown_ranks():
    samples = firsts("seq(float[N,2]) s, float x", count=4)
    assert all(element.shape[1] == 2 for s in samples for element in s["s"])
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
    pair = Signature({"x": info.type}, {}, ())
    ranks = {next(s.candidates)["x"].ndim for s in Drawer(pair, pair, {}, 0).samples(12)}
    assert ranks == {0, 1, 2}


def test_the_rewrites_fixed_shapes_and_bound_values_are_kept():
    text = "float[N,K] x, float[N] y, float[K] z"
    bound = {"z": np.zeros(7, np.float32)}
    for feeds in firsts(text, narrowed="float[5,K] x, float[N] y", bound=bound):
        assert feeds["x"].shape == (5, 7)
        assert feeds["y"].shape == (5,)
        assert feeds["z"] is bound["z"]


def test_defaults_are_overridden_by_other_values_of_the_same_shape():
    initializers = "<float[3] w = {1, 0, 3}, int64 n = {2}>"
    samples = drawn("float[3] w, int64 n, float[2] x", initializers=initializers, count=2)
    plain, overriding = samples[:2], samples[2:]
    assert all("w" not in next(s.candidates) for s in plain)
    assert not any(s.essential for s in samples)
    floats, integers = (next(s.candidates) for s in overriding)
    assert (floats["w"] != np.float32([1, 0, 3])).all()
    assert floats["w"].dtype == np.float32
    assert int(integers["n"]) == 1
    assert integers["n"].shape == ()


@pytest.mark.parametrize("data_type", TYPES)
def test_a_default_of_every_type_is_replaced_by_something_else(data_type):
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    default = np.array(["a", ""], object) if dtype.kind == "O" else np.ones(2).astype(dtype)
    pair = Signature({}, {"w": onnx.numpy_helper.from_array(default, "w")}, ())
    *_, sample = Drawer(pair, pair, {}, 0).samples(1)
    value = next(sample.candidates)["w"]
    assert value.dtype == default.dtype
    assert (value != default).all()


def test_undrawable_inputs_are_refused_by_name():
    info = onnx.TypeProto()
    info.map_type.key_type = TensorProto.INT64
    info.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    pair = Signature({"m": info}, {}, ())
    with pytest.raises(DrawError, match=r"input 'm' of type .* cannot be drawn; give inputs with"):
        Drawer(pair, pair, {}, 0)


def test_narrow_integers_stay_in_their_range():
    samples = firsts("int4[50] a", count=2)
    assert all(s["a"].dtype == ml_dtypes.int4 for s in samples)


def test_fixed_sizes_count_when_open_ones_grow():
    sample = drawn("float[N, 4096, 64] x, float[M] y", count=1)[0]
    sizes = [(feeds["x"].size, feeds["y"].size) for feeds in sample.candidates]
    assert max(sum(size) for size in sizes) <= 1 << 26
    assert max(x for x, _ in sizes) == 128 * 4096 * 64 and min(x for x, _ in sizes) == 4096 * 64


def test_inputs_are_too_large_together():
    with pytest.raises(DrawError, match=r"'y' .*with the inputs before it, is too large"):
        drawn("float[8192, 8192] x, float[8] y")
    with pytest.raises(DrawError, match=r"'x' .* is too large"):
        drawn("string[4096, 2048] x")
    assert drawn("bool[8192, 8192] x, float[8] y", count=1)


def test_large_inputs_take_little_more_than_their_bytes():
    """Numbers are drawn in 64 bits, whatever the type."""
    tracemalloc.start()
    try:
        (feeds,) = firsts("int8[16777216] x, float16[4, 2097152] h", count=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (feeds["x"].dtype, feeds["x"].shape) == (np.int8, (1 << 24,))
    assert feeds["h"].shape == (4, 1 << 21) and len(np.unique(feeds["h"])) > 1
    assert peak < 5 * (1 << 25)


def test_an_input_of_more_axes_than_numpy_has_is_no_sample():
    axes = ", ".join(["1"] * 65)
    proto = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[{axes}] x) => (y) {{ y = Relu (x) }}'
    )
    with pytest.raises(DrawError, match="'x' has 65 axes, and numpy supports 64 only"):
        Drawer(Signature.of(proto), Signature.of(proto), {}, 0)


def test_some_lists_of_integers_name_each_place_once():
    """Axes must differ."""
    lists = [feeds["a"].tolist() for feeds in drawn("int64[3] a")[0].candidates]
    assert any(sorted(one) == [0, 1, 2] for one in lists)
