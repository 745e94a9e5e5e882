"""Errors of the reference evaluator."""

from ..ir.errors import BindingError, Error
from ..ir.onnx_errors import Boundary


class EvaluationError(Error):
    """A model, or one operator of it, could not be evaluated; the message names the node."""


class InputNameError(EvaluationError, BindingError):
    """A value is given for an input that the model does not have."""


ask_onnx = Boundary(EvaluationError)
