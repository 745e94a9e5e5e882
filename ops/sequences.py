"""Sequences: how many elements they hold."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import onnx

from ..facts.fact import Fact, as_content, decided
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, Unproven, require, same
from ..ir import Node
from .composite import Wrapper
from .rules import OperatorRules, describes


@describes("SequenceEmpty", "SequenceConstruct")
class SequenceConstruct(OperatorRules):
    """SequenceEmpty and SequenceConstruct, from opset 11 on: all inputs have one type."""

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return len(node.inputs)

    def prove_safe(self, premises: Premises) -> None:
        """Give a sequence."""


@describes("SequenceMap")
class SequenceMap(OperatorRules):
    """SequenceMap, from opset 17 on: as many elements as its first input has."""

    more: ClassVar[int] = 0
    """Number of elements by which the output is longer than the first input."""

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        count = inputs[0].count
        return None if count is None else count + self.more


@describes("SequenceInsert", more=1)
class SequenceInsert(SequenceMap):
    """SequenceInsert, from opset 11 on."""

    def prove_safe(self, premises: Premises) -> None:
        if premises.has(2):
            count = _length(premises)
            # The place behind the last element is valid, too.
            premises.within(2, [Dimension.constant(count + 1)])
            # Among n + 1 places, -n - 1 is valid, but there is no such element to insert before.
            low, _ = premises.bounds(2)
            require((low + count).less(0) is False, f"position {low} is before the first element")


class AtPlace(OperatorRules):
    """An operator on one element: the last one where no place is named."""

    def prove_safe(self, premises: Premises) -> None:
        count = _length(premises)
        require(count > 0, f"{premises.name(0)} is empty")
        if premises.has(1):
            premises.within(1, [Dimension.constant(count)])


@describes("SequenceErase", more=-1)
class SequenceErase(AtPlace, SequenceMap):
    """SequenceErase, from opset 11 on."""


@describes("SequenceAt")
class SequenceAt(AtPlace, Wrapper):
    """SequenceAt, from opset 11 on."""


def _length(premises: Premises) -> int:
    """The number of elements of the first input."""
    count = premises.inputs[0].fact.count
    if count is None:
        raise Unproven(f"the length of {premises.name(0)} is not known")
    return count


@describes("SplitToSequence")
class SplitToSequence(OperatorRules):
    """SplitToSequence, from opset 11 on: a part for each size that is given, or as many of one size
    as the axis takes."""

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        split = inputs[1] if node.input(1) is not None else None
        if split is not None and split.shape is None:
            return None
        if split is not None and split.shape:
            return split.shape[0].value
        # Without sizes each part has the length 1.
        sizes = decided(split) if split is not None else np.array(1)
        axis, shape = node.attribute("axis", 0), inputs[0].shape
        if sizes is None or sizes < 1 or shape is None or not -len(shape) <= axis < len(shape):
            return None
        length = shape[axis].value
        # Rounded up: the last part may be shorter.
        return None if length is None else -(-length // int(sizes))

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        length = shape[premises.axis(len(shape), 0)]
        if not premises.has(1):
            return
        sizes = premises.numbers(1)
        if sizes.ndim == 0:
            require(int(sizes) > 0, f"{premises.name(1)} is not positive")
        else:
            require(min(sizes, default=0) >= 0, f"{premises.name(1)} holds a negative size")
            same(length, int(sizes.sum()), "the sum of its sizes")


@describes("SequenceLength")
class SequenceLength(OperatorRules):
    """SequenceLength, from opset 11 on: an integer of 64 bits, whatever the elements are."""

    def facts(self, node: Node, inputs: Sequence[Fact]) -> list[Fact] | None:
        count = inputs[0].count
        if count is None:
            return None
        return [Fact(onnx.TensorProto.INT64, (), as_content(np.array(count, np.int64)))]

    def prove_safe(self, premises: Premises) -> None:
        """Give a number: each sequence has a length."""
