"""Forged certificates: all that the rules of the checker reach for two models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import straightline as sl
from straightline.ir import Error, ModelSource
from straightline.ir.io.fingerprint import digest_of
from straightline.verification.checker.check import check, derivation_of, replayed
from straightline.verification.checker.rules import RULES
from straightline.verification.checker.terms import CertificateError

ROUNDS = 8


def accepted(before: ModelSource, after: ModelSource, bound: Mapping[str, Any]) -> bool:
    """Tell whether a certificate passes in which each rule is applied to each term."""
    try:
        replay = replayed(before, after, bound)
        steps = [step for _ in range(ROUNDS) for step in _steps(replay)]
        derivation = derivation_of(replayed(before, after, bound), steps)
        conditions = tuple(derivation["assumptions"])
        proof = sl.Proof("proved", "", assumptions=conditions, equality="bits")
        digests = digest_of(before), digest_of(after)
        document = sl.Certificate(*digests, proof, bound, derivation).to_dict()
        check(document, before, after)
    except Error:
        return False
    return True


def _steps(replay: Any) -> list[tuple[str, int]]:
    steps = []
    for term in range(len(replay.terms.nodes)):
        for rule in RULES:
            try:
                derived = replay.derive(rule, term)
                if derived is not None and replay.accept(rule, term, derived):
                    steps.append((rule, term))
            except CertificateError:
                continue
    return steps
