"""Concat: negative axes."""

import pytest
from conversions import assert_there_and_back, assert_writes
from tables import table

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    ("y = Concat <axis = -2> (x, x)", 11, 10, ["Concat <axis = 1> (x, x)"], "float[2, 3, 4] x")
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_nodes_of_each_step(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)


@table(("y = Concat <axis = -1> (x, x)", "float[2, 6]", 13, (7, 10)))
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
