"""Computing a node whose inputs are all known, with onnx's own reference for the operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir import Array, Function, Model, Node, Operator, Tensor
from ...operators.randomness import draws_random_numbers
from ...reference.errors import EvaluationError

Kernel = Callable[[list[Array | None]], list[Array]]

MAX_BYTES = 1 << 20
"""Folding makes no tensor larger than this, so that a model does not grow by being folded."""

_KEPT = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
"""Folding these would undo a quantization that the target may want to see."""


def _product(array: Any) -> float:
    return float(np.prod(np.abs(np.asarray(array, np.float64))))


def _times(array: Any, factors: Any) -> float:
    return float(array.size * _product(factors))


def _steps(start: float, limit: float, delta: float) -> float:
    return (limit - start) / delta if delta else 0


def _padded(array: Any, pads: Any) -> float:
    return float(math.prod(dim + int(np.abs(pads).sum()) for dim in array.shape))


def _broadcast(node: Node, arrays: list[Any]) -> float:
    try:
        return float(math.prod(np.broadcast_shapes(*(a.shape for a in arrays))))
    except ValueError:
        return 0


_GROWING: dict[str, Callable[[Node, list[Any]], float]] = {
    "ConstantOfShape": lambda n, a: _product(a[0]),
    "Expand": lambda n, a: _times(*a[:2]),
    "Tile": lambda n, a: _times(a[0], a[1]),
    "OneHot": lambda n, a: _times(a[0], a[1]),
    "Range": lambda n, a: _steps(*(float(x.reshape(-1)[:1].sum()) for x in a)),
    "Pad": lambda n, a: _padded(a[0], a[1] if len(a) > 1 else n.attribute("pads", [])),
    # The scales come second in opset 10 and behind the region from 11 on, then the sizes.
    "Resize": lambda n, a: max(_times(a[0], x) for x in [1, *(a[2:] or a[1:])] if x is not None),
    "Upsample": lambda n, a: _times(a[0], a[1] if len(a) > 1 else n.attribute("scales", 1)),
    "Einsum": lambda n, a: math.prod(array.size for array in a),
    "CenterCropPad": lambda n, a: a[0].size * _product(a[1]),
    "AffineGrid": lambda n, a: 3 * _product(a[1]),
    "Col2Im": lambda n, a: _times(a[0], a[1]),
    "MelWeightMatrix": lambda n, a: _product(a[0]) * _product(a[1]),
    **dict.fromkeys(("Where", "Max", "Min", "Sum", "Mean"), _broadcast),
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), lambda n, a: _product(a[0])),
}
"""Upper bounds on the elements of operators that can make much of little."""


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

    def may_fold(self, node: Node) -> bool:
        """Whether the node's operator is one to fold, whatever its inputs are."""
        op = node.op
        if op.domain not in ("", "ai.onnx") or op.qualname in _KEPT or op.qualname == "Constant":
            return False
        return not (node.bodies or op.references or draws_random_numbers(node))

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
        if not all(t is None or self._is_read(t) for t in tensors):
            return None
        copied = tensors[0] if node.is_op("Identity") else None
        if copied is not None:  # without onnx's kernels, which take long to import
            return [copied]
        kernel = self._kernel(node, opset)
        if kernel is None:
            return None
        arrays: list[Any] = [None if tensor is None else tensor.numpy() for tensor in tensors]
        bound = _GROWING.get(node.op_type, _bound_by_inputs)(node, arrays)
        if not bound <= self.max_bytes or _divides_by_zero(node, arrays):
            return None
        try:
            results = kernel(arrays)
        except EvaluationError:
            return None
        if any(not isinstance(a, np.ndarray) or a.nbytes > self.max_bytes for a in results):
            return None
        return [Tensor(array=array) for array in results]

    def _is_read(self, tensor: Tensor) -> bool:
        return tensor.is_readable and not self.is_large(tensor)

    def is_large(self, tensor: Tensor) -> bool:
        """Whether a tensor is over the size that is read or made."""
        return tensor.size * 4 > self.max_bytes

    def _kernel(self, node: Node, opset: int | None) -> Kernel | None:
        assert node.graph is not None
        root = node.graph.root
        key = (node.op, root, opset or root.opset())
        if key not in self._kernels:
            self._kernels[key] = self._make_kernel(node, root, key[2])
        return self._kernels[key]

    def _make_kernel(self, node: Node, root: Model | Function, opset: int) -> Kernel | None:
        if not self.may_fold(node):
            return None
        from ...reference.evaluator import operator_kernel  # brings onnx's kernels

        proto = node.op.node_proto()
        proto.input.extend("" if v is None else f"i{i}" for i, v in enumerate(node.inputs))
        proto.output.extend("" if v is None else f"o{i}" for i, v in enumerate(node.outputs))
        try:
            return operator_kernel(proto, {**root.opset_imports, node.domain: opset})
        except EvaluationError:
            return None


def _divides_by_zero(node: Node, arrays: list[Any]) -> bool:
    """Whether integers are divided by 0, of which numpy makes 0 and a runtime an error."""
    if not node.is_op("Div", "Mod") or arrays[1].dtype.kind not in "iu":
        return False
    return not arrays[1].all()


def _bound_by_inputs(node: Node, arrays: list[Any]) -> float:
    """Broadcasting and products make at most the product of the inputs' sizes."""
    large = [array.size for array in arrays if array is not None and array.size > 1024]
    return math.prod(large) if len(large) > 1 else 0
