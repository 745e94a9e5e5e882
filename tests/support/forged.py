"""Forged certificates: all that the rules of the checker reach for two models."""

from collections.abc import Mapping
from typing import Any

from straightline.facts.notions import Equality
from straightline.ir import Error, ModelSource
from straightline.verification.certificate_check import replayed
from straightline.verification.checker.rules import NOTIONS, RULES
from straightline.verification.checker.terms import CertificateError

ROUNDS = 8


def accepted(
    before: ModelSource, after: ModelSource, bound: Mapping[str, Any], equality: Equality = "bits"
) -> bool:
    """Tell whether two models are equal by steps in which each rule is applied to each term.

    The steps are judged where they are made: an attempt in vain may build terms, so that a
    certificate of the same steps would have other numbers.
    """
    try:
        replay = replayed(before, after, bound, None, equality)
        for notion in NOTIONS[: NOTIONS.index(equality) + 1]:
            for _ in range(ROUNDS):
                state = _state(replay)
                _apply_all(replay, notion)
                if state == _state(replay):
                    break
        replay.require_all()
    except Error:
        return False
    return True


def _state(replay: Any) -> object:
    """All that a round can change, so that one more would change nothing either."""
    terms = replay.terms
    return len(terms.nodes), terms.merges, len(replay._seen), [*terms._facts]


def _apply_all(replay: Any, notion: str) -> None:
    """Apply the rules of a notion, and of stronger ones, to all terms."""
    rules = [n for n, rule in RULES.items() if NOTIONS.index(rule.notion) <= NOTIONS.index(notion)]
    for term in range(len(replay.terms.nodes)):
        for rule in rules:
            try:
                derived = replay.derive(rule, term)
                if derived is not None:
                    replay.accept(rule, term, derived)
            except CertificateError:
                continue
