"""Errors of the reference evaluator."""

from __future__ import annotations

from ..ir.errors import Error
from ..ir.onnx_errors import Boundary


class EvaluationError(Error):
    """A model, or one operator of it, could not be evaluated; the message names the node."""


ask_onnx = Boundary(EvaluationError)
