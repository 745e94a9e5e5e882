"""Casts in a row."""

from typing import Any

import onnx

from ....facts.types import IEEE_FLOATS
from ..rules.match import Match
from ..rules.registry import shipped
from ..rules.rule import Rule

_Type = onnx.TensorProto
_SIGNED = (_Type.INT8, _Type.INT16, _Type.INT32, _Type.INT64)
_UNSIGNED = (_Type.UINT8, _Type.UINT16, _Type.UINT32, _Type.UINT64)
_WIDER: dict[int, set[int]] = {
    **{t: set(IEEE_FLOATS[n + 1 :]) for n, t in enumerate(IEEE_FLOATS)},
    **{t: set(_SIGNED[n + 1 :]) for n, t in enumerate(_SIGNED)},
    **{t: {*_UNSIGNED[n + 1 :], *_SIGNED[n + 1 :]} for n, t in enumerate(_UNSIGNED)},
}
"""The types that hold each value of a type exactly."""


@shipped
class CastOfWiderCast(Rule):
    """Cast at once where the first Cast loses nothing."""

    before = "(x) => (y) { t = Cast <to = @w> (x)  y = Cast <to = @n> (t) }"
    after = "(x) => (y) { y = Cast <to = @n> (x) }"

    def where(self, match: Match) -> bool:
        """Require a wider type in between, and no integers of floats."""
        source = match.elem_type("x")
        keeps = source not in IEEE_FLOATS or match["n"] in IEEE_FLOATS
        return keeps and match["w"] in _WIDER.get(source, ())

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take pairs of types."""
        types = (*IEEE_FLOATS, *_SIGNED, *_UNSIGNED, _Type.BOOL)
        return [{"w": w, "n": n} for w in types for n in types]
