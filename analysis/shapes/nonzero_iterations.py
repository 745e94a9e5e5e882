"""Loops and Scans that certainly run their body at least once."""

from collections.abc import Callable

from ...facts.bounds import Known
from ...facts.fact import decided
from ...ir import Node, Value


def runs_certainly(node: Node, facts: Callable[[Value], Known]) -> bool:
    """Test whether there is a first iteration for any feeds.

    Args:
        facts: returns facts about a value around it.
    """
    if node.is_op("Loop"):
        return _is_positive(node.input(0), facts) and _is_true(node.input(1), facts)
    if node.root.opset() < 9:
        return False  # its batch may be empty, or all its sequence_lens 0
    count = node.attribute("num_scan_inputs", 0)
    axes = node.attribute("scan_input_axes") or [0] * count
    scanned = node.inputs[len(node.inputs) - count :]
    pairs = zip(scanned, axes, strict=True)
    shapes = [(facts(v).fact.shape or (), axis) for v, axis in pairs if v is not None]
    return any(
        shape[axis].less(1) is False for shape, axis in shapes if -len(shape) <= axis < len(shape)
    )


def _is_positive(maximum: Value | None, facts: Callable[[Value], Known]) -> bool:
    if maximum is None:
        return True
    bounds = facts(maximum).bounds
    return bounds is not None and bounds.low.less(1) is False


def _is_true(condition: Value | None, facts: Callable[[Value], Known]) -> bool:
    if condition is None:
        return True
    value = decided(facts(condition).fact)
    return value is not None and value.size == 1 and bool(value.all())
