"""ConstantOfShape: below opset 9 it is an Expand."""

import numpy as np
import pytest
from conversions import assert_carried, assert_there_and_back, assert_writes
from tables import table

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    ("y = ConstantOfShape <value = int32[1] {7}> (s)", 9, 8, ["Expand (7, s)"], "int64[2] s"),
    ("y = ConstantOfShape (s)", 9, 8, ["Expand (0.0, s)"], "int64[2] s"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_nodes_of_each_step(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)


@pytest.mark.parametrize("value", ["", "<value = int32[1] {7}>", "<value = float[1] {2.5}>"])
def test_constants_of_a_shape(value):
    for sizes in ([2, 3], [0, 2], [1]):
        fed = {"s": np.array(sizes, np.int64)}
        assert_carried(f"y = ConstantOfShape {value} (s)", 9, (8,), fed, f"int64[{len(sizes)}] s")


@table(("s = Shape (x) y = ConstantOfShape (s)", "float[2, 3]", 13, (8, 20)))
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
