"""Constants of a model during its conversion, decided before run time."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..analysis.constants.folding import Folder
from ..ir import Tensor, Value
from .types import Types

_MOST_STORED = 1 << 13
"""Limit of elements of a constant that grows with the data."""


def is_small(sizes: Sequence[int | None]) -> bool:
    """Test whether a constant may have a shape; else run time computes it."""
    lengths = [size for size in sizes if size is not None]
    return len(lengths) == len(sizes) and math.prod(lengths) <= _MOST_STORED


class Constants:
    """Tensors of values that depend on constants alone, each computed once.

    Valid for one step of a conversion, in which nodes change from one version to the next.

    Args:
        types: the source of static shapes and of the nodes' versions.
    """

    def __init__(self, types: Types, folder: Folder) -> None:
        self._types = types
        self._folder = folder
        self._known: dict[Value, Tensor | None] = {}

    def leave_open(self, values: Iterable[Value]) -> None:
        """Record values that constants do not decide, so that nothing before them is visited."""
        self._known.update(dict.fromkeys(values))

    def tensor(self, value: Value) -> Tensor | None:
        """The tensor of a value; None where constants do not decide it.

        Each value is visited once; inputs of a node after an unknown one are not visited.
        """
        if value in self._known:
            return self._known[value]
        stack = [(value, iter(self._needs(value)))]
        while stack:
            last, needs = stack[-1]
            need = next((v for v in needs if not self._known.get(v)), None)
            if need is not None and need not in self._known:
                stack.append((need, iter(self._needs(need))))
                continue
            if need is None:
                self._compute(last)
            if self._known.get(last) is None:  # nor do constants decide what waits for it
                self._known.update((waiting, None) for waiting, _ in stack)
                break
            stack.pop()
        return self._known[value]

    def _needs(self, value: Value) -> Sequence[Value]:
        """The inputs that decide a value."""
        node = value.producer
        if value in self._known or node is None or self._at_hand(value) is not None:
            return ()
        return [v for v in node.inputs if v is not None] if self._folder.may_fold(node) else ()

    def _at_hand(self, value: Value) -> Tensor | None:
        """A tensor that needs no computation: a constant, or a static shape."""
        node = value.producer
        if value.constant is not None or node is None:
            return value.constant
        if not node.is_op("Shape") or node.op.attributes:
            return None
        shape = self._types.shape(node.inputs[0])
        if shape is None or None in shape:
            return None
        return Tensor(array=np.array(shape, np.int64))

    def _compute(self, value: Value) -> None:
        """Compute a value whose inputs are known."""
        node, tensor = value.producer, self._at_hand(value)
        if value in self._known:
            return
        self._known[value] = tensor
        if tensor is None and node is not None and self._folder.may_fold(node):
            tensors = [None if v is None else self._known[v] for v in node.inputs]
            results = self._folder.fold(node, tensors, self._types.version_of(node))
            for output, result in zip(node.outputs, results or (), strict=False):
                if output is not None:
                    self._known[output] = result
