"""When two constants are known to be equal, without reading large ones."""

from __future__ import annotations

from collections.abc import Hashable

from ...ir import Tensor

MOST_COMPARED = 1 << 10
"""Larger tensors are not compared: there is little to gain by number, and much to read."""


def content_key(tensor: Tensor) -> Hashable | None:
    """What tells a small constant from others; None for one that is not compared."""
    if tensor.is_sparse or tensor.is_external or tensor.size > MOST_COMPARED:
        return None
    array = tensor.numpy()
    content = tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()
    return tensor.elem_type, tensor.dims, content
