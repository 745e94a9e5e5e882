"""Operands that are attributes in older opsets and inputs in newer ones."""

from collections.abc import Sequence

from ..ir import Node
from .fact import Fact
from .polynomial import Dimension


def listed(
    node: Node, inputs: Sequence[Fact], name: str, position: int
) -> list[Dimension | None] | None:
    """A list of numbers, such as the axes of Squeeze.

    Args:
        inputs: what is known about its inputs.
        name: the attribute that holds them, in older opsets.
        position: the input that holds them, in newer ones.

    Returns:
        One by one, None for each that is not known; None where the list is absent or not followed.
    """
    values = node.attribute(name)
    if values is not None:
        return [Dimension.constant(value) for value in values]
    content = inputs[position].content if position < len(inputs) else None
    if content is None:
        return None
    return [element if isinstance(element, Dimension) else None for element in content.reshape(-1)]


def listed_numbers(
    node: Node, inputs: Sequence[Fact], name: str, position: int
) -> list[int] | None:
    """Convert a listed input to numbers; None where one is symbolic."""
    elements = listed(node, inputs, name, position)
    if elements is None:
        return None
    numbers = [element.value for element in elements if element is not None]
    constants = [number for number in numbers if number is not None]
    return constants if len(constants) == len(elements) else None
