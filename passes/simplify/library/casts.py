"""Casts in a row."""

import itertools

import onnx

from ....facts.types import IEEE_FLOATS
from ..rules.match import Match
from ..rules.registry import law

_Type = onnx.TensorProto
_SIGNED = (_Type.INT8, _Type.INT16, _Type.INT32, _Type.INT64)
_UNSIGNED = (_Type.UINT8, _Type.UINT16, _Type.UINT32, _Type.UINT64)
_WIDER: dict[int, set[int]] = {
    **{t: set(IEEE_FLOATS[n + 1 :]) for n, t in enumerate(IEEE_FLOATS)},
    **{t: set(_SIGNED[n + 1 :]) for n, t in enumerate(_SIGNED)},
    **{t: {*_UNSIGNED[n + 1 :], *_SIGNED[n + 1 :]} for n, t in enumerate(_UNSIGNED)},
}
"""The types that hold each value of a type exactly."""


def _widens(match: Match) -> bool:
    """Require a wider type in between, and no integers of floats."""
    source = match.elem_type("x")
    keeps = source not in IEEE_FLOATS or match["n"] in IEEE_FLOATS
    return keeps and match["w"] in _WIDER.get(source, ())


law(
    "CastOfWiderCast: Cast at once where the first Cast loses nothing.",
    "(x) => (y) { t = Cast <to = @w> (x)  y = Cast <to = @n> (t) }",
    "(x) => (y) { y = Cast <to = @n> (x) }",
    _widens,
    lambda ranks: [
        dict(zip("wn", pair, strict=True))
        for pair in itertools.product((*IEEE_FLOATS, *_SIGNED, *_UNSIGNED, _Type.BOOL), repeat=2)
    ],
)
