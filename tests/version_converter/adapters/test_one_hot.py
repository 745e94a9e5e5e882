import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    convert_version,
    converted,
    model,
)
from sessions import outputs
from straightline import reference


def test_axes_count_the_one_that_is_added():
    signature = "uint8[2, 2] i, int64 d, float[2] v"
    for axis, counted in ((-2, 1), (-1, -1), (0, 0)):
        wanted = [f"OneHot <axis = {counted}> (i, d, v)"]
        assert_writes(f"y = OneHot <axis = {axis}> (i, d, v)", 11, 10, wanted, signature)


def test_negative_indices_are_wrapped():
    assert_becomes("""11 to 10, int64[2] i, int64 d, float[2] v: y = OneHot (i, d, v) =>
        negative = Less (i, 0)
        scalar = Reshape (d, [])
        depth = Cast <to = 7> (scalar)
        wrapped = Add (i, depth)
        beyond = Less (wrapped, 0)
        inside = Where (beyond, depth, wrapped)
        indices = Where (negative, inside, i)
        y = OneHot (indices, d, v)""")


@pytest.mark.parametrize("type_", ["int32", "int64", "float"])
def test_indices_that_count_from_the_back_are_wrapped(type_):
    """What is out of range either way stays so, and gives a row of the off value."""
    signature = f"{type_}[6] i, int64 d, float[2] v"
    fed = {
        "i": np.array([0, 2, -1, -3, 3, -4]).astype(type_.replace("float", "float32")),
        "d": np.array(3, np.int64),
        "v": np.array([5, 6], np.float32),
    }
    after = convert_version(model("y = OneHot (i, d, v)", 11, signature), 10)
    rows = np.full((6, 3), 5, np.float32)
    for row, column in ((0, 0), (1, 2), (2, 2), (3, 0)):
        rows[row, column] = 6
    np.testing.assert_array_equal(reference.run(after, fed)[0], rows)


def test_indices_that_are_not_negative_stay():
    plain = "OneHot (i, d, v)"
    assert converted(f"y = {plain}", 11, 10, "uint8[2] i, int64 d, float[2] v") == [plain]
    for given, there in (("0, 2", True), ("0, -2", False)):
        body = f"i = Constant <value_ints = [{given}]> () y = {plain}"
        assert (plain in converted(body, 11, 10, "int64 d, float[2] v")) == there
    reason = "of type int8 that may be negative cannot be wrapped in opset 10"
    assert_refuses(f"y = {plain}", 11, 10, reason, "int8[2] i, int64 d, float[2] v")


def test_a_choice_by_the_number_of_the_class():
    assert_becomes("""9 to 8, int32[2] i, float[2] v:
        d = Constant <value = int64 {3}> () y = OneHot <axis = 0> (i, d, v) =>
        numbers = Cast <to = 7> (i)
        row = Unsqueeze <axes = [0]> (numbers)
        classes = Reshape ([0, 1, 2], [-1, 1])
        is_it = Equal (row, classes)
        off = Gather (v, 0)
        on = Gather (v, 1)
        not_it = Not (is_it)
        number = Cast <to = 7> (not_it)
        offset = Mul (number, 6)
        picked = Add (offset, [[0, 1], [2, 3], [4, 5]])
        all_on = Expand (on, [3, 2])
        all_off = Expand (off, [3, 2])
        ones = Reshape (all_on, [-1])
        zeros = Reshape (all_off, [-1])
        both = Concat <axis = 0> (ones, zeros)
        y = Gather <axis = 0> (both, picked)""")


@pytest.mark.sample(2)
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("type_", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("depth", ["d = Constant <value = int64 {3}> ()", "d = Neg (n)"])
def test_classes_below_opset_9(axis, type_, depth):
    indices = np.array([[0, 2], [2, 1], [1, 2]]).astype(type_)
    feeds = {"i": indices, "v": np.array([0.5, -2], np.float32), "n": np.array(-3)}
    for sizes, places in (("3, 2", ("graph", "body")), ("M, N", ("graph", "function"))):
        signature = f"{type_}[{sizes}] i, float[2] v, int64 n"
        body = f"{depth} y = OneHot <axis = {axis}> (i, d, v)"
        assert_carried_everywhere(body, 9, (8, 7), feeds, signature, places)


@pytest.mark.parametrize("depth", ["d = Constant <value = int64 {3}> ()", "d = Neg (n)"])
@pytest.mark.parametrize(("opset", "targets"), [(9, (8, 7, 11)), (10, (8, 11, 17)), (12, (10, 8))])
def test_a_conversion_keeps_what_onnxruntime_makes_of_negative_indices(depth, opset, targets):
    """onnxruntime counts them from the back in every opset, and ignores those out of range."""
    feeds = {
        "i": np.array([0, 3, -1, -3, -4, 250]),
        "v": np.array([np.inf, np.nan], np.float32),
        "n": np.array(-3),
    }
    before = model(f"{depth} y = OneHot (i, d, v)", opset, "int64[6] i, float[2] v, int64 n")
    wanted = np.full((6, 3), np.inf, np.float32)
    wanted[0, 0] = wanted[2, 2] = wanted[3, 0] = np.nan
    np.testing.assert_array_equal(outputs(before, feeds)[0], wanted)
    for target in targets:
        np.testing.assert_array_equal(outputs(convert_version(before, target), feeds)[0], wanted)


@pytest.mark.parametrize(("opset", "targets"), [(9, (8, 11)), (10, (8, 13))])
def test_a_negative_index_stays_out_of_range_without_a_kernel(opset, targets):
    feeds = {"i": np.array([0, -1, -3, 2], np.int8), "v": np.array([5, 6], np.float32)}
    body = "d = Constant <value = int64 {3}> () y = OneHot (i, d, v)"
    before = model(body, opset, "int8[4] i, float[2] v")
    wanted = reference.run(before, feeds)[0]
    assert wanted.tolist() == [[6, 5, 5], [5, 5, 5], [5, 5, 5], [5, 5, 6]]
    for target in targets:
        np.testing.assert_array_equal(
            reference.run(convert_version(before, target), feeds)[0], wanted
        )


def test_sizes_have_one_class_each():
    lines = converted(
        "s = Shape (x) y = OneHot (s, d, v)", 9, 8, "float[2, 3] x, int64 d, float[2] v"
    )
    assert not any(line.startswith("Or") for line in lines)
