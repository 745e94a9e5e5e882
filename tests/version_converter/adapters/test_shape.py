import numpy as np
from conversions import assert_becomes, assert_carried, converted
from tables import table


def test_a_part_of_a_shape_is_a_slice_of_all_of_it():
    assert_becomes("""15 to 14: y = Shape <start = 1, end = -1> (x) =>
        shape = Shape (x)
        y = Slice (shape, [1], [-1])""")
    assert_becomes("""15 to 14: y = Shape <start = 1> (x) =>
        shape = Shape (x)
        y = Slice (shape, [1], [9223372036854775807])""")


@table("start = 1", "start = -2", "end = 2", "start = 1, end = -1", "start = 0")
def test_parts_of_a_shape(how):
    fed = {"x": np.zeros((2, 3, 4), np.float32)}
    assert_carried(f"y = Shape <{how}> (x)", 15, (14, 13, 9), fed, "float[A, B, C] x")
    if how == "start = 0":
        assert converted(f"y = Shape <{how}> (x)", 15, 14) == ["Shape (x)"]
