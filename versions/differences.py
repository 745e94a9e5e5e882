"""Which operators a conversion has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import onnx

from ..ir import Model, Node

_SHORT = 256
"""Bytes of an attribute up to which it is compared; of longer ones only the length is."""


class Differences:
    """The nodes that one model has and another one has not, by operator.

    Nodes are compared by what is written: operator, attributes, and which inputs are there.

    Attributes:
        changed: how many nodes of each operator are not in the new model as they were.
        added: how many more nodes of each operator the new model has, beyond those changed.
    """

    def __init__(self, before: Model, after: Model) -> None:
        old, new = _spelled(before), _spelled(after)
        self.changed = _by_operator(old - new)
        self.added = _by_operator(new - old) - self.changed

    def to_dict(self) -> dict[str, dict[str, int]]:
        """The counts as JSON takes them, largest first."""
        return {
            "changed": dict(self.changed.most_common()),
            "added": dict(self.added.most_common()),
        }


def _spelled(model: Model) -> Counter[tuple[str, Hashable]]:
    return Counter(
        (node.op.qualname, _spelling(node))
        for graph in model.graphs()
        for node in graph.unordered_nodes()
    )


def _spelling(node: Node) -> Hashable:
    attributes = (_attribute(message) for message in node.op.attributes.values())
    return frozenset(attributes), tuple(value is not None for value in node.inputs)


def _attribute(message: onnx.AttributeProto) -> Hashable:
    size = message.ByteSize()
    content = message.SerializeToString(deterministic=True) if size <= _SHORT else size
    return message.name, content


def _by_operator(nodes: Counter[tuple[str, Hashable]]) -> Counter[str]:
    found = Counter[str]()
    for (qualname, _), count in nodes.items():
        found[qualname] += count
    return found
