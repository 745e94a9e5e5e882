import itertools

import numpy as np
import onnx
import pytest
from spelled import model, require_open, require_same
from straightline.verification.proof.canonicalize.casts import holds, is_detour
from tables import table

_T = onnx.TensorProto
INTEGERS = [_T.UINT8, _T.INT8, _T.UINT16, _T.INT16, _T.UINT32, _T.INT32, _T.UINT64, _T.INT64]
TYPES = [_T.BOOL, *INTEGERS, _T.FLOAT16, _T.FLOAT, _T.DOUBLE]


def extremes_of(dtype):
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        tiny = np.finfo(dtype)
        values = [tiny.min, tiny.max, tiny.smallest_subnormal, 1 + tiny.eps, np.inf, -0.0]
        return np.array(values, dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype)


@pytest.mark.parametrize(("narrow", "wide"), itertools.permutations(TYPES, 2))
def test_casts_to_a_wider_type_return(narrow, wide):
    """Casts to a type that holds all numbers: each returns, and their order stays."""
    if not holds(narrow, wide):
        return
    one, other = (onnx.helper.tensor_dtype_to_np_dtype(t) for t in (narrow, wide))
    numbers = extremes_of(one)
    with np.errstate(all="ignore"):
        there = numbers.astype(other)
        assert there.astype(one).tobytes() == numbers.tobytes()
    for a, b in itertools.combinations(range(len(numbers)), 2):
        assert (numbers[a] < numbers[b]) == (there[a] < there[b])


def test_a_detour_of_casts_changes_no_number():
    detours = 0
    for first, way, last in itertools.product(TYPES, repeat=3):
        if not is_detour(first, way, last) or way in (first, last):
            continue
        detours += 1
        types = [onnx.helper.tensor_dtype_to_np_dtype(t) for t in (first, way, last)]
        numbers = np.concatenate([extremes_of(types[0]), np.arange(2).astype(types[0])])
        if types[0].kind == "f":
            numbers = np.append(numbers, types[0].type(np.nan))
        with np.errstate(all="ignore"):
            there, at_once = numbers.astype(types[1]).astype(types[2]), numbers.astype(types[2])
        assert there.tobytes() == at_once.tobytes(), types
    assert detours > 200


@table(
    (_T.FLOAT16, _T.FLOAT, _T.INT32),  # out of range
    (_T.INT8, _T.FLOAT, _T.UINT8),  # negative
    (_T.INT32, _T.FLOAT, _T.DOUBLE),  # rounds
    (_T.INT32, _T.INT16, _T.INT64),
    (_T.INT32, _T.INT16, _T.FLOAT),
    (_T.FLOAT, _T.FLOAT16, _T.DOUBLE),
    (_T.FLOAT, _T.BOOL, _T.FLOAT16),
    (_T.INT32, _T.BOOL, _T.INT64),
)
def test_others_change_some(first, way, last):
    assert not is_detour(first, way, last)


def test_casts_by_way_of_a_wider_type():
    through = "c = Cast <to = 7> (x) y = Cast <to = 1> (c)"
    signature = "(int32[n] x) => (float[n] y)"
    at_once = model("y = Cast <to = 1> (x)", 13, signature)
    require_same(model(through, 13, signature), at_once)
    require_open(model(through.replace("7", "5"), 13, signature), at_once)


def test_a_cast_there_and_back_is_nothing():
    signature = "(int32[3] x) => (int32[3] y)"
    through = "c = Cast <to = {}> (x) y = Cast <to = 6> (c)"
    same = model("y = Identity (x)", 13, signature)
    require_same(model(through.format(11), 13, signature), same)
    require_same(model(through.format(7), 13, signature), same)
    require_open(model(through.format(1), 13, signature), same)
    require_open(model(through.format(3), 13, signature), same)


@pytest.mark.parametrize("test", ["Less", "Greater"])
def test_integers_are_compared_as_doubles(test):
    signature = "(int32[3] x, int32[3] z) => (bool[3] y)"
    old = f"a = Cast <to = 11> (x) b = Cast <to = 11> (z) y = {test} (a, b)"
    new = model(f"y = {test} (x, z)", 13, signature)
    require_same(model(old, 8, signature), new)
    require_open(model(old.replace("11", "1"), 8, signature), new)


def test_a_constant_in_the_wider_type():
    signature = "(int32[3] x) => (bool[3] y)"
    old = "<double c = {2}> { a = Cast <to = 11> (x) y = Less (a, c) }"
    new = "<int32 c = {2}> { y = Less (x, c) }"
    require_same(model(old, 8, signature), model(new, 13, signature))
    require_open(model(old.replace("{2}", "{2.5}"), 8, signature), model(new, 13, signature))


def test_wide_integers_are_not_exact_in_doubles():
    signature = "(int64[3] x, int64[3] z) => (bool[3] y)"
    old = "a = Cast <to = 11> (x) b = Cast <to = 11> (z) y = Less (a, b)"
    require_open(model(old, 8, signature), model("y = Less (x, z)", 13, signature))


WHOLE = "(int64[3] x) => (bool[3] y)"


@pytest.mark.parametrize("test", ["Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"])
@pytest.mark.parametrize("number", [0, -7, 2**53 - 1])
def test_integers_are_compared_with_a_whole_number_as_doubles(test, number):
    old = f"<double c = {{{number}}}> {{ a = Cast <to = 11> (x) y = {test} (a, c) }}"
    new = f"<int64 c = {{{number}}}> {{ y = {test} (x, c) }}"
    require_same(model(old, 16, WHOLE), model(new, 16, WHOLE))
    turned = [text.replace("(a, c)", "(c, a)").replace("(x, c)", "(c, x)") for text in (old, new)]
    require_same(*(model(text, 16, WHOLE) for text in turned))
    require_open(model(old.replace("to = 11", "to = 1"), 16, WHOLE), model(new, 16, WHOLE))


@pytest.mark.parametrize("number", [str(2**53), "0.5", "-1e300"])
def test_with_other_numbers_they_are_not(number):
    whole = int(float(number)) if abs(float(number)) < 2**60 else 0
    old = f"<double c = {{{number}}}> {{ a = Cast <to = 11> (x) y = Greater (a, c) }}"
    new = f"<int64 c = {{{whole}}}> {{ y = Greater (x, c) }}"
    require_open(model(old, 16, WHOLE), model(new, 16, WHOLE))
