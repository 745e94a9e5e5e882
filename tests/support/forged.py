"""Forged certificates: all that the rules of the checker reach for two models."""

from collections.abc import Mapping
from typing import Any

import straightline as sl
from straightline.facts.notions import Equality
from straightline.ir import Error, ModelSource
from straightline.ir.io.fingerprint import digest_of
from straightline.verification.certificate_check import check, derivation_of, replayed
from straightline.verification.checker.rules import NOTIONS, RULES
from straightline.verification.checker.terms import CertificateError

ROUNDS = 8


def accepted(
    before: ModelSource, after: ModelSource, bound: Mapping[str, Any], equality: Equality = "bits"
) -> bool:
    """Tell whether a certificate passes in which each rule is applied to each term."""
    question = before, after, bound, None, equality
    try:
        replay = replayed(*question)
        notions = NOTIONS[: NOTIONS.index(equality) + 1]
        steps = [step for each in notions for _ in range(ROUNDS) for step in _steps(replay, each)]
        derivation = derivation_of(replayed(*question), steps)
        conditions = tuple(derivation["assumptions"])
        fields = {"assumptions": conditions, "equality": equality, "derivation": derivation}
        digests = digest_of(before), digest_of(after)
        document = sl.Certificate(*digests, sl.Proof("proved", "", **fields), bound).to_dict()
        check(document, before, after)
    except Error:
        return False
    return True


def _steps(replay: Any, notion: str) -> list[tuple[str, int]]:
    """Steps of the rules of a notion, and of stronger ones."""
    steps = []
    rules = [n for n, rule in RULES.items() if NOTIONS.index(rule.notion) <= NOTIONS.index(notion)]
    for term in range(len(replay.terms.nodes)):
        for rule in rules:
            try:
                derived = replay.derive(rule, term)
                if derived is not None and replay.accept(rule, term, derived):
                    steps.append((rule, term))
            except CertificateError:
                continue
    return steps
