"""What the reference evaluator raises."""

from __future__ import annotations

from ..ir.boundary import Boundary
from ..ir.errors import Error


class EvaluationError(Error):
    """A model, or one operator of it, could not be evaluated; the message names the node."""


ask_onnx = Boundary(EvaluationError)
