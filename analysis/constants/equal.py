"""Keys of equal constants, without reading large ones."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ...ir import Tensor

MOST_COMPARED = 1 << 10
"""The most elements of compared tensors: larger ones are few, and slow to read."""


def content_key(tensor: Tensor) -> Hashable | None:
    """The key of a small constant; None for one that is not compared."""
    if tensor.is_sparse or tensor.is_external or tensor.size > MOST_COMPARED:
        return None
    array = tensor.numpy()
    content = tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()
    return tensor.elem_type, tensor.dims, content


def are_equal(one: Tensor, other: Tensor) -> bool:
    """Compare two readable constants element by element."""
    if one is other:
        return True
    if one.elem_type != other.elem_type or one.dims != other.dims:
        return False
    array, other_array = one.numpy(), other.numpy()
    if array.dtype == object:
        return bool(np.array_equal(array, other_array))
    # Bytes, because -0.0 equals 0.0 and NaN does not equal itself.
    return array.tobytes() == other_array.tobytes()
