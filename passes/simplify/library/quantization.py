"""Quantized values."""

import numpy as np

from ....facts.types import INTEGER_BITS
from ..rules.match import Match
from ..rules.registry import law

_NODES = "f = DequantizeLinear <axis = @a> ({0})  y = QuantizeLinear <axis = @a> (f, {1})"


def _restores(match: Match) -> bool:
    """Require that two roundings lose less than half a step."""
    scale, bits = match.array("s"), INTEGER_BITS.get(match.elem_type("x") or 0, 64)
    if scale is None or scale.dtype.kind != "f":
        return False
    limits, sizes = np.finfo(scale.dtype), np.abs(scale.astype(np.float64))
    levels = 2.0**bits  # a product of less than the smallest normal number loses more
    is_normal = bool(np.all((sizes >= limits.tiny) & (sizes * levels <= limits.max)))
    return is_normal and levels * float(limits.eps) < 1 / 2


law(
    "QuantizedAgain: Read a quantized value where it is quantized again by the same scale.",
    (
        f"(x, const s, z) => (y) {{ {_NODES.format('x, s, z', 's, z')} }}",
        f"(uint8 x, const s) => (y) {{ {_NODES.format('x, s', 's')} }}",
    ),
    "(x) => (x)",
    _restores,
    lambda ranks: [{"a": 0, "s": np.array(0.05, each)} for each in (np.float32, np.float16)],
)
