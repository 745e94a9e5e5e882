"""Squeeze and Unsqueeze: which axes."""

import pytest
from conversions import assert_there_and_back, assert_writes

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    (
        "y = Squeeze <axes = [-2, 0, 1]> (x)",
        11,
        10,
        ["Squeeze <axes = [2, 0, 1]> (x)"],
        "float[1, 1, 1, 4] x",
    ),
    (
        "y = Unsqueeze <axes = [-1, 0, -2]> (x)",
        11,
        10,
        ["Unsqueeze <axes = [4, 0, 3]> (x)"],
        "float[2, 3] x",
    ),
    ("y = Squeeze <axes = [0]> (x)", 12, 13, ["Squeeze (x, [0])"], "float[1, 3] x"),
    ("y = Unsqueeze <axes = [0]> (x)", 12, 13, ["Unsqueeze (x, [0])"], "float[2, 3] x"),
    (
        "a = Constant <value_ints = [0]> () y = Unsqueeze (x, a)",
        13,
        12,
        ["Unsqueeze <axes = [0]> (x)"],
        "float[2, 3] x",
    ),
    ("y = Squeeze (x)", 13, 12, ["Squeeze (x)"], "float[1, 3] x"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_what_each_step_writes(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = Squeeze <axes = [0]> (u)", "float[2, 3]", 11, (7, 9, 13, 21)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)
