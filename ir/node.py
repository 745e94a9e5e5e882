"""Nodes: operators connected to values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import GraphError
from .operator import Operator
from .value import Value

if TYPE_CHECKING:
    from .graph import Graph

Bodies = Mapping[str, tuple["Graph", ...]]
NO_BODIES: Bodies = {}
_new = object.__new__


class Node:
    """One application of an operator.

    `Graph.add_node` makes nodes. Only mutators of the graph change operator and connections, so
    that the topology stays right.

    Attributes:
        bodies: its graphs by attribute name.
        graph: the graph that contains it; None once removed.
        name: the node's own label, may be empty.
    """

    __slots__ = ("_inputs", "_op", "_outputs", "bodies", "graph", "name")

    def __init__(
        self, op: Operator, inputs: Sequence[Value | None], outputs: Sequence[str], name: str = ""
    ) -> None:
        self._op = op
        self._inputs: tuple[Value | None, ...] = tuple(inputs)
        self._outputs: tuple[Value | None, ...] = tuple(
            [Value(label, None, self) if label else None for label in outputs]
        )
        self.bodies: Bodies = NO_BODIES
        self.graph: Graph | None = None
        self.name = name

    @property
    def op(self) -> Operator:
        """The operator; shared with clones of the node."""
        return self._op

    @op.setter
    def op(self, op: NoReturn) -> NoReturn:
        self._refuse("op", "set_operator")

    @property
    def inputs(self) -> tuple[Value | None, ...]:
        """The values that it reads; None stands for an absent optional input."""
        return self._inputs

    @inputs.setter
    def inputs(self, inputs: NoReturn) -> NoReturn:
        self._refuse("inputs", "set_input or Graph.resize_inputs")

    @property
    def outputs(self) -> tuple[Value | None, ...]:
        """The values that it computes; None stands for an omitted output."""
        return self._outputs

    @outputs.setter
    def outputs(self, outputs: NoReturn) -> NoReturn:
        self._refuse("outputs", "set_node_outputs")

    def _refuse(self, what: str, mutator: str) -> NoReturn:
        raise GraphError(
            f"{self}: its {what} cannot be assigned, since its graph keeps account of them; call"
            f" Graph.{mutator}"
        )

    @property
    def op_type(self) -> str:
        """The name of its operator."""
        return self._op.op_type

    @property
    def domain(self) -> str:
        """The domain of its operator, as written in the model."""
        return self._op.domain

    def is_op(self, *qualnames: str) -> bool:
        """Test whether its operator is one of these (`Loop`, or `domain::Name`)."""
        return self._op.qualname in qualnames

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, or `default` where it is absent."""
        return self._op.attribute(name, default)

    def input(self, index: int) -> Value | None:
        """The input at a position; None where it is absent or beyond the last one."""
        return self._inputs[index] if index < len(self._inputs) else None

    def output(self, index: int = 0) -> Value:
        """The output at a position, which must be present."""
        value = self._outputs[index]
        assert value is not None, f"{self} omits output {index}"
        return value

    def body(self, name: str) -> Graph:
        """The one graph of an attribute."""
        return self.bodies[name][0]

    @property
    def stands(self) -> bool:
        """Test whether the node and all nodes around it are still parts of the model."""
        graph = self.graph
        while graph is not None and graph.holder is not None:
            graph = graph.holder.graph
        return graph is not None

    def graphs(self) -> Sequence[Graph]:
        """The graphs of the node, without those nested in them."""
        if not self.bodies:
            return ()
        return [graph for graphs in self.bodies.values() for graph in graphs]

    @property
    def label(self) -> str:
        """The node's name, or that of its first output."""
        return self.name or next((v.name for v in self._outputs if v is not None), "")

    @property
    def path(self) -> str:
        """The location of the node: the labels of the nodes around it and its own, joined by
        '/'."""
        holder = self.graph.owner if self.graph is not None else None
        if isinstance(holder, Node):
            return f"{holder.path}/{self.label}"
        function = getattr(holder, "name", None)
        return f"{function}/{self.label}" if function else self.label

    def __repr__(self) -> str:
        return f"{self._op.qualname} '{self.path}'"


def plain_node(
    op: Operator, inputs: tuple[Value | None, ...], label: str, name: str, graph: Graph
) -> Node:
    """Make a node with one output in half the time of the two constructors."""
    node, value = _new(Node), _new(Value)
    node._op = op
    node._inputs = inputs
    node._outputs = (value,)
    node.bodies = NO_BODIES
    node.graph = graph
    node.name = name
    value.name = label
    value.info = None
    value.producer = node
    value.owner = None
    value.constant = None
    value.pinned = False
    return node
