"""Quantising and back: kept from folding, as the target may want to see where that is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..facts.premises import Premises
from ..ir import Value
from .batching import Batch, Unbatchable
from .rules import KeepsShape, OperatorRules, describes


@describes("QuantizeLinear", "DequantizeLinear")
class Quantization(KeepsShape):
    """QuantizeLinear and DequantizeLinear, from opset 10 on: by one scale, or (from 13 on) one for
    each position of an axis, or (from 21 on) one for each block."""

    kept_from_folding: ClassVar[bool] = True

    def prove_safe(self, given: Premises) -> None:
        for index in (1, 2):
            if given.has(index):
                given.shape(index, 0)

    def batch(self, given: Batch) -> Sequence[Value]:
        if given.varies(1) or given.varies(2):
            return self._by_trips(given)
        scale = given.shape(1)
        inputs = [given.given(0).value, *map(given.fixed, range(1, len(given.operands)))]
        if not scale or (len(scale) == 1 and scale[0] == 1):
            return given.same(inputs)
        if len(scale) > 1 or scale[0].equals(1) is None:
            raise Unbatchable("scales blocks, or by a number of scales that only run time tells")
        return given.same(inputs, axis=given.axis(given.node.attribute("axis", 1), given.rank(0)))

    def _by_trips(self, given: Batch) -> Sequence[Value]:
        """A scale for each trip: the trips are the axis with a scale for each position."""
        count = len(given.operands)
        if given.rank(1) or given.emit.opset < 13:
            raise Unbatchable("has more than one scale on each trip, and they vary")
        return given.same([given.spread(index) for index in range(count)], axis=0)


@describes("DynamicQuantizeLinear")
class DynamicQuantizeLinear(OperatorRules):
    """DynamicQuantizeLinear, from opset 11 on."""

    kept_from_folding: ClassVar[bool] = True
