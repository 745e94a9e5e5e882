"""DFT: its axis, and what an absent one means."""

import pytest
from conversions import assert_writes

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    ("y = DFT <axis = 2> (x)", 19, 20, ["DFT (x, , 2)"], "float[1, 2, 3, 1] x"),
    ("y = DFT (x)", 19, 20, ["DFT (x, , 1)"], "float[1, 2, 3, 1] x"),
    (
        "a = Constant <value_int = 2> () y = DFT (x, , a)",
        20,
        19,
        ["DFT <axis = 2> (x)"],
        "float[1, 2, 3, 1] x",
    ),
    ("y = DFT (x)", 20, 19, ["DFT <axis = -2> (x)"], "float[1, 2, 3, 1] x"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_what_each_step_writes(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)
