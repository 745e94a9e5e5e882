"""Flatten: onnx.reference does not flatten what is empty."""

from __future__ import annotations

import math

from onnx.reference.op_run import OpRun

from ..bodies import Array


class Flatten(OpRun):
    """Flatten, all versions: a matrix of the axes before one and those behind it."""

    def _run(self, x: Array, axis: int = 1) -> tuple[Array, ...]:
        before, behind = x.shape[:axis], x.shape[axis:]
        return (x.reshape(math.prod(before), math.prod(behind)),)
