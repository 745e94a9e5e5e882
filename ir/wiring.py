"""Connecting nodes: the record of who feeds whom follows each change, through all graphs around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import onnx

from .constant import constant_tensor
from .copy_plan import Block
from .dataflow_graph import neighbours
from .errors import GraphError
from .graph_queries import NO_KINDS, Structure
from .node import Node, plain_node
from .operator import Operator
from .value import Value

if TYPE_CHECKING:
    from .graph import Graph

IDENTITY = Operator("Identity")


class Wiring(Structure):
    """The part of a `Graph` that connects nodes and gives values out."""

    __slots__ = ()

    def add_node(
        self,
        op: Operator,
        inputs: Sequence[Value | None],
        outputs: Sequence[str],
        name: str = "",
    ) -> Node:
        """Append a node; an empty label among `outputs` stands for an omitted output.

        Raises:
            GraphError: an input is not visible in this graph.
        """
        present = self._topology.users
        sources: list[Node | Value] = []
        try:
            for value in inputs:
                if value is not None:
                    source: Node | Value | None = value.producer
                    if source is None or source.graph is not self:
                        source = value if value in present else self._capture(value)
                    sources.append(source)
        except GraphError:
            self._drop_captures(sources)
            raise
        if len(outputs) == 1 and outputs[0]:
            node = plain_node(op, tuple(inputs), outputs[0], name, self)  # type: ignore[arg-type]
        else:
            node = Node(op, inputs, outputs, name)
            node.graph = self  # type: ignore[assignment]
        self._topology.insert(node, sources)
        if op.qualname == "Constant":
            self._read_constant(node)
        return node

    def add_block(self, block: Block, read: Sequence[Value], suffix: str) -> list[Value]:
        """Append a copy of each node of a block, as `add_node` would one after another.

        Args:
            block: the nodes; none is a Constant.
            read: the values that feed them, as many as `Block.fed`.
            suffix: what is appended to labels.

        Returns:
            the outputs.

        Raises:
            GraphError: a value that feeds them is not visible in this graph; nothing is appended.
        """
        topology, graph = self._topology, self._graph
        feeding = self._sources(read)
        values: list[Any] = [None, *read]
        vertices: list[Any] = [None, *feeding]
        sources, users = topology.sources, topology.users
        topology.changes += 1
        for op, name, inputs, fed, label in block.nodes:
            name = name + suffix if name else ""
            node = plain_node(op, inputs(values), label + suffix, name, graph)
            sources[node] = fed(vertices)
            vertices.append(node)
            values.append(node._outputs[0])
        made = vertices[len(read) + 1 :]
        for node, using in zip(made, block.users, strict=True):
            users[node] = using(vertices)
        if len(set(feeding)) == len(feeding):
            for vertex, using in zip(feeding, block.users_of_fed, strict=True):
                topology.feed(vertex, using(vertices))
        else:  # what is one vertex feeds each node once
            around = set(feeding)
            for node in made:
                sources[node] = neighbours(list(dict.fromkeys(sources[node])))
                for vertex in around.intersection(sources[node]):
                    topology.feed(vertex, (node,))
        return values[len(read) + 1 :]

    def set_outputs(
        self, values: Sequence[Value], infos: Sequence[onnx.ValueInfoProto] | None = None
    ) -> None:
        """Give out these values; `infos` declares them (as before where it is None).

        Where names are a promise (main graph, function) a value that cannot take the name of its
        slot, because it is an input, a constant or stands in another slot, gets an Identity.

        Raises:
            GraphError: a value is not visible here, or the number of declarations does not fit.
        """
        infos = self.output_infos if infos is None else tuple(infos)
        if len(infos) != len(values):
            raise GraphError(
                f"graph '{self.name}': {len(values)} outputs but {len(infos)} declarations;"
                " give one declaration for each output"
            )
        sources = self._sources(values)
        old, self._outputs, self.output_infos = self._outputs, tuple(values), infos
        for source in sources:
            self._topology.connect(source, self)
        if old:
            kept = set(values)
            dropped = {self.vertex(value): value for value in old if value not in kept}
            for value in dropped.values():
                self._release(value, self._graph)
        if self.is_interface:
            self._name_outputs()

    def _name_outputs(self) -> None:
        """Put an Identity before each output whose value cannot carry the name of its slot."""
        fixed = any(value.producer is None or value.pinned for value in self._outputs)
        if not fixed and len(set(self._outputs)) == len(self._outputs):
            return
        names: dict[Value, str] = {}
        copies: dict[tuple[Value, str], Value] = {}
        outputs = list(self._outputs)
        for slot, (value, info) in enumerate(zip(self._outputs, self.output_infos, strict=True)):
            fixed = value.producer is None or value.pinned
            if names.setdefault(value, value.name if fixed else info.name) != info.name:
                key = value, info.name
                if key not in copies:  # two slots may have one name
                    copies[key] = self._identity(*key)
                outputs[slot] = copies[key]
        self._outputs = tuple(outputs)
        for copy in copies.values():
            self._topology.connect(self._source(copy), self)
        for value in {value: None for value, _ in copies}:
            self._release(value, self._graph)

    def _identity(self, value: Value, name: str) -> Value:
        return self.add_node(IDENTITY, [value], [name]).output()

    def set_input(self, node: Node, index: int, value: Value | None) -> None:
        """Make a node read another value.

        Raises:
            GraphError: the node is not of this graph, the value not visible, the index too large.
        """
        self._check_own(node)
        if not 0 <= index < len(node.inputs):
            raise GraphError(f"{node} has no input {index}; it has {len(node.inputs)}")
        self._set_read(node, index, value)

    def resize_inputs(self, node: Node, count: int) -> None:
        """Cut the inputs of a node to a number, or write further ones out as absent.

        Raises:
            GraphError: the node is not of this graph, or the number is negative.
        """
        self._check_own(node)
        if count < 0:
            raise GraphError(f"{node} cannot have {count} inputs")
        dropped = node._inputs[count:]
        node._inputs = node._inputs[:count] + (None,) * (count - len(node._inputs))
        for value in dropped:
            if value is not None:
                self._release(value, node)

    def set_node_outputs(self, node: Node, outputs: Sequence[Value | str | None]) -> None:
        """Give a node other outputs.

        Args:
            node: a node of this graph.
            outputs: those that stay, and the label of each new one; None or an empty label stands
                for an omitted output.

        Raises:
            GraphError: the node is not of this graph, a value is not an output of it or stands
                there twice, or an output that would go is used or pinned.
        """
        self._check_own(node)
        kept: set[Value] = set()
        for value in outputs:
            if isinstance(value, Value):
                if value.producer is not node or value in kept:
                    raise GraphError(f"{node}: {value} is no output of it, or would be one twice")
                kept.add(value)
        for old in node._outputs:
            if old is not None and old not in kept and (old.pinned or self.is_used(old)):
                raise GraphError(f"{node}: its output '{old.name}' is used; replace its uses first")
        made = [Value(v, None, node) if isinstance(v, str) and v else v or None for v in outputs]
        if made != list(node._outputs):
            node._outputs = tuple(made)
            self._topology.changes += 1

    def set_operator(self, node: Node, op: Operator) -> None:
        """Change what a node computes; its inputs, outputs and bodies stay.

        Raises:
            GraphError: the node is not of this graph, or the operator has no attribute for a graph
                that the node holds.
        """
        self._check_own(node)
        for name in node.bodies:
            if name not in op.attributes:
                raise GraphError(f"{node} holds a graph '{name}', an attribute that {op} lacks")
        known = "Constant" in (op.qualname, node._op.qualname)
        node._op = op
        self._kinds = NO_KINDS
        if known:
            self._read_constant(node)

    def _read_constant(self, node: Node) -> None:
        """Note what the output of a Constant is."""
        output = node._outputs[0] if node._outputs else None
        if output is not None:
            constant = node.is_op("Constant")
            output.constant = constant_tensor(node._op, self.root.base_dir) if constant else None

    # Edges --------------------------------------------------------------------------------------

    def _set_read(self, user: Node | Graph, index: int, value: Value | None) -> None:
        source = None if value is None else self._source(value)
        read = list(user.outputs if user is self else user.inputs)
        old, read[index] = read[index], value
        if isinstance(user, Node):
            user._inputs = tuple(read)
        else:
            self._outputs = tuple(read)  # type: ignore[arg-type]
        if source is not None:
            self._topology.connect(source, user)
        if old is not None:
            self._release(old, user)

    def _capture(self, value: Value) -> Value:
        """Make a value from around a vertex of this graph, and a use in the graphs between."""
        outer = self.holder.graph if self.holder is not None else None
        producer = value.producer
        removed = producer is not None and producer.graph is None
        if outer is None or value.owner is self or removed:
            raise GraphError(
                f"{value} is not visible in graph '{self.name}'; it must be defined there or in a"
                " graph around it, and not be removed"
            )
        source = outer._source(value)
        self._topology.insert(value)
        outer._topology.connect(source, self.holder)
        return value

    def _source(self, value: Value) -> Node | Value:
        """The vertex of this graph that provides a value, captured from around if need be."""
        vertex = self.vertex(value)
        return vertex if vertex in self._topology.sources else self._capture(value)

    def _sources(self, values: Sequence[Value]) -> list[Node | Value]:
        """The vertices that provide some values; nothing has changed if one is not visible."""
        sources: list[Node | Value] = []
        try:
            for value in values:
                sources.append(self._source(value))
        except GraphError:
            self._drop_captures(sources)
            raise
        return sources

    def _release(self, value: Value, user: Node | Graph) -> None:
        """Drop the edge to `user` from what provides `value` unless it still uses something."""
        self._topology.changes += 1
        source = self.vertex(value)
        provided = source._outputs if isinstance(source, Node) else (source,)
        if not self._reads(user, source, provided):
            if user in self._topology.users.get(source, ()):
                self._topology.disconnect(source, user)
            self._drop_captures([source])

    def _drop_captures(self, sources: Iterable[Node | Value]) -> None:
        """Forget those among some vertices that are captured and no longer used in this graph."""
        holder = self.holder
        for source in sources:
            captured = isinstance(source, Value) and source.owner is not self
            if captured and not self._topology.users.get(source, True):
                self._topology.discard(source)
                if holder is not None and holder.graph is not None:
                    holder.graph._release(source, holder)  # type: ignore[arg-type]

    def _check_own(self, node: Node) -> None:
        if node.graph is not self:
            raise GraphError(f"{node} is not a node of graph '{self.name}'")

    def _check_defined(self, value: Value) -> None:
        if value.graph is not self:
            raise GraphError(f"{value} is not defined in graph '{self.name}'")
