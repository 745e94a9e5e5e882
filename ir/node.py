"""A node: an operator connected to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .operator import Operator
from .value import Value

if TYPE_CHECKING:
    from .graph import Graph

Bodies = Mapping[str, tuple["Graph", ...]]
NO_BODIES: Bodies = {}


class Node:
    """One application of an operator.

    Nodes are made by `Graph.add_node`; their connections are changed by the graph's mutators only,
    so that the topology stays right.

    Attributes:
        op: what it computes; shared with its clones.
        inputs: the values it reads; None stands for an absent optional input.
        outputs: the values it computes; None stands for an omitted output.
        bodies: the graphs that it holds, by attribute name.
        graph: the graph that it belongs to; None once removed.
        name: the node's own label, may be empty.
    """

    __slots__ = ("bodies", "graph", "inputs", "name", "op", "outputs")

    def __init__(
        self, op: Operator, inputs: Sequence[Value | None], outputs: Sequence[str], name: str = ""
    ) -> None:
        self.op = op
        self.inputs: tuple[Value | None, ...] = tuple(inputs)
        self.outputs: tuple[Value | None, ...] = tuple(
            [Value(label, None, self) if label else None for label in outputs]
        )
        self.bodies: Bodies = NO_BODIES
        self.graph: Graph | None = None
        self.name = name

    @property
    def op_type(self) -> str:
        """The name of its operator."""
        return self.op.op_type

    @property
    def domain(self) -> str:
        """The domain of its operator, as written in the model."""
        return self.op.domain

    def is_op(self, *qualnames: str) -> bool:
        """Whether its operator is one of these (`Loop`, or `domain::Name`)."""
        return self.op.qualname in qualnames

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, or `default` where it is absent."""
        return self.op.attribute(name, default)

    def input(self, index: int) -> Value | None:
        """The input at a position; None where it is absent or not written at all."""
        return self.inputs[index] if index < len(self.inputs) else None

    def output(self, index: int = 0) -> Value:
        """The output at a position that must be there."""
        value = self.outputs[index]
        assert value is not None, f"{self} omits output {index}"
        return value

    def body(self, name: str) -> Graph:
        """The one graph of an attribute."""
        return self.bodies[name][0]

    def graphs(self) -> Iterator[Graph]:
        """Every graph that it holds directly."""
        for graphs in self.bodies.values():
            yield from graphs

    @property
    def label(self) -> str:
        """The node's name, or that of its first output."""
        return self.name or next((v.name for v in self.outputs if v is not None), "")

    @property
    def path(self) -> str:
        """Where the node is: the labels of the nodes around it and its own, joined by '/'."""
        holder = self.graph.owner if self.graph is not None else None
        if isinstance(holder, Node):
            return f"{holder.path}/{self.label}"
        function = getattr(holder, "name", None)
        return f"{function}/{self.label}" if function else self.label

    def __repr__(self) -> str:
        return f"{self.op.qualname} '{self.path}'"
