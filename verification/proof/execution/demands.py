"""Numbers that are at least 0 wherever a node runs: demands of its operator."""

import contextlib
from collections.abc import Sequence

from ....facts.bounds import Known
from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....facts.safety_context import Premises, Unproven
from ....ir import Node
from ....ops import rules_of


def demands_of(node: Node, inputs: Sequence[Known], opset: int) -> Sequence[Dimension]:
    """Numbers that are at least 0 wherever a node on these operands runs."""
    premises = _Demands(node, inputs, opset)
    with contextlib.suppress(Unproven):
        rules_of(node.op).require_safe(premises)
    return premises.demands


class _Demands(Premises):
    """Premises of a node that runs: its demands hold."""

    def __init__(self, node: Node, inputs: Sequence[Known], opset: int) -> None:
        super().__init__(node, inputs, opset)
        self.demands: list[Dimension] = []

    def at_least(self, dim: Dimension, least: int, what: str) -> None:
        """Note that a size is not below a number."""
        self.demands.append(dim - least)

    def equal(self, one: Dimension, other: Dimension, what: str) -> None:
        """Note that two sizes are equal."""
        self.demands += [one - other, other - one]

    def positions(self, index: int, size: Dimension) -> None:
        """Note that known elements of an input are positions in an axis."""
        operand, value = self.inputs[index], self.node.input(index)
        elements: Sequence[Dimension] = ()
        if operand.fact.content is not None and is_followed(operand.fact):
            elements = list(operand.fact.content.reshape(-1))
        elif value is not None and value.constant is not None:
            elements = operand.bounds or ()
        for element in elements:
            self.demands += [element + size, size - element - 1]


def is_followed(fact: Fact) -> bool:
    """Test for a tensor of which each element is a known size."""
    content = fact.content
    elements = [] if content is None else list(content.reshape(-1))
    return bool(elements) and all(isinstance(each, Dimension) for each in elements)
