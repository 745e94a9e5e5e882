"""straightline rewrites ONNX models so that control flow disappears or changes form, and
proves that the outputs stay the same, or else checks it on samples."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ir, passes, reference, versions
    from .api import convert_version, rewrite
    from .binding import BindingError
    from .certificates import Certificate, CertificateError
    from .inspection import Construct, Inspection, inspect
    from .ir import Error
    from .passes import Pipeline, Remark, Result
    from .proof.answer import Proof
    from .reference.verdict import Verdict
    from .rewriting import MismatchError, NotVerifiedError, NotVerifiedWarning
    from .verification import prove, verify

__all__ = [
    "BindingError",
    "Certificate",
    "CertificateError",
    "Construct",
    "Error",
    "Inspection",
    "MismatchError",
    "NotVerifiedError",
    "NotVerifiedWarning",
    "Pipeline",
    "Proof",
    "Remark",
    "Result",
    "Verdict",
    "convert_version",
    "inspect",
    "ir",
    "passes",
    "prove",
    "reference",
    "rewrite",
    "verify",
    "versions",
]

# Where each public name lives. Loaded when first asked for (PEP 562): onnx and what it brings take
# over a second, which `straightline --help` need not wait for.
_HOMES = {
    "BindingError": ".binding",
    "Certificate": ".certificates",
    "CertificateError": ".certificates",
    "Construct": ".inspection",
    "Error": ".ir",
    "Inspection": ".inspection",
    "MismatchError": ".rewriting",
    "NotVerifiedError": ".rewriting",
    "NotVerifiedWarning": ".rewriting",
    "Pipeline": ".passes",
    "Proof": ".proof.answer",
    "Remark": ".passes",
    "Result": ".passes",
    "Verdict": ".reference.verdict",
    "convert_version": ".api",
    "inspect": ".inspection",
    "prove": ".verification",
    "rewrite": ".api",
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
