"""OneHot: negative indices, and negative axes."""

import numpy as np
import pytest
from conversions import assert_becomes, assert_refuses, assert_writes, converted, model
from straightline import convert_version, reference


def test_axes_count_the_one_that_is_added():
    signature = "uint8[2, 2] i, int64 d, float[2] v"
    for axis, counted in ((-2, 1), (-1, -1), (0, 0)):
        wanted = [f"OneHot <axis = {counted}> (i, d, v)"]
        assert_writes(f"y = OneHot <axis = {axis}> (i, d, v)", 11, 10, wanted, signature)


def test_negative_indices_are_wrapped():
    assert_becomes(
        "y = OneHot (i, d, v)",
        11,
        10,
        """
        negative = Less (i, 0)
        scalar = Reshape (d, [])
        depth = Cast <to = 7> (scalar)
        wrapped = Add (i, depth)
        beyond = Less (wrapped, 0)
        inside = Where (beyond, depth, wrapped)
        indices = Where (negative, inside, i)
        y = OneHot (indices, d, v)
        """,
        "int64[2] i, int64 d, float[2] v",
    )


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
        lines = converted(body, 11, 10, "int64 d, float[2] v")
        assert (plain in lines) == there
    reason = "of type int8 that may be negative cannot be wrapped in opset 10"
    assert_refuses(f"y = {plain}", 11, 10, reason, "int8[2] i, int64 d, float[2] v")


def test_the_type_of_an_index_must_be_known():
    reason = "an index that may be negative needs the one element type of input 0, which is not"
    assert_refuses("y = OneHot (x, d, v)", 11, 10, reason, "x, int64 d, float[2] v")
