"""Ranks without sizes: cheap enough to ask for at every node of a large graph.

Most operators keep the rank of what they are given, or change it by as much as a constant or an
attribute says. What the rules here leave open is left to whoever knows shapes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir import Model, Node, Value
from ...ops import rules_of
from ...ops.ranks import RankAnswer, RankOf


class Ranks:
    """Ranks of the values of a model, remembered once found.

    Args:
        model: the model; values inside its functions have the ranks of each call, so they are not
            to be asked for.
        beyond: tells the rank of a value about which the rules say nothing; None if it is open.
    """

    def __init__(self, model: Model, beyond: Callable[[Value], int | None]) -> None:
        self._functions = model.functions
        self._beyond = beyond
        self._known: dict[RankOf, int | None] = {RankOf(None): None}

    def of(self, value: Value) -> int | None:
        """The rank of a tensor; None where it is not known."""
        known, first = self._known, RankOf(value)
        if first in known:
            return known[first]
        waiting = [(first, self._answer(first))]
        answer: int | None = None
        while waiting:
            question, rule = waiting[-1]
            try:
                needed = rule.send(answer)
            except StopIteration as done:
                answer = known[question] = done.value
                waiting.pop()
                continue
            answer = known.get(needed)
            if needed not in known:
                waiting.append((needed, self._answer(needed)))
        return known[first]

    def forget(self, value: Value) -> None:
        """Take note that more is known about a value than when it was asked for."""
        self._known.pop(RankOf(value), None)

    def _answer(self, question: RankOf) -> RankAnswer:
        value = question.value
        if value is None:
            return None
        if question.is_length:
            return (yield from self._length(value))
        if value.constant is not None:
            return len(value.constant.dims)
        rule = self._rule(value)
        rank = None if rule is None else (yield from rule)
        return self._beyond(value) if rank is None else rank

    def _rule(self, value: Value) -> RankAnswer | None:
        node = value.producer
        if node is None or node.op.references or self._is_call(node):
            return None
        return rules_of(node.op).rank(node, node.outputs.index(value))

    def _is_call(self, node: Node) -> bool:
        return bool(self._functions) and node.op.function_key in self._functions

    def _length(self, value: Value) -> RankAnswer:
        """The length of a vector, as far as it follows without any sizes."""
        node = value.producer
        if value.constant is not None:
            dims = value.constant.dims
            return dims[0] if len(dims) == 1 else None
        if node is None or node.op.references or self._is_call(node):
            return None
        if node.is_op("Shape") and not node.op.attributes:
            return (yield RankOf(node.input(0)))
        if node.is_op("Cast", "Identity"):
            return (yield RankOf(node.input(0), is_length=True))
        if node.is_op("Unsqueeze"):
            return 1 if (yield RankOf(node.input(0))) == 0 else None
        if node.is_op("Concat"):
            return (yield from _total_length(node))
        return None


def _total_length(node: Node) -> RankAnswer:
    total = 0
    for part in dict.fromkeys(node.inputs):
        length = yield RankOf(part, is_length=True)
        if length is None:
            return None
        total += length * node.inputs.count(part)
    return total
