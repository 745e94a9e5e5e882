"""Exact reference semantics of ONNX models."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .choices import VerifyError
    from .errors import EvaluationError
    from .evaluator import Evaluator, control_flow_operators, operator_kernel, run
    from .runtimes import Workers
    from .verdict import OutputDifference, Verdict

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
    "Evaluator": ".evaluator",
    "OutputDifference": ".verdict",
    "Verdict": ".verdict",
    "VerifyError": ".choices",
    "Workers": ".runtimes",
    "control_flow_operators": ".evaluator",
    "operator_kernel": ".evaluator",
    "run": ".evaluator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
