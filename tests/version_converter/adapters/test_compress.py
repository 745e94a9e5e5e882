"""Compress: negative axes."""

import pytest
from conversions import assert_writes

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    (
        "y = Compress <axis = -2> (x, c)",
        11,
        10,
        ["Compress <axis = 1> (x, c)"],
        "float[2, 3, 4] x, bool[2] c",
    ),
    ("y = Compress (x, c)", 11, 10, ["Compress (x, c)"], "x, bool[2] c"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_what_each_step_writes(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)
