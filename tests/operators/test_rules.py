"""The classes of operators, and how they are found."""

import pytest
from operator_facts import N, bounds_said, lying

MOVING = (
    "Compress DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Reshape Slice"
    " SpaceToDepth Squeeze Tile Transpose Unsqueeze"
)


@pytest.mark.parametrize("op_type", MOVING.split())
def test_what_moves_elements_keeps_their_bounds(op_type):
    assert bounds_said(op_type, [lying(2, N), lying(0, 5)]) == [(2, N)]
    assert bounds_said(op_type, [lying(2, N)], domain="ai.onnx") == [(2, N)]
    assert bounds_said(op_type, [lying(2, N)], domain="own") == ["any"]
