"""The rules that stand in tables still, found as the others are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..facts.bounds import Bounds, Known
from ..facts.fact import Content, Fact, Shape, Symbols
from ..facts.premises import Premises
from ..ir import Node
from . import bounds, contents, randomness_table, sequence_counts, shape_rules, speculation_rules
from .growth import GROWING, KEPT
from .rules import OperatorRules, described, describes


class _Tables(OperatorRules):
    def __init__(self, name: str = "") -> None:
        self.name = name
        self.kept_from_folding = name in KEPT  # type: ignore[misc]

    def shapes(
        self, node: Node, inputs: Sequence[Fact], symbols: Symbols
    ) -> list[Shape | None] | None:
        rule = shape_rules.RULES.get(self.name)
        return None if rule is None else rule(node, inputs, symbols)

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        rule = contents.RULES.get(self.name)
        return None if rule is None else rule(node, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        rule = bounds.RULES.get(self.name)
        found = None if rule is None else rule(node, inputs, ())
        if self.name == "TopK":
            return (None, found)
        return [found] * (len(node.outputs) if self.name == "Split" else 1)

    def prove_safe(self, given: Premises) -> None:
        if self.name not in speculation_rules.ALWAYS_SAFE:
            speculation_rules.RULES[self.name](given)

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        rule = GROWING.get(self.name)
        return super().growth(node, arrays) if rule is None else rule(node, list(arrays))

    def fails(self, node: Node, arrays: Sequence[Any]) -> bool:
        return self.name in ("Div", "Mod") and arrays[1].dtype.kind in "iu" and not arrays[1].all()

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        rule = sequence_counts.RULES.get(self.name)
        return None if rule is None else rule(node, inputs)

    def facts(self, node: Node, inputs: Sequence[Fact]) -> list[Fact] | None:
        return sequence_counts.length(inputs) if self.name == "SequenceLength" else None

    def draws_random_numbers(self, node: Node) -> bool:
        return randomness_table.draws_random_numbers(node)

    def defines(self, method: Callable[..., Any]) -> bool:
        if method is OperatorRules.content:
            return self.name in contents.RULES
        return self.name in speculation_rules.RULES or self.name in speculation_rules.ALWAYS_SAFE


def fill() -> None:
    """Describe every operator of the tables that no class describes."""
    names = {
        *shape_rules.RULES,
        *contents.RULES,
        *bounds.RULES,
        *speculation_rules.ALWAYS_SAFE,
        *speculation_rules.RULES,
        *GROWING,
        *KEPT,
        *sequence_counts.RULES,
        *randomness_table.ALWAYS,
        "SequenceLength",
        "Dropout",
        "Constant",
    }
    for name in sorted(names - set(described())):
        describes(name)(lambda name=name: _Tables(name))  # type: ignore
