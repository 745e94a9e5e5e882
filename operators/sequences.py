"""Sequences: how many elements they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import onnx

from ..facts.fact import Fact, as_content, decided
from ..ir import Node
from .rules import OperatorRules, describes


@describes("SequenceEmpty")
class SequenceEmpty(OperatorRules):
    """SequenceEmpty, from opset 11 on."""

    exact: ClassVar[bool] = True

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return 0


@describes("SequenceConstruct")
class SequenceConstruct(OperatorRules):
    """SequenceConstruct, from opset 11 on."""

    exact: ClassVar[bool] = True

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return len(node.inputs)


@describes("SequenceInsert")
class SequenceInsert(OperatorRules):
    """SequenceInsert, from opset 11 on."""

    exact: ClassVar[bool] = True

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return _changed(inputs, 1)


@describes("SequenceErase")
class SequenceErase(OperatorRules):
    """SequenceErase, from opset 11 on."""

    exact: ClassVar[bool] = True

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return _changed(inputs, -1)


@describes("SequenceMap")
class SequenceMap(OperatorRules):
    """SequenceMap, from opset 17 on: as many as it is given."""

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return _changed(inputs, 0)


def _changed(inputs: Sequence[Fact], more: int) -> int | None:
    count = inputs[0].count
    return None if count is None else count + more


@describes("SplitToSequence")
class SplitToSequence(OperatorRules):
    """SplitToSequence, from opset 11 on: a part for each size that is given, or as many of one size
    as the axis takes."""

    exact: ClassVar[bool] = True
    sized_by: ClassVar[tuple[int, ...]] = (1,)

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
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


@describes("SequenceLength")
class SequenceLength(OperatorRules):
    """SequenceLength, from opset 11 on: an integer of 64 bits, whatever the elements are."""

    exact: ClassVar[bool] = True
    reads_sizes_only: ClassVar[bool] = True

    def facts(self, node: Node, inputs: Sequence[Fact]) -> list[Fact] | None:
        count = inputs[0].count
        if count is None:
            return None
        return [Fact(onnx.TensorProto.INT64, (), as_content(np.array(count, np.int64)))]
