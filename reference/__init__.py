"""Exact reference semantics of ONNX models."""

from .errors import EvaluationError
from .evaluator import Evaluator, control_flow_operators, operator_kernel, run

__all__ = [
    "EvaluationError",
    "Evaluator",
    "control_flow_operators",
    "operator_kernel",
    "run",
]
