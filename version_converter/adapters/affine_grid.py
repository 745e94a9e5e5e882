"""AffineGrid: places to sample at, by an affine map.

- 20: the operator appears.
"""

from __future__ import annotations

import onnx

from ..registry import BODY_MENDS


def squeeze_row_axis(proto: onnx.FunctionProto) -> None:
    """Squeeze the one row of a matrix: without axes, a batch of one would go as well."""
    branches = [a.g for n in proto.node if n.op_type == "If" for a in n.attribute]
    for node in (node for graph in branches for node in graph.node):
        if node.op_type == "Squeeze" and len(node.input) == 1:
            node.input.append("one_1d")


BODY_MENDS["AffineGrid"] = squeeze_row_axis
