import numpy as np
import pytest
from conversions import assert_carried, assert_writes
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = ConstantOfShape <value = int32[1] {7}> (s)", 9, 8, ["Expand (7, s)"], "int64[2] s"),
    ("y = ConstantOfShape (s)", 9, 8, ["Expand (0.0, s)"], "int64[2] s"),
)


@pytest.mark.parametrize("value", ["", "<value = int32[1] {7}>", "<value = float[1] {2.5}>"])
def test_constants_of_a_shape(value):
    for sizes in ([2, 3], [0, 2], [1]):
        fed = {"s": np.array(sizes, np.int64)}
        assert_carried(f"y = ConstantOfShape {value} (s)", 9, (8,), fed, f"int64[{len(sizes)}] s")
