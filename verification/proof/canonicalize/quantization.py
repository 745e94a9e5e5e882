"""A value quantized again by the scale that it was quantized by."""

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.types import INTEGER_BITS
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form


@canonical_form("QuantizeLinear")
def quantized_again(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Read the quantized value.

    Round (((q - z) * s) / s) + z is q where both roundings of floats lose less than a half.
    """
    x, *parameters = args
    if x is None or not x.is_op("DequantizeLinear") or [*x.args[1:]] != parameters:
        return None
    whole, scale = x.args[0], terms.tensor(parameters[0]) if parameters[0] else None
    if whole is None or scale is None or not scale.is_readable:
        return None
    point = parameters[1] if len(parameters) > 1 else None
    kind = head.attribute("output_dtype", 0) or onnx.TensorProto.UINT8
    if whole.fact.elem_type != (kind if point is None else point.fact.elem_type):
        return None
    pairs = [
        (each.attribute("axis", 1), each.attribute("block_size", 0)) for each in (head, x.head)
    ]
    is_exact = _loses_little(scale.numpy(), INTEGER_BITS.get(whole.fact.elem_type, 64))
    return [whole] if pairs[0] == pairs[1] and is_exact else None


def _loses_little(scale: np.ndarray, bits: int) -> bool:
    """Test for a product and a quotient that err by less than half a step."""
    if scale.dtype not in (np.float16, np.float32, np.float64):
        return False
    limits, sizes = np.finfo(scale.dtype), np.abs(scale.astype(np.float64))
    is_normal = (sizes >= limits.tiny) & (sizes * 2.0**bits <= limits.max)
    return bool(is_normal.all()) and 2.0**bits * float(limits.eps) < 1 / 2
