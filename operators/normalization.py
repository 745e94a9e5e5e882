"""Axes that are normalised by what they hold."""

from __future__ import annotations

from ..facts.premises import Premises, at_least, require, same_shape
from .rules import OperatorRules, describes


@describes("Softmax", "LogSoftmax", "Hardmax")
class Softmax(OperatorRules):
    """Softmax, LogSoftmax and Hardmax: along one axis, the last one, from opset 13 on; before,
    along all axes from one on, the second."""

    def prove_safe(self, given: Premises) -> None:
        shape = given.shape(0)
        older = given.opset < 13
        axis = given.axis(len(shape), 1 if older else -1)
        for dim in shape[axis:] if older else [shape[axis]]:
            at_least(dim, 1, f"axis {axis}")


@describes("BatchNormalization")
class BatchNormalization(OperatorRules):
    """BatchNormalization: it trains if training_mode (from opset 14 on) says so; from 7 to 13 it
    does not with one output."""

    def prove_safe(self, given: Premises) -> None:
        shape = given.shape(0)
        require(not given.node.attribute("training_mode", 0), "it trains")
        require(len(shape) >= 2, "the rank is below two")
        for index in range(1, 5):
            same_shape(given.shape(index), (shape[1],), given.name(index))


@describes("LayerNormalization")
class LayerNormalization(OperatorRules):
    """LayerNormalization, from opset 17 on: scale and bias may be stretched, which runtimes do not
    all do."""

    def prove_safe(self, given: Premises) -> None:
        shape = given.shape(0)
        axis = given.axis(len(shape), -1)
        for index in (1, 2):
            if given.has(index):
                same_shape(given.shape(index), shape[axis:], given.name(index))
