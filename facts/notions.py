"""Notions of equality of the outputs of two models."""

from collections.abc import Iterable
from typing import Literal, get_args

Equality = Literal["bits", "values", "reals"]
"""Notion of equality, the strongest first: bit for bit; -0.0 and 0.0 alike; as if floats were real
numbers."""

NOTIONS: tuple[Equality, ...] = get_args(Equality)

EQUAL: dict[Equality, str] = {
    "bits": "equal",
    "values": "equal up to the signs of zeros",
    "reals": "equal over the reals",
}
"""Notions in words."""


def weakest(notions: Iterable[Equality]) -> Equality:
    """Return the weakest of some notions; "bits" for none."""
    return max(notions, key=NOTIONS.index, default="bits")
