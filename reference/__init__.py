"""Exact reference semantics of ONNX models."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import EvaluationError
    from .interpreter.evaluator import Evaluator, control_flow_operators, run
    from .interpreter.node_kernels import operator_kernel

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

# Where each name lives. Loaded when first asked for: onnx's kernels take their time, and most
# commands need few of these.
_HOMES = {
    "EvaluationError": ".errors",
    "Evaluator": ".interpreter.evaluator",
    "OutputDifference": "..verification.runs.verdict",
    "Verdict": "..verification.runs.verdict",
    "VerifyError": "..verification.runs.options",
    "Workers": "..runtimes.workers",
    "control_flow_operators": ".interpreter.evaluator",
    "operator_kernel": ".interpreter.node_kernels",
    "run": ".interpreter.evaluator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
