"""Constants of a model during its conversion, decided before run time."""

from __future__ import annotations

import numpy as np

from ..analysis.constants.folding import Folder
from ..ir import Tensor, Value
from .types import Types


class Constants:
    """Tensors of values that depend on constants alone, each computed once.

    Valid for one step of a conversion, in which nodes change from one version to the next.

    Args:
        types: the source of static shapes and of the nodes' versions.
        folder: computes nodes.
    """

    def __init__(self, types: Types, folder: Folder) -> None:
        self._types = types
        self._folder = folder
        self._known: dict[Value, Tensor | None] = {}

    def tensor(self, value: Value) -> Tensor | None:
        """The tensor of a value; None where constants do not decide it.

        Each value is visited once; inputs of a node after an unknown one are not visited.
        """
        stack = [_Open(value)]
        while stack:
            open_ = stack[-1]
            if open_.needs is None:
                open_.needs = self._needs(open_.value)
            while open_.at < len(open_.needs) and self._known.get(open_.needs[open_.at]):
                open_.at += 1
            if open_.at == len(open_.needs):
                self._compute(open_.value)
                stack.pop()
            elif open_.needs[open_.at] in self._known:
                self._known[open_.value] = None
                stack.pop()
            else:
                stack.append(_Open(open_.needs[open_.at]))
        return self._known[value]

    def _needs(self, value: Value) -> list[Value]:
        """The inputs that decide a value."""
        node = value.producer
        if value in self._known or node is None or self._at_hand(value) is not None:
            return []
        if not self._folder.may_fold(node):
            return []
        return [v for v in node.inputs if v is not None]

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


class _Open:
    """A value under evaluation, with the position of its next input."""

    __slots__ = ("at", "needs", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self.needs: list[Value] | None = None
        self.at = 0
