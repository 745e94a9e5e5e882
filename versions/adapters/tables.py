"""What the schemas do not tell: attribute values that came later, and attributes without weight."""

from __future__ import annotations

from typing import Any

ADDED_VALUES: dict[str, dict[str, dict[Any, int]]] = {
    "ScatterElements": {"reduction": {b"max": 18, b"min": 18}},
    "ScatterND": {"reduction": {b"max": 18, b"min": 18}},
    "Pad": {"mode": {b"wrap": 19}},
    "Resize": {"coordinate_transformation_mode": {b"half_pixel_symmetric": 19}},
}
"""The opset in which a value of an attribute came to be."""

HARMLESS: frozenset[tuple[str, str]] = frozenset(
    {
        # They matter for 8-bit floats only, which the older versions do not take at all.
        ("Cast", "saturate"),
        ("CastLike", "saturate"),
        ("QuantizeLinear", "saturate"),
        ("Cast", "round_mode"),
        ("CastLike", "round_mode"),
        # 16-bit floats only, which Range does not take before opset 27.
        ("Range", "stash_type"),
        # Sorted results are one of the orders that unsorted ones may have.
        ("TopK", "sorted"),
        # It fixes the random numbers of a training mode that is refused.
        ("Dropout", "seed"),
    }
)
"""Attributes that the older version can do without, whatever they say."""
