import itertools

import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    converted,
    known_feeds,
    known_model,
)
from straightline import convert_version, reference


def test_floats_are_equal_where_they_do_not_differ_and_are_numbers():
    assert_becomes("""11 to 10, float[2] x, float[2] z: y = Equal (x, z) =>
        less = Less (x, z)
        more = Greater (x, z)
        differ = Or (less, more)
        no_x = IsNaN (x)
        no_z = IsNaN (z)
        no = Or (no_x, no_z)
        not_equal = Or (differ, no)
        y = Not (not_equal)""")
    assert_becomes("""11 to 10, int8[2] x, int8[2] z: y = Equal (x, z) =>
        long_x = Cast <to = 7> (x)
        long_z = Cast <to = 7> (z)
        y = Equal (long_x, long_z)""")
    assert_becomes("""11 to 10, int32[2] x, int32[2] z: y = Equal (x, z) =>
        y = Equal (x, z)""")


@pytest.mark.parametrize("type_", ["float", "double"])
def test_equality_of_floats(type_):
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]
    pairs = np.array(list(itertools.product(special, repeat=2)), "f4" if type_ == "float" else "f8")
    fed = {"x": pairs[:, 0].copy(), "z": pairs[:, 1].copy()}
    assert_carried("y = Equal (x, z)", 11, (10, 9), fed, f"{type_}[36] x, {type_}[36] z")


@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_equality_of_integers_by_way_of_long_ones(type_):
    found = converted("y = Equal (x, x)", 11, 10, f"{type_}[2] x")
    assert found == ["Cast <to = 7> (x)"] * 2 + ["Equal (y_cast, y_cast_1)"]


def test_equality_of_floats_knows_nan_and_infinity() -> None:
    before = known_model("y = Equal (x, n)", "bool[2, 3]", 13)
    x = np.array([[np.nan, np.inf, 0.0], [np.inf, 1, 2]], np.float32)
    n = np.array([[np.nan, np.inf, -0.0], [-np.inf, 2, 2]], np.float32)
    (found,) = reference.run(convert_version(before, 10), {**known_feeds(), "x": x, "n": n})
    assert found.tolist() == [[False, True, True], [False, False, True]]


def test_long_unsigned_integers_are_equal_where_both_halves_are():
    halves = """
        {0}_high = Div ({0}, 4294967296)
        {0}_whole = Mul ({0}_high, 4294967296)
        {0}_low = Sub ({0}, {0}_whole)
        {0}_high_signed = Cast <to = 7> ({0}_high)
        {0}_low_signed = Cast <to = 7> ({0}_low)"""
    assert_becomes(f"""11 to 10, uint64[2] x, uint64[2] z: y = Equal (x, z) =>
        {halves.format("x")}
        {halves.format("z").strip()}
        high = Equal (x_high_signed, z_high_signed)
        low = Equal (x_low_signed, z_low_signed)
        y = And (high, low)""")
    x = np.array([0, 1, 2**32, 2**32 + 1, 2**63, 2**63 + 1, 2**64 - 1], np.uint64)
    feeds, signature = {"x": x[:, None], "z": x}, "uint64[M, 1] x, uint64[N] z"
    assert_carried_everywhere("y = Equal (x, z)", 13, (11, 10, 9, 8, 7), feeds, signature)
