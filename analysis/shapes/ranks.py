"""Rank inference without sizes, cheap enough for every node of a large graph.

Most operators keep the rank of their inputs, or change it by a constant or an attribute. Shape
inference decides where the rules do not.
"""

from collections.abc import Callable

from ...ir import Model, Node, Value
from ...ops import rules_of
from ...ops.axes import RankAnswer, RankOf


class Ranks:
    """Ranks of the values of a model, cached.

    Args:
        model: the model. Values inside its functions have no ranks of their own, as these vary by
            call.
        beyond: returns the rank of a value that the rules leave open; None if unknown.
    """

    def __init__(self, model: Model, beyond: Callable[[Value], int | None]) -> None:
        self._functions = model.functions
        self._beyond = beyond
        self._ranks: dict[RankOf, int | None] = {RankOf(None): None}

    def of(self, value: Value) -> int | None:
        """The rank of a tensor; None where unknown."""
        ranks, first = self._ranks, RankOf(value)
        if first in ranks:
            return ranks[first]
        # Rules wait in a list instead of calling each other: chains of nodes outgrow Python's
        # stack.
        waiting = [(first, self._answer(first))]
        answer: int | None = None
        while waiting:
            question, rule = waiting[-1]
            try:
                needed = rule.send(answer)
            except StopIteration as done:
                answer = ranks[question] = done.value
                waiting.pop()
                continue
            answer = ranks.get(needed)
            if needed not in ranks:
                waiting.append((needed, self._answer(needed)))
        return ranks[first]

    def forget(self, value: Value) -> None:
        """Drop the rank of a value about which more is known now."""
        self._ranks.pop(RankOf(value), None)

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
        # An attribute that refers to one of the function has no value here.
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
        # `start` and `end` would cut the shape.
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
    # An input that stands there twice is asked about once.
    for part in dict.fromkeys(node.inputs):
        length = yield RankOf(part, is_length=True)
        if length is None:
            return None
        total += length * node.inputs.count(part)
    return total
