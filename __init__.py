"""straightline rewrites ONNX models so that control flow disappears or changes form, and
proves that the outputs stay the same, or else checks it on samples."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import batch, interop, ir, passes, reference, report, targets, versions
    from .about import __version__
    from .api import convert_version, rewrite, transform
    from .assumptions import AssumptionError
    from .batch.errors import BatchError
    from .certificates import Certificate, CertificateError
    from .hints import Hint
    from .inspection import Construct, Inspection, inspect
    from .ir import Error, GraphError, LoadError, ModelError, OnnxError, SaveError, load, save
    from .ir.kinds import KindError
    from .outcome import Outcome
    from .passes import (
        PassOptionError,
        Pipeline,
        PluginError,
        Remark,
        Result,
        RewriteError,
        StrictError,
    )
    from .passes.conformance import EmissionError
    from .proof.answer import Proof
    from .reference import EvaluationError
    from .reference.choices import VerifyError
    from .reference.feeds import FeedError
    from .reference.named_dimensions import BindingError
    from .reference.runtimes import RuntimeFailure
    from .reference.sample_shapes import SampleShapeError
    from .reference.verdict import Verdict
    from .targets import TargetError
    from .verification import prove, verify
    from .verification.mismatch import MismatchError, NotVerifiedError, NotVerifiedWarning
    from .versions import ConversionError

__all__ = [
    "AssumptionError",
    "BatchError",
    "BindingError",
    "Certificate",
    "CertificateError",
    "Construct",
    "ConversionError",
    "EmissionError",
    "Error",
    "EvaluationError",
    "FeedError",
    "GraphError",
    "Hint",
    "Inspection",
    "KindError",
    "LoadError",
    "MismatchError",
    "ModelError",
    "NotVerifiedError",
    "NotVerifiedWarning",
    "OnnxError",
    "Outcome",
    "PassOptionError",
    "Pipeline",
    "PluginError",
    "Proof",
    "Remark",
    "Result",
    "RewriteError",
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
    "inspect",
    "interop",
    "ir",
    "load",
    "passes",
    "prove",
    "reference",
    "report",
    "rewrite",
    "save",
    "targets",
    "transform",
    "verify",
    "versions",
]

# Where each public name lives. Loaded when first asked for (PEP 562): onnx and what it brings take
# over a second, which `straightline --help` need not wait for.
_HOMES = {
    "AssumptionError": ".assumptions",
    "BatchError": ".batch.errors",
    "BindingError": ".reference.named_dimensions",
    "Certificate": ".certificates",
    "CertificateError": ".certificates",
    "Construct": ".inspection",
    "ConversionError": ".versions",
    "EmissionError": ".passes.conformance",
    "Error": ".ir",
    "EvaluationError": ".reference",
    "FeedError": ".reference.feeds",
    "GraphError": ".ir",
    "Hint": ".hints",
    "Inspection": ".inspection",
    "KindError": ".ir.kinds",
    "LoadError": ".ir",
    "MismatchError": ".verification.mismatch",
    "ModelError": ".ir",
    "NotVerifiedError": ".verification.mismatch",
    "NotVerifiedWarning": ".verification.mismatch",
    "OnnxError": ".ir",
    "Outcome": ".outcome",
    "PassOptionError": ".passes",
    "Pipeline": ".passes",
    "PluginError": ".passes",
    "Proof": ".proof.answer",
    "Remark": ".passes",
    "Result": ".passes",
    "RewriteError": ".passes",
    "RuntimeFailure": ".reference.runtimes",
    "SampleShapeError": ".reference.sample_shapes",
    "SaveError": ".ir",
    "StrictError": ".passes",
    "TargetError": ".targets",
    "Verdict": ".reference.verdict",
    "VerifyError": ".reference.choices",
    "__version__": ".about",
    "convert_version": ".api",
    "inspect": ".inspection",
    "load": ".ir",
    "prove": ".verification",
    "rewrite": ".api",
    "save": ".ir",
    "transform": ".api",
    "verify": ".verification",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name], __name__), name)
    elif name in __all__:
        found = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'straightline' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
