"""Verification of results: exit codes, and certificates that are kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .exit_codes import EXIT_DIFFERENT, EXIT_NOT_VERIFIED

if TYPE_CHECKING:
    from ..display import OnProgress
    from ..driver.result import Outcome
    from ..ir import Array, ModelFile
    from ..verification.certificate import Certificate
    from ..verification.mismatch import MismatchError
    from ..verification.runs.options import VerifyOptions


def verified(
    outcome: Outcome, options: VerifyOptions, on_progress: OnProgress, strict: bool = False
) -> tuple[Outcome, MismatchError | None, int]:
    """Compare with the original; return the outcome with its verdict, the error, the exit code.

    Raises:
        NotVerifiedError: (`strict`) nothing could be compared.
    """
    from ..verification.mismatch import MismatchError, NotVerifiedError

    try:
        outcome = outcome.compared(options, on_progress=on_progress)
    except MismatchError as error:
        return dataclasses.replace(outcome, verdict=error.verdict), error, EXIT_DIFFERENT
    verdict = outcome.verdict
    assert verdict is not None
    if options.prove and not verdict.proved:
        return outcome, None, EXIT_NOT_VERIFIED
    if strict and not verdict.equal:
        raise NotVerifiedError(f"the rewrite was not verified: {verdict.reason}")
    return outcome, None, 0


def keep(certificate: Path | None, outcome: Outcome, original: ModelFile, force: bool) -> None:
    """Write the certificate of what was proved, where one is asked for."""
    if certificate is None:
        return
    from ..verification.certificate import Certificate

    assert outcome.verdict is not None and outcome.verdict.proof is not None
    record = Certificate.of(original, outcome.ir, outcome.verdict.proof, outcome.bound)
    record.write(certificate, force=force)


def kept_for(
    path: Path, before: ModelFile, after: ModelFile, bound: dict[str, Array]
) -> Certificate:
    """Read a certificate, and check that it is one for two models.

    Raises:
        CertificateError: it is none, or is for others.
        BadParameter: values of inputs are given too.
    """
    from ..verification.certificate import Certificate

    if bound:
        raise typer.BadParameter("the certificate holds the values that were set; leave out --set")
    certificate = Certificate.read(path)
    certificate.require_models(before, after)
    return certificate
