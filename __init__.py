"""Rewrite ONNX models without control flow, convert their opsets, and prove equal outputs.

Outputs of which no proof is found are compared on samples.
"""

from __future__ import annotations

import gc
import importlib

TYPE_CHECKING = False  # typing takes a third of the time until Ctrl-C is in a command's hands
if TYPE_CHECKING:
    from typing import Any

    from . import batch, interop, ir, passes, reference, report, targets, versions
    from .batch.errors import BatchError
    from .definitions.pattern import RuleError
    from .display.package_version import __version__
    from .driver.assumptions import AssumptionError
    from .driver.calls import convert_version, inspect, rewrite, transform
    from .driver.inspect import Construct, Inspection
    from .driver.result import Outcome
    from .driver.suggestions import Hint
    from .ir import Error, GraphError, LoadError, ModelError, OnnxError, SaveError, load, save
    from .ir.errors import BindingError, OpenAttributeError
    from .ir.faults import FaultWarning
    from .ir.kinds import KindError
    from .passes import (
        PassOptionError,
        Pipeline,
        PluginError,
        Remark,
        Result,
        RewriteError,
        StrictError,
    )
    from .passes.new_nodes import EmissionError
    from .passes.simplify.rules.match import Match
    from .passes.simplify.rules.registry import rule
    from .passes.simplify.rules.rule import Rule
    from .reduction.command import CommandError
    from .reduction.reduce import ReductionError
    from .reference import EvaluationError
    from .reference.errors import InputNameError
    from .runtimes.feeds import FeedError
    from .runtimes.workers import RuntimeFailure
    from .targets import TargetError
    from .verification import prove, verify
    from .verification.certificate import Certificate
    from .verification.checker.terms import CertificateError
    from .verification.correspondence import CorrespondenceError
    from .verification.counterexample import Counterexample
    from .verification.mismatch import MismatchError, NotVerifiedError, NotVerifiedWarning
    from .verification.proof.result import Condition, Proof
    from .verification.runs.kernel_check import define
    from .verification.runs.options import VerifyError
    from .verification.runs.sample_shapes import SampleShapeError
    from .verification.runs.verdict import Verdict
    from .version_converter import ConversionError

__all__ = [
    "AssumptionError",
    "BatchError",
    "BindingError",
    "Certificate",
    "CertificateError",
    "CommandError",
    "Condition",
    "Construct",
    "ConversionError",
    "CorrespondenceError",
    "Counterexample",
    "EmissionError",
    "Error",
    "EvaluationError",
    "FaultWarning",
    "FeedError",
    "GraphError",
    "Hint",
    "InputNameError",
    "Inspection",
    "KindError",
    "LoadError",
    "Match",
    "MismatchError",
    "ModelError",
    "NotVerifiedError",
    "NotVerifiedWarning",
    "OnnxError",
    "OpenAttributeError",
    "Outcome",
    "PassOptionError",
    "Pipeline",
    "PluginError",
    "Proof",
    "ReductionError",
    "Remark",
    "Result",
    "RewriteError",
    "Rule",
    "RuleError",
    "RuntimeFailure",
    "SampleShapeError",
    "SaveError",
    "StrictError",
    "TargetError",
    "Verdict",
    "VerifyError",
    "__version__",
    "batch",
    "convert_version",
    "define",
    "inspect",
    "interop",
    "ir",
    "load",
    "passes",
    "prove",
    "reference",
    "report",
    "rewrite",
    "rule",
    "save",
    "targets",
    "transform",
    "verify",
    "versions",
]

# Where each public name lives. Loaded when first asked for (PEP 562): onnx and what it brings take
# over a second, which `straightline --help` need not wait for.
_HOMES = {
    name: home
    for home, names in {
        ".batch.errors": "BatchError",
        ".display.package_version": "__version__",
        ".driver.calls": "convert_version inspect rewrite transform",
        ".driver.inspect": "Construct Inspection",
        ".driver.result": "Outcome",
        ".driver.suggestions": "Hint",
        ".driver.assumptions": "AssumptionError",
        ".ir": "Error GraphError LoadError ModelError OnnxError SaveError load save",
        ".ir.kinds": "KindError",
        ".passes": "PassOptionError Pipeline PluginError Remark Result RewriteError StrictError",
        ".passes.new_nodes": "EmissionError",
        ".definitions.pattern": "RuleError",
        ".passes.simplify.rules.registry": "rule",
        ".passes.simplify.rules.match": "Match",
        ".passes.simplify.rules.rule": "Rule",
        ".ir.errors": "BindingError OpenAttributeError",
        ".ir.faults": "FaultWarning",
        ".reduction.command": "CommandError",
        ".reduction.reduce": "ReductionError",
        ".reference": "EvaluationError",
        ".reference.errors": "InputNameError",
        ".runtimes.feeds": "FeedError",
        ".runtimes.workers": "RuntimeFailure",
        ".targets": "TargetError",
        ".verification": "prove verify",
        ".verification.certificate": "Certificate",
        ".verification.checker.terms": "CertificateError",
        ".verification.correspondence": "CorrespondenceError",
        ".verification.counterexample": "Counterexample",
        ".verification.mismatch": "MismatchError NotVerifiedError NotVerifiedWarning",
        ".verification.proof.result": "Condition Proof",
        ".verification.runs.kernel_check": "define",
        ".verification.runs.options": "VerifyError",
        ".verification.runs.sample_shapes": "SampleShapeError",
        ".verification.runs.verdict": "Verdict",
        ".version_converter": "ConversionError",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in __all__:
        raise AttributeError(f"module 'straightline' has no attribute '{name}'")
    collects = gc.isenabled()
    gc.disable()  # imports make many objects and drop few
    try:
        home = importlib.import_module(_HOMES.get(name, f".{name}"), __name__)
    finally:
        if collects:
            gc.enable()
    value = globals()[name] = getattr(home, name) if name in _HOMES else home
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
