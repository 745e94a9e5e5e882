"""Computing a node whose inputs are all known, with onnx's own reference for the operator."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import onnx

from ...ir import Array, Function, Model, Node, Operator, Tensor, normal_domain
from ...ir.io.fingerprint import digest_of_array
from ...ir.opaque import OpaqueTensor, Recipe, notes_of, transparent
from ...limits import current, limit
from ...ops import OperatorRules, rules_of
from ...reference.errors import EvaluationError
from ..guarded_evaluation import Kernel, Message, computed, size_of
from ..shapes.onnx_inference_cache import connected

MAX_BYTES = limit("max_bytes")
"""Folding makes no tensor larger than this, so that a model does not grow by being folded."""

_DIGESTED = 1 << 10
"""Results of more bytes are one where they are equal; each byte of them takes a step."""

_MOST_SHARED = 1 << 10
"""Kernels of nodes of more bytes, which hold constants, are not kept for other models."""


class Folder:
    """Folds nodes of one model; kernels are made once for each operator.

    Args:
        model: whose nodes are folded.
        max_bytes: the largest tensor that is read or made.
    """

    def __init__(self, model: Model, max_bytes: int = MAX_BYTES) -> None:
        self.model = model
        self.max_bytes = max_bytes
        self._kernels: dict[tuple[Operator, Model | Function, int], Kernel | None] = {}
        self._equal: weakref.WeakValueDictionary[Hashable, Tensor] = weakref.WeakValueDictionary()

    def may_fold(self, node: Node) -> bool:
        """Whether the node's operator is one to fold, whatever its inputs are."""
        if normal_domain(node.domain) or node.bodies or node.op.references:
            return False
        rules = rules_of(node.op)
        return not (rules.kept_from_folding or rules.draws_random_numbers(node))

    def fold(
        self, node: Node, tensors: Sequence[Tensor | None], opset: int | None = None
    ) -> list[Tensor] | None:
        """The outputs of a node with these inputs; None where it is not to be folded.

        A node that fails on its inputs is left to fail at run time as before.

        Args:
            node: the node.
            tensors: one for each of its inputs.
            opset: the version in which it is written, where that is not (yet) its graph's.
        """
        if not all(t is None or self.reads(t) for t in tensors):
            return None
        copied = tensors[0] if node.is_op("Identity") else None
        if copied is not None:  # without onnx's kernels, which take long to import
            return [copied]
        assert node.graph is not None
        root = node.graph.root
        version = opset or root.opset()
        kernel = self._kernel(node, root, version)
        if kernel is None:
            return None
        if not notes_of(tensors):
            return self._computed(node, tensors, kernel, lambda: _as_written(node, root, version))
        _read_what_decides(node, tensors)
        written = _as_written(node, root, version)  # the node may be gone when it is computed again
        return self._computed(node, tensors, kernel, lambda: written)

    def _computed(
        self, node: Node, tensors: Sequence[Tensor | None], kernel: Kernel, message: Message
    ) -> list[Tensor] | None:
        """The results of a kernel as constants."""
        arrays: list[Any] = [None if t is None else transparent(t).numpy() for t in tensors]
        results = computed(node, arrays, self.max_bytes, kernel, message)
        if results is None:
            return None
        if any(not isinstance(a, np.ndarray) or size_of(a) > self.max_bytes for a in results):
            return None
        held = self._held(results, node)
        notes = notes_of(tensors)
        if held is None or not notes:
            return held
        compute = functools.partial(self._computed, node, kernel=kernel, message=message)
        recipes = [Recipe(compute, tensors, index) for index in range(len(held))]
        return [OpaqueTensor(t, notes, recipe) for t, recipe in zip(held, recipes, strict=True)]

    def _held(self, arrays: Sequence[Array], node: Node) -> list[Tensor] | None:
        """Results as constants, the earlier one for what is equal to it; None where there would be
        too many."""
        governor, tensors = current(), []
        for array in arrays:
            size = size_of(array)
            if size <= _DIGESTED:
                tensors.append(Tensor(array=array))
                continue
            key = (array.dtype, array.shape, digest_of_array(array))
            tensor = self._equal.get(key)
            if tensor is None:
                if not governor.may_work(size, node) or not governor.may_hold(size, node):
                    return None
                tensor = self._equal[key] = Tensor(array=array)
                governor.hold(tensor, size)
            tensors.append(tensor)
        return tensors

    def reads(self, tensor: Tensor) -> bool:
        """Whether a tensor is one to compute with."""
        return tensor.is_readable and not self.is_large(tensor)

    def is_large(self, tensor: Tensor) -> bool:
        """Whether a tensor is over the size that is read or made."""
        return tensor.size * 4 > self.max_bytes

    def _kernel(self, node: Node, root: Model | Function, opset: int) -> Kernel | None:
        key = (node.op, root, opset)
        if key not in self._kernels:
            self._kernels[key] = self._make_kernel(node, root, opset)
        return self._kernels[key]

    def _make_kernel(self, node: Node, root: Model | Function, opset: int) -> Kernel | None:
        if not self.may_fold(node):
            return None
        proto, opsets = _as_written(node, root, opset)
        make = _shared_kernel if proto.ByteSize() <= _MOST_SHARED else _shared_kernel.__wrapped__
        return make(proto.SerializeToString(deterministic=True), tuple(sorted(opsets.items())))


def _read_what_decides(node: Node, tensors: Sequence[Tensor | None]) -> None:
    """Read the operands whose elements may decide the sizes of the results, or the failure."""
    rules = rules_of(node.op)
    is_neutral = rules.exact and not rules.defines(OperatorRules.is_settled)
    for index, tensor in enumerate(tensors):
        if isinstance(tensor, OpaqueTensor) and not (is_neutral and index not in rules.sized_by):
            tensor.read()


def _as_written(
    node: Node, root: Model | Function, opset: int
) -> tuple[onnx.NodeProto, dict[str, int]]:
    """The message of a node, and the opsets that it is written in."""
    return connected(node.op, node), {**root.opset_imports, node.domain: opset}


@functools.lru_cache(maxsize=256)
def _shared_kernel(text: bytes, opsets: tuple[tuple[str, int], ...]) -> Kernel | None:
    """The kernel of a node as it is written, the same one whichever model asks for it."""
    from ...reference.interpreter.evaluator import operator_kernel  # brings onnx's kernels

    try:
        return operator_kernel(onnx.NodeProto.FromString(text), dict(opsets))
    except EvaluationError:
        return None
