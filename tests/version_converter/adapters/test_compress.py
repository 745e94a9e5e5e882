import numpy as np
import pytest
from conversions import assert_becomes, assert_carried_everywhere, assert_writes
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Compress <axis = -2> (x, c)", 11, 10, ["Compress <axis = 1> (x, c)"],
     "float[2, 3, 4] x, bool[2] c"),
    ("y = Compress (x, c)", 11, 10, ["Compress (x, c)"], "x, bool[2] c"),
)  # fmt: skip


def test_places_of_a_constant_condition():
    condition = "c = Constant <value = bool[4] {1, 0, 1, 0}> () "
    assert_becomes(f"""9 to 8, float[2, 4] x: {condition} y = Compress <axis = 1> (x, c) =>
        y = Gather <axis = 1> (x, [0, 2])""")
    assert_becomes(f"""9 to 8, float[2, 4] x: {condition} y = Compress (x, c) =>
        elements = Reshape (x, [-1])
        y = Gather <axis = 0> (elements, [0, 2])""")


@pytest.mark.parametrize("axis", ["<axis = 0>", "<axis = -1>", ""])
@pytest.mark.parametrize("condition", ["1, 0, 1", "0, 0, 0", "1"])
def test_numbers(axis, condition):
    count = len(condition.split(", "))
    body = f"c = Constant <value = bool[{count}] {{{condition}}}> () y = Compress {axis} (x, c)"
    x = np.array([[1, np.nan, 3], [-0.0, 5, 6], [7, 8, np.inf]], np.float32)
    assert_carried_everywhere(body, 11, (10, 8, 7), {"x": x}, "float[3, 3] x", ["graph"])
