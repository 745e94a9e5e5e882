"""The rules that a rewrite may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...facts.notions import NOTIONS, Equality
from .library import SHIPPED
from .rules.registry import load_entry_points, registered
from .rules.rule import Rule

if TYPE_CHECKING:
    from .rules.rule_proof import RuleProof


def all_rules() -> list[tuple[Rule, RuleProof | None]]:
    """All rules, users' first, with the proofs of these; a test proves those of straightline."""
    load_entry_points()
    return [*registered(), *((each, None) for each in SHIPPED)]


def rules_within(exactness: Equality) -> list[Rule]:
    """The rules that keep a notion of equality or a stronger one."""
    limit = NOTIONS.index(exactness)
    return [each for each, _ in all_rules() if NOTIONS.index(each.exactness) <= limit]
