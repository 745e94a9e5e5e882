"""AffineGrid: places to sample at, by an affine map.

- 20: the operator appears.
"""

import onnx

from ..registry import BODY_MENDS


def squeeze_row_axis(proto: onnx.FunctionProto) -> None:
    """Squeeze the one row of a matrix: without axes, a batch of one would go as well."""
    branches = [a.g for n in proto.node if n.op_type == "If" for a in n.attribute]
    for node in (node for graph in branches for node in graph.node):
        if node.op_type == "Squeeze" and len(node.input) == 1:
            node.input.append("one_1d")


def count_by_numbers(proto: onnx.FunctionProto) -> None:
    """Make scalars of the sizes that Range counts to: they are vectors of one, which it refuses."""
    nodes = []
    for node in proto.node:
        if node.op_type == "Range":
            size, number = node.input[1], f"{node.input[1]}_number"
            nodes.append(onnx.helper.make_node("Squeeze", [size, "zero_1d"], [number]))
            node.input[1] = number
        nodes.append(node)
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del proto.node[:]
    proto.node.extend(nodes)


def mend(proto: onnx.FunctionProto) -> None:
    """Mend the body in onnx."""
    squeeze_row_axis(proto)
    count_by_numbers(proto)


BODY_MENDS["AffineGrid"] = mend
