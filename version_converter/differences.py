"""Operators that a conversion changed."""

from collections import Counter
from collections.abc import Hashable

import onnx

from ..ir import Model, Operator, Value

_SHORT = 256
"""Limit in bytes up to which attributes are compared; of longer ones only the length is."""


_Node = tuple[Operator, Hashable]
"""A node: its operator, and which inputs are present."""


class Snapshot:
    """Snapshot of a model's nodes: two references to each, counted on request.

    Nodes are compared by operator, attributes, and which inputs are present.
    """

    def __init__(self, model: Model) -> None:
        self._ops: list[Operator] = []
        self._inputs: list[tuple[Value | None, ...]] = []
        for graph in model.graphs():
            nodes = list(graph.unordered_nodes())
            self._ops += [node.op for node in nodes]
            self._inputs += [node.inputs for node in nodes]

    def count_nodes(self) -> Counter[_Node]:
        """Count nodes by operator and present inputs."""
        return Counter(
            (op, tuple([value is not None for value in inputs]) if None in inputs else len(inputs))
            for op, inputs in zip(self._ops, self._inputs, strict=True)
        )


class Differences:
    """Nodes that only one of two models has, by operator.

    Attributes:
        changed: the number of nodes of each operator that the new model lacks or changed.
        added: the number of nodes of each operator that the new model has in addition.
    """

    def __init__(self, before: Snapshot, after: Snapshot) -> None:
        old, new = before.count_nodes(), after.count_nodes()
        # Most nodes have the very operator that they had: these are not compared.
        before_only, after_only = _by_content(old - new), _by_content(new - old)
        self.changed = _by_operator(before_only - after_only)
        self.added = _by_operator(after_only - before_only) - self.changed

    def to_dict(self) -> dict[str, dict[str, int]]:
        """The counts for JSON, largest first."""
        return {
            "changed": dict(self.changed.most_common()),
            "added": dict(self.added.most_common()),
        }


def _by_content(nodes: Counter[_Node]) -> Counter[tuple[str, Hashable]]:
    counts = Counter[tuple[str, Hashable]]()
    for (op, there), count in nodes.items():
        counts[op.qualname, (_attributes(op), there)] += count
    return counts


def _attributes(op: Operator) -> Hashable:
    return frozenset([_attribute(message) for message in op.attributes.values()])


def _attribute(message: onnx.AttributeProto) -> Hashable:
    size = message.ByteSize()
    content = message.SerializeToString(deterministic=True) if size <= _SHORT else size
    return message.name, content


def _by_operator(nodes: Counter[tuple[str, Hashable]]) -> Counter[str]:
    counts = Counter[str]()
    for (qualname, _), count in nodes.items():
        counts[qualname] += count
    return counts
