"""A mutable graph: values and nodes on one private data-flow graph, changed by guarded mutators."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import onnx

from .constant import shared_constant
from .copy_plan import Block
from .dataflow_graph import FEW, NO_ATTRIBUTES, extended, neighbours
from .errors import GraphError
from .graph_queries import NO_KINDS, GraphQueries
from .node import Node, Value, plain_node, write_inputs, write_operator, write_outputs
from .operator import Operator
from .tensor import Tensor

IDENTITY = Operator("Identity")
NodeRow = tuple[Operator, Sequence[str], str, str]
"""A node with one output: its operator, the names of its inputs, the label of its output, its
name."""


class Graph(GraphQueries):
    """A graph: of a model, of a function, or the body of a node.

    The topology is one directed graph. Its vertices are the nodes, the values that no node of this
    graph produces (inputs, initializers and captured values), and the graph itself as the sink of
    its outputs. A node uses the captures of its bodies.

    Args:
        owner: the model, function or node that holds it.
        header: name, doc string and metadata as a message without content, or the name alone.

    Attributes:
        owner: the model, function or node that holds it.
        initializers: every initializer with its tensor, in order, including inputs with defaults.
        listed: in a body, the initializers that the file lists among its inputs, with their places.
            Nothing feeds them, so the graph has no such inputs; serialization lists them again.
        output_infos: the declaration of each output slot, under the name of the slot.
        value_infos: the values with an entry in value_info, in order; declarations without a value
            stay as messages.
        annotations: the quantization annotations.
        reserved: names in declarations or annotations without a value, which no other value may
            take.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> [node.op_type for node in model.graph.nodes()], [v.name for v in model.graph.outputs]
        (['Exp'], ['y'])
    """

    __slots__ = ()

    # Connecting ---------------------------------------------------------------------------------

    def add_node(
        self, op: Operator, inputs: Sequence[Value | None], outputs: Sequence[str], name: str = ""
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
        kind = op.qualname
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind == "Constant":
            self._read_constant(node)
        return node

    def add_rows(self, rows: Iterable[NodeRow], values: dict[str, Value]) -> list[Node]:
        """Append nodes as `add_node` does, up to the first that reads an unknown name.

        Args:
            rows: the nodes; none is a Constant.
            values: the values of this graph by name, extended by the outputs. A row that defines
                one of them again ends the work, too.
        """
        topology, graph, value_of = self._topology, self, values.get
        sources, users = topology.sources, topology.users
        topology.changes += 1
        nodes: list[Node] = []
        for op, names, label, name in rows:
            inputs = tuple(map(value_of, names))
            if None in inputs or label in values:
                break
            node = plain_node(op, inputs, label, name, graph)
            values[label] = node.outputs[0]  # type: ignore[assignment]
            nodes.append(node)
            feeding: list[Any] = []
            for value in inputs:  # as Topology.insert does, in two thirds of the time
                # All values are of this graph, so a producer is the vertex itself.
                source = value.producer or value  # type: ignore[union-attr]
                current = users[source]
                if not current:
                    users[source] = (node,)
                elif node in current:
                    continue
                elif type(current) is dict:
                    current[node] = NO_ATTRIBUTES
                else:
                    users[source] = extended(current, (node,))
                feeding.append(source)
            sources[node] = tuple(feeding) if len(feeding) <= FEW else neighbours(feeding)
            users[node] = ()
        for op, count in Counter([node.op for node in nodes]).items():
            self._counts[op.qualname] = self._counts.get(op.qualname, 0) + count
        return nodes

    def add_block(self, block: Block, read: Sequence[Value], suffix: str) -> list[Value]:
        """Append a copy of each node of a block, like `add_node` one by one.

        Args:
            block: the nodes; none is a Constant.
            read: the values of `Block.inputs`.
            suffix: the suffix of labels.

        Returns:
            the outputs.

        Raises:
            GraphError: a value that feeds them is not visible in this graph; nothing is appended.
        """
        topology, graph = self._topology, self
        feeding = self._sources(read)
        values: list[Any] = [None, *read]
        vertices: list[Any] = [None, *feeding]
        sources, users, counts = topology.sources, topology.users, self._counts
        topology.changes += 1
        for kind, count in block.kinds.items():
            counts[kind] = counts.get(kind, 0) + count
        for op, name, inputs, feeds, label in block.nodes:
            name = name + suffix if name else ""
            node = plain_node(op, inputs(values), label + suffix, name, graph)
            sources[node] = feeds(vertices)
            vertices.append(node)
            values.append(node.outputs[0])
        copies = vertices[len(read) + 1 :]
        for node, using in zip(copies, block.users, strict=True):
            users[node] = using(vertices)
        if len(set(feeding)) == len(feeding):
            readers = [using(vertices) for using in block.users_of_inputs]
            topology.feed(zip(feeding, readers, strict=True))
        else:  # a vertex feeds each node once
            around = set(feeding)
            for node in copies:
                sources[node] = neighbours(list(dict.fromkeys(sources[node])))
                topology.feed((vertex, (node,)) for vertex in around.intersection(sources[node]))
        return values[len(read) + 1 :]

    def set_outputs(
        self, values: Sequence[Value], infos: Sequence[onnx.ValueInfoProto] | None = None
    ) -> None:
        """Set the outputs; `infos` declares them (as before if None).

        An interface (main graph, function) keeps the names of its slots: a value that cannot take
        the name, because it is an input, a constant or in another slot, gets an Identity.

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
            present = set(values)
            dropped = {self.vertex(value): value for value in old if value not in present}
            for value in dropped.values():
                self._release(value, self)
        if self.is_interface:
            self._name_outputs()

    def _name_outputs(self) -> None:
        """Insert an Identity for each output that cannot take the name of its slot."""
        fixed = any(value.producer is None or value.pinned for value in self._outputs)
        if not fixed and len(set(self._outputs)) == len(self._outputs):
            return
        names: dict[Value, str] = {}
        copies: dict[tuple[Value, str], Value] = {}
        outputs = list(self._outputs)
        for slot, (value, info) in enumerate(zip(self._outputs, self.output_infos, strict=True)):
            fixed = value.producer is None or value.pinned
            # One value in two slots: the first slot has its name, the others get an Identity each.
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
        """Set an input of a node.

        Raises:
            GraphError: the node is not of this graph, the value not visible, the index too large.
        """
        self._check_own(node)
        if not 0 <= index < len(node.inputs):
            raise GraphError(f"{node} has no input {index}; it has {len(node.inputs)}")
        self._set_read(node, index, value)

    def resize_inputs(self, node: Node, count: int) -> None:
        """Truncate the inputs of a node, or append absent ones.

        Raises:
            GraphError: the node is not of this graph, or the number is negative.
        """
        self._check_own(node)
        if count < 0:
            raise GraphError(f"{node} cannot have {count} inputs")
        dropped = node.inputs[count:]
        write_inputs(node, node.inputs[:count] + (None,) * (count - len(node.inputs)))
        for value in dropped:
            if value is not None:
                self._release(value, node)

    def set_node_outputs(self, node: Node, outputs: Sequence[Value | str | None]) -> None:
        """Replace the outputs of a node.

        Args:
            node: a node of this graph.
            outputs: the outputs that stay, and the labels of new ones; None or an empty label
                stands for an omitted output.

        Raises:
            GraphError: the node is not of this graph, a value is not an output of it or occurs
                twice, or a dropped output is used or pinned.
        """
        self._check_own(node)
        present: set[Value] = set()
        for value in outputs:
            if isinstance(value, Value):
                if value.producer is not node or value in present:
                    raise GraphError(f"{node}: {value} is not its output, or would be one twice")
                present.add(value)
        for old in node.outputs:
            if old is not None and old not in present and (old.pinned or self.is_used(old)):
                raise GraphError(f"{node}: its output '{old.name}' is used; replace its uses first")
        values = [Value(v, None, node) if isinstance(v, str) and v else v or None for v in outputs]
        if values != list(node.outputs):
            write_outputs(node, tuple(values))
            self._topology.changes += 1

    def set_operator(self, node: Node, op: Operator) -> None:
        """Replace the operator of a node; its inputs, outputs and bodies stay.

        Raises:
            GraphError: the node is not of this graph, or the operator lacks an attribute for one of
                its bodies.
        """
        self._check_own(node)
        # Serialization writes a body into its attribute, without which it would be lost.
        for name in node.bodies:
            if name not in op.attributes:
                raise GraphError(f"{node} holds a graph '{name}', an attribute that {op} lacks")
        is_constant = "Constant" in (op.qualname, node.op.qualname)
        self._uncount(node)
        self._counts[op.qualname] = self._counts.get(op.qualname, 0) + 1
        write_operator(node, op)
        # No edge changes, so the number of changes does not invalidate this cache.
        self._kinds = NO_KINDS
        if is_constant:
            self._read_constant(node)

    def rewrite_node(self, node: Node, op: Operator, inputs: Sequence[Value | None]) -> None:
        """Replace the operator and the inputs of a node without bodies; its outputs stay.

        Its readers are not visited, so that this takes less time than a new node in its place. The
        caller ensures that no input depends on the node: `verify` and `nodes` raise for a cycle.

        Raises:
            GraphError: the node is not of this graph or has bodies, or an input is not visible
                here; nothing is changed.
        """
        self._check_own(node)
        if node.bodies:
            raise GraphError(f"{node} has bodies, which read values as well; add a new node")
        sources = self._sources([value for value in inputs if value is not None])
        self.set_operator(node, op)
        write_inputs(node, tuple(inputs))
        self._drop_captures(self._topology.rewire(node, sources))

    def _uncount(self, node: Node) -> None:
        """Count one node less of its operator."""
        kind = node.op.qualname
        count = self._counts.pop(kind)
        if count > 1:
            self._counts[kind] = count - 1

    def _read_constant(self, node: Node) -> None:
        """Update the constant of a node's first output."""
        output = node.outputs[0] if node.outputs else None
        if output is not None:
            constant = node.is_op("Constant")
            output.constant = shared_constant(node.op, self.root.base_dir) if constant else None

    # Edges --------------------------------------------------------------------------------------

    def _set_read(self, user: "Node | Graph", index: int, value: Value | None) -> None:
        source = None if value is None else self._source(value)
        read = list(user.outputs if user is self else user.inputs)
        old, read[index] = read[index], value
        if isinstance(user, Node):
            write_inputs(user, tuple(read))
        else:
            self._outputs = tuple(read)  # type: ignore[arg-type]
        if source is not None:
            self._topology.connect(source, user)
        if old is not None:
            self._release(old, user)

    def _capture(self, value: Value) -> Value:
        """Capture a value: a vertex of this graph and a use in each graph between."""
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
        """The vertex of this graph that provides a value, captured if necessary."""
        vertex = self.vertex(value)
        return vertex if vertex in self._topology.sources else self._capture(value)

    def _sources(self, values: Sequence[Value]) -> list[Node | Value]:
        """The vertices that provide some values; an error leaves the graph unchanged."""
        sources: list[Node | Value] = []
        present = self._topology.sources
        try:
            for value in values:
                vertex: Node | Value | None = value.producer
                if vertex is None or vertex.graph is not self:
                    vertex = value if value in present else self._capture(value)
                sources.append(vertex)
        except GraphError:
            self._drop_captures(sources)
            raise
        return sources

    def _release(self, value: Value, user: "Node | Graph") -> None:
        """Drop the edge from the provider of `value` to `user` unless another use needs it."""
        self._topology.changes += 1
        source = self.vertex(value)
        provided = source.outputs if isinstance(source, Node) else (source,)
        if not self._reads(user, source, provided):
            if user in self._topology.users.get(source, ()):
                self._topology.disconnect(source, user)
            self._drop_captures([source])

    def _drop_captures(self, sources: Iterable[Node | Value]) -> None:
        """Discard unused captured vertices among some vertices."""
        holder = self.owner
        if not isinstance(holder, Node):
            return  # nothing is around it
        for source in sources:
            captured = isinstance(source, Value) and source.owner is not self
            if captured and not self._topology.users.get(source, True):
                self._topology.discard(source)
                if holder.graph is not None:
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
        value = Value(name, None, None, self, tensor)
        self._topology.insert(value)
        self.initializers[value] = tensor
        return value

    def add_initializers(self, tensors: Iterable[tuple[str, Tensor]]) -> list[Value]:
        """Append constants as `add_initializer` does, by name."""
        topology = self._topology
        topology.changes += 1
        values = []
        for name, tensor in tensors:
            value = Value(name, None, None, self, tensor)
            topology.sources[value] = topology.users[value] = ()
            self.initializers[value] = tensor
            values.append(value)
        return values

    def place_initializer(self, value: Value) -> Value:
        """Append a constant that belongs to no graph yet.

        Raises:
            GraphError: it is no constant, or belongs to a graph or node already.
        """
        if value.constant is None or value.owner is not None or value.producer is not None:
            raise GraphError(f"{value} is not a loose constant")
        value.owner = self
        self._topology.insert(value)
        self.initializers[value] = value.constant
        return value

    def add_body(self, node: Node, attribute: str, header: onnx.GraphProto) -> "Graph":
        """Append an empty body to a node of this graph, under an attribute's name.

        Raises:
            GraphError: the node is not of this graph, or its attribute takes no (further) graph.
        """
        self._check_own(node)
        message = node.op.attributes.get(attribute)
        if message is None:
            message = onnx.AttributeProto(name=attribute, type=onnx.AttributeProto.GRAPH)
            write_operator(node, node.op.with_attributes([*node.op.attributes.values(), message]))
        single = message.type == onnx.AttributeProto.GRAPH and attribute not in node.bodies
        if not single and message.type != onnx.AttributeProto.GRAPHS:
            raise GraphError(
                f"{node}: its attribute '{attribute}' does not accept a graph, or already has one"
            )
        graph = Graph(node, header)
        bodies = dict(node.bodies)
        bodies[attribute] = (*bodies.get(attribute, ()), graph)
        node.bodies = bodies
        self._holders[node] = None
        return graph

    # Replacing ----------------------------------------------------------------------------------

    def supersede(self, old: Value, new: Value) -> Value:
        """Replace a value of this graph by another one, which takes over its metadata.

        All readers of `old` read `new`. It takes over the name, the declared type where `new` has
        none, the pin, and quantization annotations. Inputs, pinned values and values of graphs
        around keep their names. Where the name must stay and `new` cannot take it, an Identity of
        `new` takes it.

        Returns:
            the replacement: `new`, or its Identity.

        Raises:
            GraphError: `old` is not defined here or training assigns to it, `new` is not visible
                here, or they are the same.
        """
        self._check_defined(old)
        if new is old or not self.sees(new):
            raise GraphError(
                f"{new} cannot replace {old}: it is not visible there, or is the same value"
            )
        if old in getattr(self.root, "trained", ()):
            raise GraphError(f"training assigns to {old}, so it stays")
        # A value of a graph around has that graph's name, and an input the name that callers use.
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
        """Copy a declaration to a value without one, unless it is a constant."""
        if new.info is None and old.info is not None and new.constant is None:
            new.info = old.info
            if new.graph is self:
                self.value_infos.append(new)

    def _move_pin(self, old: Value, new: Value) -> None:
        """Move the pin and the quantization annotations of a value to another one."""
        old.pinned, new.pinned = False, True
        for graph in self.walk():
            if graph.annotations:
                graph.annotations = [a.renewed(old, new) for a in graph.annotations]

    def replace_uses(self, old: Value, new: Value) -> None:
        """Replace `old`, of this graph, by `new` in all readers, also in nested graphs.

        The caller ensures that `new` does not depend on a reader of `old`: `verify` and `nodes`
        raise for a cycle.

        Raises:
            GraphError: `old` is not defined here or is pinned, or `new` is not visible here.
        """
        self.replace_all_uses({old: new})

    def replace_all_uses(self, values: Mapping[Value, Value]) -> None:
        """Replace many values like `replace_uses`. None of the new ones is among the old ones.

        Raises:
            GraphError: as there.
        """
        self.replace_all_reads(values)
        outputs = set(self._outputs)
        replacements = {old: new for old, new in values.items() if old in outputs}
        if replacements:
            self._replace_outputs(replacements)

    def replace_reads(self, old: Value, new: Value) -> None:
        """Replace a value like `replace_uses`, except in the outputs of the graph itself.

        Raises:
            GraphError: as there.
        """
        self.replace_all_reads({old: new})

    def replace_all_reads(self, values: Mapping[Value, Value]) -> None:
        """Replace many values like `replace_reads`. None of the new ones is among the old ones.

        Raises:
            GraphError: as there.
        """
        # Checks precede changes: an error leaves the graph as it was.
        for old in values:
            self._check_defined(old)
            if old.pinned:
                raise GraphError(f"{old} is named from outside the data flow and must stay")
        sources = self._sources(list(values.values()))
        self._replace_in_nodes(values)
        # A replacement of a value without readers must not stay captured.
        self._drop_captures(sources)

    def _replace_in_nodes(self, values: Mapping[Value, Value]) -> None:
        """Update the inputs of each reader once for all values."""
        readers: dict[Node, dict[Value | None, Value]] = {}
        for old, new in values.items():
            for user in self.users(old):
                if isinstance(user, Node):
                    readers.setdefault(user, {})[old] = new
        for user, replacements in readers.items():
            if len(replacements) == 1 and self._replace_input(user, replacements):
                continue
            for graph in user.graphs() if user.bodies else ():
                graph._replace_captured(replacements)
            inputs = user.inputs if len(user.inputs) <= FEW else self._positions(user)
            read = [new for old, new in replacements.items() if old in inputs]
            if read:
                write_inputs(user, tuple([replacements.get(v, v) for v in user.inputs]))
            for new in read:
                self._topology.connect(self._source(new), user)
            self._release_all(replacements, user)

    def _replace_input(self, user: Node, values: Mapping[Value | None, Value]) -> bool:
        """Replace one value in the inputs of a node; return false where more is to be done."""
        ((old, new),) = values.items()
        assert old is not None
        # The quick way is right only where the edge stands for this one value.
        source = self.vertex(old)
        if user.bodies or (source is not old and len(source.outputs) > 1):  # type: ignore[union-attr]
            return False
        write_inputs(user, tuple([new if value is old else value for value in user.inputs]))
        self._topology.connect(self._source(new), user)
        self._topology.disconnect(source, user)
        if not self.is_interface:
            self._drop_captures([source])
        return True

    def _release_all(self, values: Iterable[Value | None], user: Node) -> None:
        """Release replaced values, which are no input of the user any more."""
        for source, value in {self.vertex(value): value for value in values if value}.items():
            alone = source is value or len(source.outputs) == 1  # type: ignore[union-attr]
            if alone and not user.bodies:
                self._topology.disconnect(source, user)
                self._drop_captures([source])
            else:
                self._release(value, user)

    def _replace_captured(self, values: Mapping[Value | None, Value]) -> None:
        """Replace captured values inside a graph."""
        inside = {old: new for old, new in values.items() if old in self._topology.sources and old}
        if inside:
            self._replace_in_nodes(inside)
            outputs = set(self._outputs)
            replacements = {old: new for old, new in inside.items() if old in outputs}
            if replacements:
                self._replace_outputs(replacements)

    def _replace_outputs(self, values: Mapping[Value, Value]) -> None:
        others = set(self._outputs).difference(values)
        replacements: dict[Value, Value] = {}
        for old, new in values.items():
            replacements[old] = self._own_output(new, others)
            others.add(replacements[old])
        slots = list(zip(self._outputs, self.output_infos, strict=True))
        self.set_outputs(
            [replacements.get(v, v) for v, _ in slots],
            [_with_type(info, replacements[v]) if v in replacements else info for v, info in slots],
        )

    def _own_output(self, value: Value, others: Set[Value]) -> Value:
        """The value or an Identity that the graph may output for a value, beside others."""
        if self.is_interface or not (
            value.graph is not self or value in others or self._shares_memory(value)
        ):
            return value
        # Checkers and runtimes require outputs of a body to come from inside the body, and
        # onnxruntime returns zeros for one of two that are one value.
        return self._identity(value, value.name)

    def _shares_memory(self, value: Value) -> bool:
        """Test for an input that onnxruntime 1.32 does not copy to an output.

        The output of a Scan is left as it was allocated, that of a Loop counts on.
        """
        inputs = self._inputs[:1] if self._holds("Loop") else self._inputs
        return value in inputs and self._holds("Loop", "Scan")

    def _holds(self, *names: str) -> bool:
        return self.holder is not None and self.holder.is_op(*names)

    # Removing -----------------------------------------------------------------------------------

    def remove(self, node: Node) -> None:
        """Remove an unused node with its bodies.

        Raises:
            GraphError: the node is not of this graph, or one of its outputs is used or pinned.
        """
        self._check_own(node)
        if self._topology.users[node]:
            user = next(iter(self._topology.users[node]))
            raise GraphError(f"{node} is still used by {user}; replace its uses first")
        if self.is_needed(node):
            raise GraphError(f"{node}: an output is named from outside the data flow, so it stays")
        sources = self._topology.sources[node]
        self._topology.discard(node)
        self._uncount(node)
        self._holders.pop(node, None)
        node.graph = None
        if not self.is_interface:
            self._drop_captures(sources)

    def remove_input(self, value: Value) -> None:
        """Remove an unused input with its default.

        Raises:
            GraphError: it is not an input of this graph, or it is used.
        """
        if value.owner is not self or value not in self._inputs:
            raise GraphError(f"{value} is not an input of graph '{self.name}'")
        self._discard_source(value)
        self._inputs.remove(value)

    def remove_initializer(self, value: Value) -> None:
        """Remove an unused initializer that is not an input.

        Raises:
            GraphError: it is not such an initializer of this graph, or it is used.
        """
        if value not in self.initializers or value in self._inputs:
            raise GraphError(f"{value} is not a constant initializer of graph '{self.name}'")
        self._discard_source(value)

    def freeze_input(self, value: Value) -> None:
        """Turn an input with a default into a constant, which callers cannot feed.

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

    def release(self) -> None:
        """Break the cycles between nodes, values and the graph, which is empty afterwards."""
        for node in self.unordered_nodes():
            for value in node.outputs:
                if value is not None:
                    value.producer = None
        GraphQueries.__init__(self, None, self._header)


def _with_type(info: onnx.ValueInfoProto, value: Value) -> onnx.ValueInfoProto:
    """Add a type to the declaration of an output slot with a constant. Type inference finds none
    for an output without a node."""
    if info.HasField("type") or value.constant is None or value.type is None:
        return info
    typed = onnx.ValueInfoProto()
    typed.CopyFrom(info)
    typed.type.CopyFrom(value.type)
    return typed
