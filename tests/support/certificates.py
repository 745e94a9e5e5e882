"""Derivations of two models in ONNX text, and their check."""

import onnx
import straightline as sl
from proofs import model
from straightline.verification.certificate_check import Acceptance, check
from straightline.verification.derivation import derive

PROOF = sl.Proof("proved", "equal for every input", equality="bits")


def certificate(before, after, bound=None):
    """A certificate for JSON, of two models that may differ."""
    return sl.Certificate.of(before, after, PROOF, bound).to_dict()


def of_text(text, opset):
    return text if isinstance(text, onnx.ModelProto) else model(text, opset)


def assert_derived(before, after, *rules, opsets=(18, 18)) -> Acceptance:
    """Check that a derivation exists, that its check accepts it, and which rules it uses."""
    models = [of_text(text, opset) for text, opset in zip((before, after), opsets, strict=True)]
    result = check(certificate(*models), *models)
    assert result.rules == tuple(sorted(rules))
    return result


def assert_none(before, after, reason="", opsets=(18, 18)):
    """Check that there is no derivation, for a reason."""
    models = [of_text(text, opset) for text, opset in zip((before, after), opsets, strict=True)]
    derivation = derive(*models, {})
    assert isinstance(derivation, str), derivation["steps"]
    assert reason in derivation
