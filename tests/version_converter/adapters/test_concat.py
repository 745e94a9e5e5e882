from conversions import assert_writes
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Concat <axis = -2> (x, x)", 11, 10, ["Concat <axis = 1> (x, x)"], "float[2, 3, 4] x"),
)
