"""Quantising and back: kept from folding, as the target may want to see where that is done."""

from __future__ import annotations

from typing import ClassVar

from ..facts.premises import Premises
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


@describes("DynamicQuantizeLinear")
class DynamicQuantizeLinear(OperatorRules):
    """DynamicQuantizeLinear, from opset 11 on."""

    kept_from_folding: ClassVar[bool] = True
