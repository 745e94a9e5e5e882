"""Flatten: negative axes."""

import pytest
from conversions import assert_there_and_back, assert_writes

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    ("y = Flatten <axis = -2> (x)", 11, 10, ["Flatten <axis = 1> (x)"], "float[2, 3, 4] x"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_what_each_step_writes(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = Flatten <axis = -1> (x)", "float[2, 3]", 13, (7, 9, 10)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
