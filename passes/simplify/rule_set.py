"""The rules that a rewrite may use."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ...facts.notions import NOTIONS, Equality
from .library import SHIPPED
from .rules.registry import load_entry_points, registered
from .rules.rule import Rule
from .rules.rule_cases import opsets_of

if TYPE_CHECKING:
    from .rules.rule_proof import RuleProof


def all_rules() -> list[tuple[Rule, RuleProof | None]]:
    """All rules, users' first, with the proofs of these; a test proves those of straightline."""
    load_entry_points()
    return [*registered(), *((each, None) for each in SHIPPED)]


def rules_within(exactness: Equality) -> list[Rule]:
    """The rules that keep a notion of equality or a stronger one."""
    load_entry_points()
    return list(_within(tuple([each for each, _ in registered()]), exactness))


@functools.lru_cache(64)
def _within(users: tuple[Rule, ...], exactness: Equality) -> tuple[Rule, ...]:
    limit = NOTIONS.index(exactness)
    return tuple([r for r in (*users, *SHIPPED) if NOTIONS.index(r.exactness) <= limit])


def describe(rule: Rule, proof: RuleProof | None) -> dict[str, Any]:
    """Describe a rule in types that JSON has.

    Args:
        proof: its proof; None for a rule of straightline, which a test proves, or a trusted one.
    """
    opsets = sorted({opset for each in rule.patterns for opset in opsets_of(rule, each)})
    status = "trusted" if rule.trusted else "proved"
    return {
        "name": rule.name,
        "summary": rule.summary,
        "exactness": rule.exactness,
        "before": [" ".join(each.text.split()) for each in rule.patterns],
        "after": " ".join(rule.result.text.split()),
        "opsets": {"first": opsets[0] if opsets else None, "last": _last(rule)},
        "ranks": list(rule.ranks),
        "proof": {
            "status": status if proof is None or proof.proved else "not proved",
            "cases": None if proof is None else proof.cases,
            "seconds": None if proof is None else proof.seconds,
        },
    }


def _last(rule: Rule) -> int | None:
    return None if rule.until is None else rule.until - 1
