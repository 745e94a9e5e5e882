"""CenterCropPad: an image of a given size from the middle.

- 18: the operator appears.
"""

import onnx

from ..registry import BODY_MENDS


def count_in_64_bits(proto: onnx.FunctionProto) -> None:
    """Cast the sizes, which may have 32 bits, as those of the image never have."""
    sizes = proto.input[1]
    for node in proto.node:
        node.input[:] = ["wide_sizes" if name == sizes else name for name in node.input]
    cast = onnx.helper.make_node("Cast", [sizes], ["wide_sizes"], to=onnx.TensorProto.INT64)
    proto.node.insert(0, cast)


BODY_MENDS["CenterCropPad"] = count_in_64_bits
