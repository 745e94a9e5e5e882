"""Exact reference semantics of ONNX models."""

from .errors import EvaluationError
from .evaluator import Evaluator, control_flow_operators, operator_kernel, run
from .runtimes import Workers
from .verdict import OutputDifference, Verdict
from .verify import VerifyError

__all__ = [
    "EvaluationError",
    "Evaluator",
    "OutputDifference",
    "Verdict",
    "VerifyError",
    "Workers",
    "control_flow_operators",
    "operator_kernel",
    "run",
]
