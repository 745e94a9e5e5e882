"""Keys of equal constants."""

import hashlib
from collections.abc import Hashable

import numpy as np
import onnx

from ...ir import LoadError, Operator, Tensor
from ...records import field, record

MOST_COMPARED = 1 << 10
"""The most elements of compared tensors: larger ones are few, and slow to read."""

_START = 1 << 12
"""The bytes of large tensors that are compared before all of them."""


def content_key(tensor: Tensor) -> Hashable | None:
    """The key of a small constant; None for one that is not compared."""
    if tensor.is_sparse or tensor.is_external or tensor.size > MOST_COMPARED:
        return None
    array = tensor.numpy()
    content = tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()
    return tensor.elem_type, tensor.dims, content


@record(frozen=True)
class KeyMemory:
    """Keys of constants and operators, which never change, for all passes of a rewrite.

    Attributes:
        constants: the keys of small constants; None for others.
        operators: the keys of operators, by operator and opset.
        starts: the digests of the first bytes of large constants.
        digests: the digests of large constants.
    """

    constants: dict[Tensor, Hashable | None] = field(default_factory=dict)
    operators: dict[tuple[Operator, int], Hashable] = field(default_factory=dict)
    starts: dict[Tensor, bytes] = field(default_factory=dict)
    digests: dict[Tensor, bytes] = field(default_factory=dict)

    def of(self, tensor: Tensor) -> Hashable | None:
        """The key of a small constant; None for one that is not compared."""
        keys = self.constants
        if tensor not in keys:
            keys[tensor] = content_key(tensor)
        return keys[tensor]


class ContentKeys:
    """Keys of constants of one model, of large and external ones, too; equal ones share theirs.

    The elements of a large constant are read where another one has its type and shape, all of them
    where the first block is the same.

    Args:
        memory: the keys of small constants.
    """

    def __init__(self, memory: KeyMemory) -> None:
        self._memory = memory
        self._alone: dict[Hashable, Tensor] = {}

    def of(self, tensor: Tensor) -> Hashable | None:
        """The key of a constant; None for one that is not compared."""
        key = self._memory.of(tensor)
        if key is not None or tensor.is_sparse or not tensor.is_readable:
            return key
        if tensor.elem_type == onnx.TensorProto.STRING:
            return None
        try:
            return self._of_content(tensor)
        except LoadError:  # a missing file matters to those who read or copy it
            return None

    def _of_content(self, tensor: Tensor) -> Hashable:
        kind = tensor.elem_type, tensor.dims
        other = self._alone.setdefault(kind, tensor)
        if other is tensor:
            return id(tensor)
        start = self._start(tensor)
        if self._start(other) != start:
            other = self._alone.setdefault((kind, start), tensor)
            if other is tensor:
                return id(tensor)
        digest = self._digest(tensor)
        return id(other) if self._digest(other) == digest else (kind, digest)

    def _start(self, tensor: Tensor) -> bytes:
        starts = self._memory.starts
        if tensor not in starts:
            block = next(tensor.content(_START), memoryview(b""))[:_START]
            starts[tensor] = hashlib.blake2b(block, digest_size=32).digest()
        return starts[tensor]

    def _digest(self, tensor: Tensor) -> bytes:
        digests = self._memory.digests
        if tensor not in digests:
            content = hashlib.blake2b(digest_size=32)
            for block in tensor.content():
                content.update(block)
            digests[tensor] = content.digest()
        return digests[tensor]


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
