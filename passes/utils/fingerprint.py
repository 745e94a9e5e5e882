"""Fingerprints of a model between passes, to detect a repeated state."""

import hashlib
from collections.abc import Iterator

from ...ir import Graph, Model, Node, Tensor, Value

_SMALL = 64
"""The size limit of constants that are compared by content, larger ones by identity."""


class States:
    """States of one model, compared by operators and connections, not by names."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._tensors: dict[Tensor, int] = {}

    def visit(self, model: Model) -> bool:
        """Record the model's state, and test whether it occurred before."""
        content = hashlib.sha256()
        for root in model.roots():
            for entry in _Writer(self._tensors).graph(root.graph):
                content.update(repr(entry).encode())
        digest = content.digest()
        repeated = digest in self._digests
        self._digests.add(digest)
        return repeated


class _Writer:
    """Serializer of graphs with numbers instead of values.

    Args:
        tensors: the numbers of constants, extended by new ones.
    """

    def __init__(self, tensors: dict[Tensor, int]) -> None:
        self._tensors = tensors
        self._numbers: dict[Value, int] = {}

    def graph(self, graph: Graph) -> Iterator[object]:
        """The entries of a graph: inputs, nodes in order with their bodies, outputs."""
        yield "graph", [self._number(value) for value in graph.inputs]
        for node in graph.nodes():
            yield self._operator(node), [self._read(value) for value in node.inputs]
            for name, bodies in node.bodies.items():
                for body in bodies:
                    yield name
                    yield from self.graph(body)
            yield [value and self._number(value) for value in node.outputs]
        yield "outputs", [self._read(value) for value in graph.outputs]

    def _operator(self, node: Node) -> object:
        attributes = node.op.attributes.values()
        return node.op.function_key, [a.SerializeToString(deterministic=True) for a in attributes]

    def _number(self, value: Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def _read(self, value: Value | None) -> object:
        constant = None if value is None or value in self._numbers else value.constant
        if constant is None:
            return value and self._number(value)
        if constant.size <= _SMALL and not constant.is_sparse:
            return constant.elem_type, constant.dims, constant.numpy().tolist()
        return "constant", self._tensors.setdefault(constant, len(self._tensors))
