"""Constant folding of nodes by onnx's own reference."""

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
from ...reference.interpreter.node_kernels import operator_kernel
from ..guarded_evaluation import Kernel, Message, run_kernel, size_of
from ..shapes.onnx_inference_cache import connected_message

MAX_BYTES = limit("max_bytes")
"""The limit of a folded tensor in bytes, so that folding does not inflate a model."""

_DIGESTED = 1 << 10
"""The size in bytes above which equal results are shared; each byte takes a step."""

_MOST_SHARED = 1 << 10
"""The size in bytes above which a node, with constants inside, has its own kernel."""


class Folder:
    """Folder of the nodes of one model, with one kernel for each operator.

    Args:
        max_bytes: the limit of operands and results in bytes.
        keeps: keep operators that stand for their constants in less space, such as
            DequantizeLinear.
    """

    def __init__(self, model: Model, max_bytes: int = MAX_BYTES, *, keeps: bool = True) -> None:
        self.model = model
        self.keeps = keeps
        self.max_bytes = max_bytes
        self._kernels: dict[tuple[Operator, Model | Function, int], Kernel | None] = {}
        self._equal: weakref.WeakValueDictionary[Hashable, Tensor] = weakref.WeakValueDictionary()

    def may_fold(self, node: Node) -> bool:
        """Test whether the operator of a node may be folded, for any inputs."""
        if normal_domain(node.domain) or node.bodies or node.op.references:
            return False
        rules = rules_of(node.op)
        # An optional is no tensor, which the kernel returns for it.
        is_kept = node.is_op("Optional") or (self.keeps and rules.kept_from_folding)
        return not (is_kept or rules.draws_random_numbers(node))

    def fold(
        self, node: Node, tensors: Sequence[Tensor | None], opset: int | None = None
    ) -> list[Tensor] | None:
        """Fold a node; None where it may not be folded.

        A node that fails on its inputs stays and fails at run time.

        Args:
            tensors: one for each of its inputs.
            opset: its opset version where that is not (yet) its graph's.
        """
        if not all(t is None or self.reads(t) for t in tensors):
            return None
        copied = tensors[0] if node.is_op("Identity") else None
        if copied is not None:  # without onnx's kernels, which take long to import
            return [copied]
        root = node.root
        version = opset or root.opset()
        kernel = self._kernel(node, root, version)
        if kernel is None:
            return None
        if not notes_of(tensors):
            return self._compute(node, tensors, kernel, lambda: _node_message(node, root, version))
        _read_what_decides(node, tensors)
        # Made now, as the node may be removed before a recomputation.
        message = _node_message(node, root, version)
        return self._compute(node, tensors, kernel, lambda: message)

    def _compute(
        self, node: Node, tensors: Sequence[Tensor | None], kernel: Kernel, message: Message
    ) -> list[Tensor] | None:
        """The results of a kernel as constants."""
        arrays: list[Any] = [None if t is None else transparent(t).numpy() for t in tensors]
        results = run_kernel(node, arrays, self.max_bytes, kernel, message)
        if results is None:
            return None
        if any(not isinstance(a, np.ndarray) or size_of(a) > self.max_bytes for a in results):
            return None
        constants = self._share(results, node)
        notes = notes_of(tensors)
        if constants is None or not notes:
            return constants
        compute = functools.partial(self._compute, node, kernel=kernel, message=message)
        recipes = [Recipe(compute, (*tensors,), index) for index in range(len(constants))]
        pairs = zip(constants, recipes, strict=True)
        return [OpaqueTensor(tensor, notes, recipe) for tensor, recipe in pairs]

    def _share(self, arrays: Sequence[Array], node: Node) -> list[Tensor] | None:
        """Convert results to constants, equal ones to an earlier one; None above the memory
        limit."""
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
        """Test whether a tensor may be an operand."""
        return tensor.is_readable and not self.is_large(tensor)

    def is_large(self, tensor: Tensor) -> bool:
        """Test whether a tensor is above the limit."""
        return tensor.size * 4 > self.max_bytes

    def _kernel(self, node: Node, root: Model | Function, opset: int) -> Kernel | None:
        key = (node.op, root, opset)
        if key not in self._kernels:
            self._kernels[key] = self._make_kernel(node, root, opset)
        return self._kernels[key]

    def _make_kernel(self, node: Node, root: Model | Function, opset: int) -> Kernel | None:
        if not self.may_fold(node):
            return None
        proto, opsets = _node_message(node, root, opset)
        make = _shared_kernel if proto.ByteSize() <= _MOST_SHARED else _shared_kernel.__wrapped__
        return make(proto.SerializeToString(deterministic=True), tuple(sorted(opsets.items())))


def _read_what_decides(node: Node, tensors: Sequence[Tensor | None]) -> None:
    """Read the operands whose elements may decide the sizes of the results, or the failure."""
    rules = rules_of(node.op)
    is_neutral = rules.exact and not rules.defines(OperatorRules.is_settled)
    for index, tensor in enumerate(tensors):
        if isinstance(tensor, OpaqueTensor) and not (is_neutral and index not in rules.sized_by):
            tensor.read()


def _node_message(
    node: Node, root: Model | Function, opset: int
) -> tuple[onnx.NodeProto, dict[str, int]]:
    """The message of a node, and its opset imports."""
    return connected_message(node.op, node), {**root.opset_imports, node.domain: opset}


@functools.lru_cache(maxsize=256)
def _shared_kernel(text: bytes, opsets: tuple[tuple[str, int], ...]) -> Kernel | None:
    """The kernel of an encoded node, shared by all models."""
    try:
        return operator_kernel(onnx.NodeProto.FromString(text), dict(opsets))
    except EvaluationError:
        return None
