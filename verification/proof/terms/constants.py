"""Constants as terms, and constant folding by the reference interpreter.

Two constants are one term where their type, shape and bytes are the same.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ....analysis.guarded_evaluation import Kernel, run_kernel, size_of
from ....analysis.shapes.onnx_inference_cache import connected_message
from ....facts.fact import Fact, constant_fact
from ....ir import Node, Tensor, normal_domain
from ....limits import current, limit
from ....ops import rules_of
from ....reference.interpreter.node_kernels import operator_kernel
from .term import Head

MOST_ELEMENTS = limit("proof_elements")
"""Limit of elements of a constant that is computed, and of its operands."""

MOST_READ = 1 << 14
"""Limit of elements of a constant that stays in memory after a read."""


_SHORT = 64
"""Limit of bytes of a constant that are its key."""

_MOST_ALIKE = 8
"""Limit of constants with equal ends that are compared with another one."""

_FEW = 16
"""Limit of elements of integer constants that all proofs share."""


class WeightFiles:
    """Large constants in files, identified by their position in a file, not by content. So a proof
    reads no weights to see that a model has kept them.

    Attributes:
        in_doubt: whether constants of one type and shape lie in several files, or in a file and in
            a model, so that their contents may make a difference.
    """

    def __init__(self) -> None:
        self.in_doubt = False
        self._homes: dict[Hashable, tuple[object, bool]] = {}
        self._contents: dict[Hashable, list[tuple[bytes, bytes]]] = {}
        self._count = 0

    def key_of(self, tensor: Tensor) -> Hashable:
        """Key that only equal constants share."""
        if tensor.size <= MOST_READ:
            return self._by_content(tensor)
        kind, place = (tensor.elem_type, tensor.dims), tensor.place
        home = None if place is None else place[0]
        first, in_file = self._homes.setdefault(kind, (home, place is not None))
        self.in_doubt |= first != home and (in_file or place is not None)
        return key_of(tensor) if place is None else (*kind, place)

    def _by_content(self, tensor: Tensor) -> Hashable:
        """Key of a constant of moderate size: its number, since to compare bytes takes less than a
        digest of them."""
        array = tensor.numpy()
        if array.dtype.hasobject or array.nbytes <= _SHORT:
            return key_of(tensor)
        content, kind = array.tobytes(), (tensor.elem_type, tensor.dims)
        alike = self._contents.setdefault((kind, content[:_SHORT], content[-_SHORT:]), [])
        for other, number in alike:
            if content == other:
                return *kind, number
        if len(alike) == _MOST_ALIKE:
            return key_of(tensor)
        self._count += 1
        alike.append((content, b"%d" % self._count))
        return *kind, alike[-1][1]


def key_of(tensor: Tensor) -> Hashable:
    """Key of a constant: type, shape and bytes, so that -0 differs from 0."""
    # A large one is read for its digest only.
    if tensor.size > MOST_READ and tensor.elem_type != onnx.TensorProto.STRING:
        digest = hashlib.blake2b(digest_size=20)
        for block in tensor.content():
            digest.update(block)
        return tensor.elem_type, tensor.dims, digest.digest()
    array = tensor.numpy()
    if array.dtype.hasobject:
        content: Hashable = tuple(array.reshape(-1).tolist())
    elif array.nbytes <= _SHORT:
        content = array.tobytes()
    else:
        content = hashlib.blake2b(array.tobytes(), digest_size=20).digest()
    return tensor.elem_type, tensor.dims, content


Constant = tuple[Tensor, Hashable, Fact]
"""A constant, its key and its fact."""


def integers(elem_type: int, shape: tuple[int, ...], numbers: tuple[int, ...]) -> Constant:
    """Constant of these elements. All proofs share short ones: sizes and axes.

    Raises:
        OverflowError: the type does not hold a number.
    """
    return (_few if len(numbers) <= _FEW else _many)(elem_type, shape, numbers)


def _many(elem_type: int, shape: tuple[int, ...], numbers: tuple[int, ...]) -> Constant:
    array = np.array(numbers, onnx.helper.tensor_dtype_to_np_dtype(elem_type)).reshape(shape)
    array.flags.writeable = False
    tensor = Tensor(array=array)
    return tensor, key_of(tensor), constant_fact(tensor)


_few = functools.lru_cache(maxsize=1 << 12)(_many)


def evaluate(head: Head, node: Node, tensors: Sequence[Tensor | None]) -> list[Tensor] | None:
    """Outputs of an operator on constants, by the reference; None if they are not computed. That is
    so if a tensor is large, the operator fails, draws random numbers or is none of ONNX's default
    domain, runtimes may have other results, or an output is not a tensor.

    Args:
        tensors: one for each input of the node, None where it is left out.
    """
    rules = rules_of(node.op)
    if any(t is not None and not _is_small(t) for t in tensors) or rules.draws_random_numbers(node):
        return None
    if normal_domain(node.domain):  # constant folding skips these, too
        return None
    arrays = [None if t is None else t.numpy() for t in tensors]

    def kernel(operands: list[Any]) -> list[Any]:
        return _kernel(head, node)(operands)

    def message() -> tuple[onnx.NodeProto, Mapping[str, int]]:
        return connected_message(node.op, node), head.imports

    results = run_kernel(node, arrays, MOST_ELEMENTS, kernel, message)
    # An operator that fails here fails at run time, too, and stays.
    if results is None or not all(isinstance(result, np.ndarray) for result in results):
        return None
    governor = current()
    sizes = [size_of(result) for result in results]
    if not governor.may_hold(sum(sizes), node):
        return None
    outputs = [Tensor(array=result) for result in results]
    for tensor, size in zip(outputs, sizes, strict=True):
        governor.hold(tensor, size)
    return outputs


def _is_small(tensor: Tensor) -> bool:
    return tensor.size <= MOST_ELEMENTS and tensor.is_readable


def _kernel(head: Head, node: Node) -> Kernel:
    form = len(node.outputs), tuple([value is None for value in node.inputs])
    kernel = head.kernels.get(form)
    if kernel is None:
        kernel = head.kernels[form] = operator_kernel(
            connected_message(node.op, node), head.imports
        )
    return kernel


def present(tensors: Sequence[Tensor | None]) -> dict[int, Tensor]:
    """Constants among the operands, by position."""
    return {place: tensor for place, tensor in enumerate(tensors) if tensor is not None}
