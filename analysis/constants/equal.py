"""Keys of equal constants."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable

import numpy as np
import onnx

from ...ir import Operator, Tensor

MOST_COMPARED = 1 << 10
"""The most elements of compared tensors: larger ones are few, and slow to read."""


def content_key(tensor: Tensor) -> Hashable | None:
    """The key of a small constant; None for one that is not compared."""
    if tensor.is_sparse or tensor.is_external or tensor.size > MOST_COMPARED:
        return None
    array = tensor.numpy()
    content = tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()
    return tensor.elem_type, tensor.dims, content


@dataclasses.dataclass(frozen=True)
class KeyMemory:
    """Keys of constants and operators, which never change, for all passes of a rewrite.

    Attributes:
        constants: the keys of small constants; None for others.
        operators: the keys of operators, by operator and opset.
    """

    constants: dict[Tensor, Hashable | None] = dataclasses.field(default_factory=dict)
    operators: dict[tuple[Operator, int], Hashable] = dataclasses.field(default_factory=dict)

    def of(self, tensor: Tensor) -> Hashable | None:
        """The key of a small constant; None for one that is not compared."""
        keys = self.constants
        if tensor not in keys:
            keys[tensor] = content_key(tensor)
        return keys[tensor]


class ContentKeys:
    """Keys of constants of one model, of large ones, too; equal ones share theirs.

    The elements of a large constant are read where another one has its type and shape.

    Args:
        memory: the keys of small constants.
    """

    def __init__(self, memory: KeyMemory) -> None:
        self._memory = memory
        self._alone: dict[Hashable, Tensor] = {}
        self._keys: dict[Tensor, Hashable] = {}

    def of(self, tensor: Tensor) -> Hashable | None:
        """The key of a constant; None for one that is not compared."""
        key = self._memory.of(tensor)
        if key is not None or tensor.is_sparse or tensor.is_external:
            return key
        if tensor.elem_type == onnx.TensorProto.STRING:
            return None
        kind = tensor.elem_type, tensor.dims
        other = self._alone.setdefault(kind, tensor)
        if other is tensor:
            return id(tensor)
        digest = kind, self._digest(tensor)
        return id(other) if self._digest(other) == digest[1] else digest

    def _digest(self, tensor: Tensor) -> Hashable:
        if tensor not in self._keys:
            content = hashlib.blake2b(digest_size=32)
            for block in tensor.content():
                content.update(block)
            self._keys[tensor] = content.digest()
        return self._keys[tensor]


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
