"""A mutable graph: values and nodes on one private networkx graph, changed by guarded mutators."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from .errors import GraphError
from .node import Node
from .tensor import Tensor
from .value import Value
from .wiring import Wiring


class Graph(Wiring):
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
