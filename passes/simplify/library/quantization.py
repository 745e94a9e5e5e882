"""Quantized values."""

from typing import Any

import numpy as np
import onnx

from ....facts.types import INTEGER_BITS
from ..rules.match import Match
from ..rules.registry import shipped
from ..rules.rule import Rule

_NODES = "f = DequantizeLinear <axis = @a> ({0})  y = QuantizeLinear <axis = @a> (f, {1})"


@shipped
class QuantizedAgain(Rule):
    """Read a quantized value where it is quantized again by the same scale."""

    before = (
        f"(x, const s, z) => (y) {{ {_NODES.format('x, s, z', 's, z')} }}",
        f"(uint8 x, const s) => (y) {{ {_NODES.format('x, s', 's')} }}",
    )
    after = "(x) => (x)"

    def where(self, match: Match) -> bool:
        """Require that two roundings lose less than half a step."""
        scale, bits = match.array("s"), INTEGER_BITS.get(match.elem_type("x") or 0, 64)
        if scale is None or scale.dtype.kind != "f":
            return False
        limits, sizes = np.finfo(scale.dtype), np.abs(scale.astype(np.float64))
        levels = 2.0**bits  # a product of less than the smallest normal number loses more
        is_normal = bool(np.all((sizes >= limits.tiny) & (sizes * levels <= limits.max)))
        return is_normal and levels * float(limits.eps) < 1 / 2

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Write scales of all elements, and of a kind each."""
        types = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16
        numbers = [onnx.helper.tensor_dtype_to_np_dtype(each) for each in types]
        return [{"a": 0, "s": np.array(0.05, each)} for each in numbers]
