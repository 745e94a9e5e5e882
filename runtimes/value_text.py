"""Values of inputs and outputs in a line."""

from typing import Any

import numpy as np

_MOST_ELEMENTS = 16
"""Limit of elements that are written out."""

_MOST_PARTS = 3
"""Limit of parts of a sequence, and of elements other than 0 in a large tensor."""


def text_of(value: Any) -> str:
    """Write a value: `float32[2] [0.0, 1.0]`, a large one by its few elements other than 0."""
    if value is None:
        return "absent"
    if isinstance(value, dict):
        return f"a map of {len(value)}"
    if isinstance(value, list | tuple):
        parts = [text_of(part) for part in value[:_MOST_PARTS]]
        return f"[{', '.join(parts)}{', ...' if len(value) > len(parts) else ''}]"
    array = np.asarray(value)
    kind = "string" if array.dtype.kind in "OSU" else array.dtype.name
    text = f"{kind}{list(array.shape)}" if array.ndim else kind
    if array.size <= _MOST_ELEMENTS:
        return f"{text} {array.tolist()}"
    if kind == "string":
        return text
    places = np.argwhere(array != np.zeros_like(array)).tolist()
    if len(places) > _MOST_PARTS:
        return text
    elements = [f"{array[tuple(place)]} at {place}" for place in places]
    return f"{text}, 0 but {' and '.join(elements)}" if elements else f"{text} of 0"
