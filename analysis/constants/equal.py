"""Keys of equal constants, without reading large ones."""

from __future__ import annotations

from collections.abc import Hashable

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
