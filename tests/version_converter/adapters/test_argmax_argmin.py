import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_carried_everywhere, assert_writes
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = ArgMax <axis = -2> (x)", 11, 10, ["ArgMax <axis = 1> (x)"], "float[2, 3, 4] x"),
    ("y = ArgMin <axis = -2> (x)", 11, 10, ["ArgMin <axis = 1> (x)"], "float[2, 3, 4] x"),
    ("y = ArgMin <select_last_index = 0> (x)", 12, 11, ["ArgMin (x)"], "float[2, 3] x"),
)


def test_the_last_of_equal_elements_is_the_first_from_behind():
    assert_becomes("""12 to 11: y = ArgMax <axis = 1, select_last_index = 1> (x) =>
        flipped = Slice (x, [-1], [-9223372036854775808], [1], [-1])
        found = ArgMax <axis = 1> (flipped)
        shape = Shape (x)
        count = Gather <axis = 0> (shape, 1)
        last = Sub (count, 1)
        y = Sub (last, found)""")


@pytest.mark.sample(8)
@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("last", [0, 1])
def test_the_first_or_last_of_equal_elements(op_type, axis, keep, last):
    how = f"<axis = {axis}, keepdims = {keep}, select_last_index = {last}>"
    x = np.array([[1, 1, 2, 2], [2, 1, 2, 1], [1, 2, 2, 1]], np.float32)
    assert_carried(f"y = {op_type} {how} (x)", 12, (11, 10), {"x": x}, "float[3, 4] x")


@pytest.mark.sample(1)
@pytest.mark.parametrize("sizes", ["3, 4", "M, N"])
@pytest.mark.parametrize("keep", [0, 1])
def test_the_last_index_below_opset_10(sizes, keep):
    x = np.array([[1, 1, 2, 2], [2, 1, 2, 1], [-np.inf, 2, 2, np.inf]], np.float32)
    body = f"y = ArgMax <axis = -1, keepdims = {keep}, select_last_index = 1> (x)"
    assert_carried_everywhere(body, 13, (11, 9, 8, 7), {"x": x}, f"float[{sizes}] x")
    feeds = {"x": np.array([[2**63 - 1, -(2**63), 2**63 - 1]])}
    body = f"y = ArgMax <axis = 1, keepdims = {keep}, select_last_index = 1> (x)"
    assert_carried_everywhere(body, 12, (11, 9, 8, 7), feeds, "int64[1, N] x")
