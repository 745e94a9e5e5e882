import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from straightline.verification.runs.comparison import EXACT, Tolerance, compare
from tables import table

TIGHT = Tolerance()


def f32(*values):
    return np.array(values, np.float32)


def test_the_first_place_that_differs_is_told_with_both_values():
    before = np.arange(6, dtype=np.float32).reshape(2, 3)
    after = before.copy()
    after[1, 0] += 0.5
    after[1, 2] += 2
    found = compare(before, after, TIGHT)
    assert found.kind == "values"
    assert (found.first.index, found.first.before, found.first.after) == ((1, 0), 3.0, 3.5)
    assert (found.max_abs, found.differing, found.total) == (2.0, 2, 6)
    assert found.max_rel == pytest.approx(0.4)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_ulps_count_the_representable_numbers_between(steps):
    value = f32(1.0)
    other = value
    for _ in range(steps):
        other = np.nextafter(other, f32(2))
    assert compare(value, other, TIGHT).max_ulps == steps
    assert compare(value, other, TIGHT).kind == ""
    assert compare(value, other, EXACT).kind == "values"


def test_ulps_across_zero_and_over_the_whole_range():
    tiny = np.nextafter(f32(0), f32(1))
    assert compare(tiny, -tiny, EXACT).max_ulps == 2
    huge = np.array([np.finfo(np.float64).max])
    found = compare(huge, -huge, TIGHT)
    assert found.kind == "values"
    assert found.max_abs == np.inf
    assert found.max_ulps == 2 * 0x7FEFFFFFFFFFFFFF


@table(
    (f32(np.nan), f32(np.nan), ""),
    (f32(np.nan), f32(1), "values"),
    (f32(np.inf), f32(np.inf), ""),
    (f32(np.inf), f32(-np.inf), "values"),
    (f32(np.inf), f32(3e38), "values"),
    (f32(0.0), f32(-0.0), ""),
    (np.array([np.inf + 1j]), np.array([np.inf + 2j]), "values"),
    (np.array([complex(np.nan, 1)]), np.array([complex(np.nan, 1)]), ""),
)
def test_not_a_number_infinities_and_signed_zeros(before, after, kind):
    assert compare(before, after, TIGHT).kind == kind


def test_a_small_value_is_not_hidden_behind_a_large_one():
    assert compare(f32(1e10, 1.0), f32(1e10, 1.001), TIGHT).kind == "values"
    assert compare(f32(1e-9, 1e-8), f32(1e-9, 2e-8), TIGHT).kind == "values"


def test_cancelled_values_may_differ_by_rounding():
    assert compare(f32(1.0, 1e-8), f32(1.0, 0.0), TIGHT).kind == ""


@table(
    ("float16", 2.0**-10, ""),
    ("float16", 2.0**-6, "values"),
    ("bfloat16", 2.0**-7, ""),
    ("bfloat16", 2.0**-4, "values"),
    ("float8_e4m3fn", 2.0**-3, "values"),
    ("float8_e5m2", 2.0**-2, "values"),
    ("float4_e2m1fn", 0.5, "values"),
)
def test_defaults_follow_the_element_type(name, step, kind):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    one, other = np.array([1.0]).astype(dtype), np.array([1.0 + step]).astype(dtype)
    assert one != other
    assert compare(one, other, TIGHT).kind == kind
    assert compare(one, one, TIGHT).max_ulps == 0


def test_the_sign_and_exponent_only_type_counts_its_own_steps():
    dtype = ml_dtypes.float8_e8m0fnu
    one, four = np.array([1.0]).astype(dtype), np.array([4.0]).astype(dtype)
    assert compare(one, four, TIGHT).max_ulps == 2


def test_given_tolerances_count_for_floats_and_only_for_them():
    wide = Tolerance(rtol=0.1, atol=0.0)
    assert compare(f32(1.0), f32(1.05), wide).kind == ""
    assert compare(f32(1.0), f32(1.2), wide).kind == "values"
    assert compare(np.array([100]), np.array([101]), wide).kind == "values"


