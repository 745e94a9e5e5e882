from conversions import assert_there_and_back, assert_writes
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Concat <axis = -2> (x, x)", 11, 10, ["Concat <axis = 1> (x, x)"], "float[2, 3, 4] x"),
)


test_there_and_back = cases(
    assert_there_and_back, ("y = Concat <axis = -1> (x, x)", "float[2, 6]", 13, (7, 10))
)
