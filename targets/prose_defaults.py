"""Defaults of attributes that the specification states in prose alone."""

import onnx

from ..ir import Node
from ..version_converter.types import Types

_ONES = frozenset(("strides", "dilations"))
_ACTIVATIONS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
"""For each direction."""
_WEIGHTED = ("Conv", "ConvTranspose", "ConvInteger")


def default_in_prose(
    node: Node, name: str, types: Types
) -> list[int] | list[str] | onnx.TensorProto | None:
    """Return the value that an absent attribute stands for.

    Args:
        name: the attribute.

    Returns:
        the value; None where the attribute has no such default, or its length is not known.
    """
    if name == "value" and node.is_op("ConstantOfShape"):
        return onnx.helper.make_tensor("", onnx.TensorProto.FLOAT, [1], [0.0])
    if name == "axes" and node.op_type.startswith("Reduce"):
        rank = types.rank(node.input(0))
        return None if rank is None else list(range(rank))
    if name == "activations" and node.is_op(*_ACTIVATIONS):
        directions = 2 if node.attribute("direction") == b"bidirectional" else 1
        return list(_ACTIVATIONS[node.op_type]) * directions
    kernel: list[int | None] | None = node.attribute("kernel_shape")
    if kernel is None and node.is_op(*_WEIGHTED):
        kernel = (types.shape(node.input(1)) or [])[2:]
    if not kernel:
        return None
    if name in _ONES:
        return [1] * len(kernel)
    if name == "pads" and node.attribute("auto_pad", b"NOTSET") == b"NOTSET":
        return [0] * 2 * len(kernel)
    sizes = [size for size in kernel if size is not None]
    return sizes if name == "kernel_shape" and len(sizes) == len(kernel) else None
