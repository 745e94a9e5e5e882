"""How many elements a sequence holds, where its making tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ..facts.fact import Fact, as_content, decided
from ..ir import Node

Rule = Callable[[Node, Sequence[Fact]], int | None]


def length(inputs: Sequence[Fact]) -> list[Fact] | None:
    """The length that a SequenceLength gives."""
    count = inputs[0].count
    if count is None:
        return None
    return [Fact(onnx.TensorProto.INT64, (), as_content(np.array(count, np.int64)))]


def _changed_by(more: int) -> Rule:
    def rule(node: Node, inputs: Sequence[Fact]) -> int | None:
        count = inputs[0].count
        return None if count is None else count + more

    return rule


def _parts(node: Node, inputs: Sequence[Fact]) -> int | None:
    """A part for each size that is given, or as many of one size as the axis takes."""
    split = inputs[1] if node.input(1) is not None else None
    if split is not None and split.shape is None:
        return None
    if split is not None and split.shape:
        return split.shape[0].value
    sizes = decided(split) if split is not None else np.array(1)
    axis, shape = node.attribute("axis", 0), inputs[0].shape
    if sizes is None or sizes < 1 or shape is None or not -len(shape) <= axis < len(shape):
        return None
    length = shape[axis].value
    return None if length is None else -(-length // int(sizes))


RULES: dict[str, Rule] = {
    "SequenceEmpty": lambda node, inputs: 0,
    "SequenceConstruct": lambda node, inputs: len(node.inputs),
    "SequenceInsert": _changed_by(1),
    "SequenceErase": _changed_by(-1),
    "SequenceMap": _changed_by(0),
    "Identity": _changed_by(0),
    "SplitToSequence": _parts,
}
