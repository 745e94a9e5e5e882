"""The activations of RNN, GRU and LSTM as nodes."""

from __future__ import annotations

import numpy as np
import onnx

from ....ir import Value
from ....ops.builder import Builder
from ..functions import PARAMETERS, Function
from ..weights import Unfit

_CLIP_BY_INPUTS = 11
_THRESHOLDED_RELU = 10
_WHERE = 9


class Activations:
    """Emitter of activations."""

    def __init__(self, emit: Builder, elem_type: int, clip: float | None) -> None:
        self.emit = emit
        self._dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        self._clip = clip
        self._numbers: dict[float, Value] = {}

    def number(self, number: float) -> Value:
        """Emit a constant, once for each number."""
        if number not in self._numbers:
            array = np.array(number).astype(self._dtype)
            self._numbers[number] = self.emit.constant(array, "number")
        return self._numbers[number]

    def clip(self, value: Value) -> Value:
        """Clip an operand to the limit."""
        if self._clip is None:
            return value
        bounds = -self._clip, self._clip
        if self.emit.opset < _CLIP_BY_INPUTS:
            return self.emit.add("Clip", [value], "clipped", min=bounds[0], max=bounds[1])
        return self.emit.add("Clip", [value, *map(self.number, bounds)], "clipped")

    def apply(self, function: Function, value: Value, label: str) -> Value:
        """Emit an activation of a value.

        Raises:
            Unfit: no operator for it in the opset.
        """
        kind, alpha, beta = function
        if kind == "Affine":
            scaled = value if alpha == 1 else self._scale(value, alpha)
            return self.emit.add("Add", [scaled, self.number(beta)], label)
        if kind == "ScaledTanh":
            bent = self.emit.add("Tanh", [self._scale(value, beta)], "bent")
            return self.emit.add("Mul", [bent, self.number(alpha)], label)
        if kind == "ThresholdedRelu" and self.emit.opset < _THRESHOLDED_RELU:
            return self._above(value, alpha, label)
        names = ("alpha", "beta")[: len(PARAMETERS[kind])]
        attributes = dict(zip(names, (alpha, beta), strict=False))
        return self.emit.add(kind, [value], label, **attributes)

    def _scale(self, value: Value, factor: float) -> Value:
        return self.emit.add("Mul", [value, self.number(factor)], "scaled")

    def _above(self, value: Value, least: float, label: str) -> Value:
        """Emit a ThresholdedRelu as a select: the value above a threshold, else 0."""
        if self.emit.opset < _WHERE:
            raise Unfit(f"has the activation ThresholdedRelu; convert to opset {_WHERE} first")
        is_above = self.emit.add("Greater", [value, self.number(least)], "is_above")
        return self.emit.add("Where", [is_above, value, self.number(0.0)], label)
