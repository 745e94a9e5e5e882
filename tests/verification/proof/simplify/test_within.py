"""Places in tensors: a node that fails for certain is not equal to one that does not."""

from proofs import assert_open, assert_proved

PLACE = "g (float[2] x, float[1] y) => (float z) { c = Concat <axis = 0> (x, y) %s }"


def test_a_place_counted_from_the_end_is_one_counted_from_the_front():
    at = "i = Constant <value_int = %d> () z = Gather (c, i)"
    assert_proved(PLACE % (at % -1), PLACE % (at % 2))
    assert_proved(PLACE % (at % -3), PLACE % (at % 0))
    assert_open(PLACE % (at % -1), PLACE % (at % 1))


def test_a_place_behind_the_end_is_none():
    text = """g (float x) => (float z) <int64[1] s = {2}, int64 i = {%d}> {
        e = Expand (x, s) z = Gather (e, i) }"""
    assert_proved(text % 1, "g (float x) => (float z) { z = Identity (x) }")
    assert_open(text % 2, "g (float x) => (float z) { z = Identity (x) }")


def test_rows_by_the_number_of_the_trip_are_all_rows():
    assert_proved(
        """g (float[n, 2] x) => (float[n, 2] z) <bool yes = {1}, int64 zero = {0}> {
            s = Shape (x) n = Gather (s, zero)
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2] o) {
                c2 = Identity (c) e = Gather (x, i) o = Neg (e) }> }""",
        "g (float[n, 2] x) => (float[n, 2] z) { z = Neg (x) }",
    )
