"""Which operators a conversion has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import onnx

from ..ir import Model, Operator, Value

_SHORT = 256
"""Bytes of an attribute up to which it is compared; of longer ones only the length is."""


_Node = tuple[Operator, Hashable]
"""A node: its operator, and which inputs are there."""


class Written:
    """What the nodes of a model say at a moment: two references to each, counted when asked for.

    Nodes are compared by what is written: operator, attributes, and which inputs are there.
    """

    def __init__(self, model: Model) -> None:
        self._ops: list[Operator] = []
        self._inputs: list[tuple[Value | None, ...]] = []
        for graph in model.graphs():
            nodes = list(graph.unordered_nodes())
            self._ops += [node.op for node in nodes]
            self._inputs += [node.inputs for node in nodes]

    def counted(self) -> Counter[_Node]:
        """How many nodes have which operator, and which inputs."""
        return Counter(
            (op, tuple([value is not None for value in inputs]) if None in inputs else len(inputs))
            for op, inputs in zip(self._ops, self._inputs, strict=True)
        )


class Differences:
    """The nodes that one model has and another one has not, by operator.

    Attributes:
        changed: how many nodes of each operator are not in the new model as they were.
        added: how many more nodes of each operator the new model has, beyond those changed.
    """

    def __init__(self, before: Written, after: Written) -> None:
        old, new = before.counted(), after.counted()
        # Most nodes have the very operator that they had, of which nothing is looked at.
        gone, made = _spelled(old - new), _spelled(new - old)
        self.changed = _by_operator(gone - made)
        self.added = _by_operator(made - gone) - self.changed

    def to_dict(self) -> dict[str, dict[str, int]]:
        """The counts as JSON takes them, largest first."""
        return {
            "changed": dict(self.changed.most_common()),
            "added": dict(self.added.most_common()),
        }


def _spelled(nodes: Counter[_Node]) -> Counter[tuple[str, Hashable]]:
    found = Counter[tuple[str, Hashable]]()
    for (op, there), count in nodes.items():
        found[op.qualname, (_attributes(op), there)] += count
    return found


def _attributes(op: Operator) -> Hashable:
    return frozenset([_attribute(message) for message in op.attributes.values()])


def _attribute(message: onnx.AttributeProto) -> Hashable:
    size = message.ByteSize()
    content = message.SerializeToString(deterministic=True) if size <= _SHORT else size
    return message.name, content


def _by_operator(nodes: Counter[tuple[str, Hashable]]) -> Counter[str]:
    found = Counter[str]()
    for (qualname, _), count in nodes.items():
        found[qualname] += count
    return found
