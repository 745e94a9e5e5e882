"""A mutable graph: values and nodes on one private networkx graph, changed by guarded mutators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx

from .constant import constant_tensor
from .copy_plan import Block
from .dataflow_graph import neighbours
from .errors import GraphError
from .graph_queries import NO_KINDS, GraphQueries
from .node import Node, plain_node
from .operator import Operator
from .tensor import Tensor
from .value import Value

IDENTITY = Operator("Identity")


class Graph(GraphQueries):
    """The main graph of a model, the body of a function, or a graph that a node holds.

    The topology is one directed graph. Its vertices are the nodes, the values that no node of this
    graph produces (inputs, initializers, and values captured from around), and the graph itself,
    which stands for its outputs. What a node's bodies capture counts as used by that node.

    Args:
        owner: the model, function or node that holds it.
        header: name, doc string and metadata, as a message without content; a name makes one of
            nothing else when it is asked for.

    Attributes:
        owner: the model, function or node that holds it.
        initializers: every initializer with its tensor, in order; those that are also inputs too.
        listed: in a body, the initializers that came as inputs too, each with its place among
            them. Nothing feeds them, so they are none; when the model is written they are again.
        output_infos: what is declared for each output slot; its name is that of the slot.
        value_infos: the values whose `info` is written to value_info, in order, with declarations
            for which there is no value kept as they came.
        annotations: the quantization annotations.
        reserved: names that declarations or annotations without a value speak of, so that no other
            value may take them.
    """

    __slots__ = ()

    # Connecting ---------------------------------------------------------------------------------

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
            node = plain_node(op, tuple(inputs), outputs[0], name, self)
        else:
            node = Node(op, inputs, outputs, name)
            node.graph = self
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
        topology, graph = self._topology, self
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
                self._release(value, self)
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
            self._release(value, self)

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

    # Adding -------------------------------------------------------------------------------------

    def add_input(self, name: str, info: onnx.ValueInfoProto | None = None) -> Value:
        """Append an input."""
        value = Value(name, info, owner=self)
        self._topology.insert(value)
        self._inputs.append(value)
        return value

    def add_initializer(self, name: str, tensor: Tensor) -> Value:
        """Append a constant that no caller can override."""
        return self.place_initializer(Value(name, constant=tensor))

    def place_initializer(self, value: Value) -> Value:
        """Append a constant that was made before it was known whether anything would read it.

        Raises:
            GraphError: it is no constant, or it belongs to a graph or node already.
        """
        if value.constant is None or value.owner is not None or value.producer is not None:
            raise GraphError(f"{value} is no loose constant")
        value.owner = self
        self._topology.insert(value)
        self.initializers[value] = value.constant
        return value

    def add_body(self, node: Node, attribute: str, header: onnx.GraphProto) -> Graph:
        """Give a node of this graph one more graph, still empty, under the attribute's name.

        Raises:
            GraphError: the node is not of this graph, or its attribute takes no (further) graph.
        """
        self._check_own(node)
        message = node.op.attributes.get(attribute)
        if message is None:
            message = onnx.AttributeProto(name=attribute, type=onnx.AttributeProto.GRAPH)
            node._op = node.op.with_attributes([*node.op.attributes.values(), message])
        single = message.type == onnx.AttributeProto.GRAPH and attribute not in node.bodies
        if not single and message.type != onnx.AttributeProto.GRAPHS:
            raise GraphError(f"{node}: its attribute '{attribute}' takes no graph, or has one")
        graph = Graph(node, header)
        bodies = dict(node.bodies)
        bodies[attribute] = (*bodies.get(attribute, ()), graph)
        node.bodies = bodies
        self._holders[node] = None
        return graph

    # Replacing ----------------------------------------------------------------------------------

    def supersede(self, old: Value, new: Value) -> Value:
        """Put a value in the place of another one of this graph, with all that is said of it.

        Whatever reads `old` reads `new`. Its name passes on, its declared type where `new` has
        none, that something names it from outside the data flow (`pinned`), and the quantization
        annotations that speak of it. An input keeps its name, and what is pinned or from a graph
        around keeps it too. Where the name must live on and `new` cannot take it, an Identity
        of `new` does.

        Returns:
            the value that now has the place: `new`, or its Identity.

        Raises:
            GraphError: `old` is not defined here or training assigns to it, `new` is not visible
                here, or they are the same.
        """
        self._check_defined(old)
        if new is old or not self.sees(new):
            raise GraphError(
                f"{new} cannot take the place of {old}: it is not visible, or the same"
            )
        if old in getattr(self.root, "trained", ()):
            raise GraphError(f"training assigns to {old}, so it stays")
        fixed = new.pinned or new.graph is not self or new in self._inputs
        if old.pinned and fixed:
            new = self._identity(new, old.name)
        elif not fixed:
            new.name = old.name
        self.pass_declaration(old, new)
        if old.pinned:
            self._move_pin(old, new)
        self.replace_uses(old, new)
        return new

    def pass_declaration(self, old: Value, new: Value) -> None:
        """Declare a value as another one is, unless it has a declaration or is a constant, whose
        tensor says as much."""
        if new.info is None and old.info is not None and new.constant is None:
            new.info = old.info
            if new.graph is self:
                self.value_infos.append(new)

    def _move_pin(self, old: Value, new: Value) -> None:
        """Let those who name `old` from outside the data flow name `new`."""
        old.pinned, new.pinned = False, True
        for graph in self.walk():
            if graph.annotations:
                graph.annotations = [a.renewed(old, new) for a in graph.annotations]

    def replace_uses(self, old: Value, new: Value) -> None:
        """Make every reader of `old` (of this graph) read `new`, in the graphs inside too.

        The caller sees to it that `new` does not depend on a reader of `old`; a cycle is found
        by `verify` and when the nodes are put in order.

        Raises:
            GraphError: `old` is not defined here or is pinned, or `new` is not visible here.
        """
        self.replace_all_uses({old: new})

    def replace_all_uses(self, values: Mapping[Value, Value]) -> None:
        """As `replace_uses`, for many values and what reads them from then on. None of the new
        values is among the old ones.

        Raises:
            GraphError: as there.
        """
        self.replace_all_reads(values)
        outputs = set(self._outputs)
        given_out = {old: new for old, new in values.items() if old in outputs}
        if given_out:
            self._replace_outputs(given_out)

    def replace_reads(self, old: Value, new: Value) -> None:
        """As `replace_uses`, but what the graph itself gives out stays.

        Raises:
            GraphError: as there.
        """
        self.replace_all_reads({old: new})

    def replace_all_reads(self, values: Mapping[Value, Value]) -> None:
        """As `replace_reads`, for many values. None of the new ones is among the old ones.

        Raises:
            GraphError: as there.
        """
        for old in values:
            self._check_defined(old)
            if old.pinned:
                raise GraphError(f"{old} is named from outside the data flow and must stay")
        sources = self._sources(list(values.values()))
        self._replace_in_nodes(values)
        self._drop_captures(sources)

    def _replace_in_nodes(self, values: Mapping[Value, Value]) -> None:
        """Change what each reader reads once, however many of the values that are."""
        readers: dict[Node, dict[Value | None, Value]] = {}
        for old, new in values.items():
            for user in self.users(old):
                if isinstance(user, Node):
                    readers.setdefault(user, {})[old] = new
        for user, given in readers.items():
            for graph in user.graphs():
                graph._replace_captured(given)
            read = [new for old, new in given.items() if old in self._positions(user)]
            if read:
                user._inputs = tuple([given.get(v, v) for v in user._inputs])
            for new in read:
                self._topology.connect(self._source(new), user)
            for old in {self.vertex(old): old for old in given if old}.values():
                self._release(old, user)

    def _replace_captured(self, values: Mapping[Value | None, Value]) -> None:
        """Replace what a graph captures of some values."""
        inside = {old: new for old, new in values.items() if old in self._topology.sources and old}
        if inside:
            self._replace_in_nodes(inside)
            outputs = set(self._outputs)
            given_out = {old: new for old, new in inside.items() if old in outputs}
            if given_out:
                self._replace_outputs(given_out)

    def _replace_outputs(self, values: Mapping[Value, Value]) -> None:
        given = {old: self._to_give_out(new) for old, new in values.items()}
        slots = list(zip(self._outputs, self.output_infos, strict=True))
        self.set_outputs(
            [given.get(v, v) for v, _ in slots],
            [_declared(info, given[v]) if v in given else info for v, info in slots],
        )

    def _to_give_out(self, value: Value) -> Value:
        """What a graph gives out for a value."""
        if not self.is_interface and value.graph is not self:
            # Checkers and runtimes want what a body gives out to come from within the body.
            return self._identity(value, value.name)
        return value

    # Removing -----------------------------------------------------------------------------------

    def remove(self, node: Node) -> None:
        """Remove a node, with the graphs that it holds, that nothing uses.

        Raises:
            GraphError: the node is not of this graph, or one of its outputs is used or pinned.
        """
        self._check_own(node)
        if self._topology.users[node]:
            user = next(iter(self._topology.users[node]))
            raise GraphError(f"{node} is still used by {user}; replace its uses first")
        if self.is_needed(node):
            raise GraphError(f"{node}: an output is named from outside the data flow, so it stays")
        sources = list(self._topology.sources[node])
        self._topology.discard(node)
        self._holders.pop(node, None)
        node.graph = None
        self._drop_captures(sources)

    def remove_input(self, value: Value) -> None:
        """Remove an input that nothing uses; a default that it has goes with it.

        Raises:
            GraphError: it is not an input of this graph, or it is used.
        """
        if value.owner is not self or value not in self._inputs:
            raise GraphError(f"{value} is not an input of graph '{self.name}'")
        self._discard_source(value)
        self._inputs.remove(value)

    def remove_initializer(self, value: Value) -> None:
        """Remove an initializer that nothing uses and that is not an input.

        Raises:
            GraphError: it is not such an initializer of this graph, or it is used.
        """
        if value not in self.initializers or value in self._inputs:
            raise GraphError(f"{value} is not a constant initializer of graph '{self.name}'")
        self._discard_source(value)

    def freeze_input(self, value: Value) -> None:
        """Make an input that has a default a constant: callers can no longer feed it.

        Raises:
            GraphError: it is not an input with a default of this graph.
        """
        if value not in self._inputs or value not in self.initializers:
            raise GraphError(f"{value} is not an input with a default of graph '{self.name}'")
        self._inputs.remove(value)
        value.constant = self.initializers[value]

    def bind_input(self, value: Value, tensor: Tensor) -> None:
        """Turn an input into a constant with the given tensor.

        Raises:
            GraphError: it is not an input of this graph.
        """
        if value not in self._inputs:
            raise GraphError(f"{value} is not an input of graph '{self.name}'")
        self.initializers[value] = tensor
        self.freeze_input(value)

    def _discard_source(self, value: Value) -> None:
        if self._topology.users[value] or value.pinned:
            raise GraphError(
                f"{value} is still used in graph '{self.name}'; replace its uses first"
            )
        self._topology.discard(value)
        self.initializers.pop(value, None)
        value.owner = None


def _declared(info: onnx.ValueInfoProto, value: Value) -> onnx.ValueInfoProto:
    """The declaration of an output slot, with a type where a constant now stands in it: without
    a node, type inference would find none."""
    if info.HasField("type") or value.constant is None or value.type is None:
        return info
    typed = onnx.ValueInfoProto()
    typed.CopyFrom(info)
    typed.type.CopyFrom(value.type)
    return typed