def test_integers_are_exact_at_the_ends_of_their_range():
    ends = np.array([np.iinfo(np.int64).min]), np.array([np.iinfo(np.int64).max])
    assert compare(*ends, TIGHT).max_abs == 2**64 - 1
    unsigned = np.array([0], np.uint64), np.array([2**64 - 1], np.uint64)
    assert compare(*unsigned, TIGHT).max_abs == 2**64 - 1
    large = np.array([2**62]), np.array([2**62 + 1])
    assert compare(*large, TIGHT).max_abs == 1
    four = np.array([-8, 7]).astype(ml_dtypes.int4)
    assert compare(four, four[::-1], TIGHT).max_abs == 15


def test_type_and_shape_come_before_values():
    assert compare(f32(1), np.array([1.0]), TIGHT).kind == "type"
    found = compare(f32(1, 2), f32(1, 2).reshape(1, 2), TIGHT)
    assert found.kind == "shape"
    assert str(found.first) == "[2] became [1, 2]"
    assert compare(np.zeros((0, 2)), np.zeros((2, 0)), TIGHT).kind == "shape"
    assert compare(np.zeros((0, 2)), np.zeros((0, 2)), TIGHT).kind == ""


def test_strings_of_every_flavour():
    texts = np.array(["a", "ü"])
    assert compare(texts, texts.astype(object), TIGHT).kind == ""
    assert compare(texts, np.char.encode(texts, "utf-8"), TIGHT).kind == ""
    scalars = np.array("a", object), np.array("b", object)
    assert compare(*scalars, TIGHT).first.index == ()
    found = compare(texts, np.array(["a", "u"], object), TIGHT)
    assert (found.first.index, found.first.before, found.first.after) == ((1,), "ü", "u")


def test_sequences_optionals_and_maps():
    assert compare([f32(1), f32(2, 3)], [f32(1), f32(2, 3)], TIGHT).kind == ""
    assert compare([], [], TIGHT).kind == ""
    assert compare([f32(1)], [], TIGHT).kind == "length"
    found = compare([f32(1), f32(2, 3)], [f32(1), f32(2, 4)], TIGHT)
    assert (found.first.path, found.first.index) == ("[1]", (1,))
    assert compare(None, None, TIGHT).kind == ""
    assert compare(None, f32(1), TIGHT).kind == "presence"
    assert compare(f32(1), [f32(1)], TIGHT).kind == "type"
    assert compare({"a": 1.0}, {"b": 1.0}, TIGHT).kind == "keys"
    assert compare({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 3.0}, TIGHT).first.path == "['b']"


ARRAYS = hnp.arrays(
    st.sampled_from(
        [np.float32, np.float64, np.float16, np.int8, np.uint64, np.bool_, np.complex64]
    ),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)


@given(ARRAYS)
def test_a_result_equals_itself(array):
    found = compare(array, array.copy(), EXACT)
    assert (found.kind, found.max_abs, found.max_ulps) == ("", 0, 0)


@given(hnp.arrays(np.float32, 4), hnp.arrays(np.float32, 4))
def test_exact_comparison_is_numpys_own(one, other):
    expected = np.array_equal(one, other, equal_nan=True)
    assert (compare(one, other, EXACT).kind == "") == expected


@given(
    hnp.arrays(st.sampled_from([np.float32, np.int16, np.complex64, np.bool_]), (3, 5)),
    st.integers(1, 16),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=4),
)
def test_blocks_tell_the_same_as_the_whole(before, block, places):
    after = before.copy()
    for place in places:
        after[place] = 1
    whole = compare(before, after, TIGHT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("straightline.verification.runs.comparison._BLOCK", block)
        found = compare(before, after, TIGHT)
    assert repr(found) == repr(whole)


def test_the_largest_magnitude_is_that_of_all_blocks(monkeypatch):
    monkeypatch.setattr("straightline.verification.runs.comparison._BLOCK", 2)
    before = f32(1, 2, 1e-9, 0)
    after = f32(1, 2, 3e-9, 0)
    assert compare(before, after, TIGHT).kind == ""
    assert compare(before[2:], after[2:], TIGHT).kind == "values"
