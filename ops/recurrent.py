"""Recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import Node
from .cost_estimates import recurrence
from .rules import OperatorRules, describes


@describes("LSTM", "GRU", "RNN")
class Recurrent(OperatorRules):
    """LSTM, GRU and RNN: one step after the other."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        states = float(arrays[2].size) / max(1, arrays[2].shape[1])
        steps, batch = (*arrays[0].shape, 1, 1)[:2]
        return float(states * steps * batch)

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return recurrence(arrays)
