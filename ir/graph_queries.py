"""What a graph holds, and every question that can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import networkx as nx
import onnx

from .dataflow_graph import Topology, downstream
from .node import Node
from .tensor import Tensor
from .value import Value

if TYPE_CHECKING:
    from .graph import Graph
    from .model import Function, Model
    from .operator import Operator


Positions = Mapping[Value | None, Sequence[int]]

_WIDE = 64
"""Nodes with more inputs are wide; so many of them are remembered."""

# What was found at no state of a graph yet; one for all, so nobody writes into these.
_NOT_SPLIT = -1, None, dict["Value", "list[Node | Graph]"]()
_NOT_ORDERED = -1, list[Node]()
NO_KINDS = -1, dict[str, list[Node]]()


class Use(NamedTuple):
    """One place that reads a value: an input of a node, or an output slot of a graph."""

    user: Node | Graph
    position: int


class Annotation(NamedTuple):
    """A quantization annotation: the tensor it speaks of and the tensors that parametrise it.

    A name that no value of the graph carries is kept as the string it came as.
    """

    value: Value | str
    parameters: tuple[tuple[str, Value | str], ...]

    def renewed(self, old: Value, new: Value) -> Annotation:
        """The same with one value in the place of another."""

        def now(value: Value | str) -> Value | str:
            return new if value is old else value

        return Annotation(now(self.value), tuple((key, now(v)) for key, v in self.parameters))


class GraphQueries:
    """Read-only part of a `Graph`: what it holds, and who uses what."""

    __slots__ = (
        "_header",
        "_holders",
        "_inputs",
        "_kinds",
        "_ordered",
        "_outputs",
        "_split",
        "_topology",
        "_wide",
        "annotations",
        "initializers",
        "listed",
        "output_infos",
        "owner",
        "reserved",
        "value_infos",
    )

    def __init__(
        self, owner: Model | Function | Node | None, header: onnx.GraphProto | str
    ) -> None:
        self.owner = owner
        self._header = header
        self.initializers: dict[Value, Tensor] = {}
        self.listed: dict[Value, int] = {}
        self.output_infos: tuple[onnx.ValueInfoProto, ...] = ()
        self.value_infos: list[Value | onnx.ValueInfoProto] = []
        self.annotations: list[Annotation] = []
        self.reserved: set[str] = set()
        self._inputs: list[Value] = []
        self._outputs: tuple[Value, ...] = ()
        self._holders: dict[Node, None] = {}  # the nodes that hold graphs
        self._wide: dict[Node | GraphQueries, tuple[object, Positions]] = {}
        self._split: tuple[int, Node | None, dict[Value, list[Node | Graph]]] = _NOT_SPLIT
        self._topology = Topology(sink=self)
        self._ordered: tuple[int, list[Node]] = _NOT_ORDERED
        self._kinds: tuple[int, dict[str, list[Node]]] = NO_KINDS

    @property
    def header(self) -> onnx.GraphProto:
        """Name, doc string and metadata, as a message without content."""
        if isinstance(self._header, str):
            self._header = onnx.GraphProto(name=self._header)
        return self._header

    @header.setter
    def header(self, header: onnx.GraphProto) -> None:
        self._header = header

    @property
    def metadata(self) -> Sequence[onnx.StringStringEntryProto]:
        """What is said of it for others than ONNX."""
        return () if isinstance(self._header, str) else self._header.metadata_props

    @property
    def name(self) -> str:
        """The graph's own name."""
        return self._header if isinstance(self._header, str) else self._header.name

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The inputs, in order."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The values that the graph gives out, in order; one may stand there twice."""
        return self._outputs

    @property
    def changes(self) -> int:
        """How often the topology was changed so far."""
        return self._topology.changes

    @property
    def holder(self) -> Node | None:
        """The node that holds this graph; None for a main graph and a function's."""
        return self.owner if isinstance(self.owner, Node) else None

    @property
    def is_interface(self) -> bool:
        """Whether names of inputs and outputs are a promise to callers (not so in a body)."""
        return not isinstance(self.owner, Node)

    @property
    def root(self) -> Model | Function:
        """The model or function that this graph is a part of, however deep."""
        owner = self.owner
        while isinstance(owner, Node):
            assert owner.graph is not None
            owner = owner.graph.owner
        assert owner is not None
        return owner

    @property
    def _graph(self) -> Graph:
        """Itself, under the name by which others know it."""
        return cast("Graph", self)

    def nodes(self) -> list[Node]:
        """The nodes in a stable topological order.

        Raises:
            ModelError: the graph has a cycle.
        """
        changes = self._topology.changes
        if self._ordered[0] != changes:
            nodes = [v for v in self._topology.ordered() if type(v) is Node]
            self._ordered = changes, nodes
        return self._ordered[1].copy()

    def unordered_nodes(self) -> Iterator[Node]:
        """The nodes in the order in which they were added."""
        return (v for v in self._topology.sources if type(v) is Node)

    def latest_nodes(self) -> Iterator[Node]:
        """The nodes from the last one that was added to the first."""
        return (v for v in reversed(self._topology.sources) if type(v) is Node)

    def nodes_of(self, *qualnames: str) -> list[Node]:
        """The nodes with one of these operators, in the order of `nodes`.

        Raises:
            ModelError: the graph has a cycle.
        """
        kinds = self._by_kind()
        found = [name for name in qualnames if name in kinds]
        if len(found) > 1:
            return [node for node in self.nodes() if node._op.qualname in found]
        return kinds[found[0]].copy() if found else []

    def kinds(self) -> KeysView[str]:
        """The operators of the nodes, by `Operator.qualname`."""
        return self._by_kind().keys()

    def _by_kind(self) -> dict[str, list[Node]]:
        changes = self._topology.changes
        if self._kinds[0] != changes:
            kinds: dict[str, list[Node]] = {}
            for node in self.nodes():
                kinds.setdefault(node._op.qualname, []).append(node)
            self._kinds = changes, kinds
        return self._kinds[1]

    def operators(self) -> list[Operator]:
        """The operators of the nodes, each once."""
        return list(dict.fromkeys([v._op for v in self._topology.sources if type(v) is Node]))

    def holders(self) -> list[Node]:
        """The nodes that hold graphs, in the order in which they were given the first."""
        return list(self._holders)

    def __len__(self) -> int:
        """The number of nodes."""
        return [type(v) for v in self._topology.sources].count(Node)

    def walk(self) -> Iterator[Graph]:
        """This graph, then every graph that its nodes hold, outer before inner."""
        yield self._graph
        for node in list(self._holders):
            for graph in node.graphs():
                yield from graph.walk()

    def captures(self) -> list[Value]:
        """The values from around that this graph or a graph inside it uses, in order."""
        return [v for v in self._topology.sources if type(v) is Value and v.owner is not self]

    def sees(self, value: Value) -> bool:
        """Whether a node of this graph may read the value."""
        graph: GraphQueries | None = self
        home = value.graph
        while graph is not None:
            if graph is home:
                return True
            graph = graph.holder.graph if graph.holder is not None else None
        return False

    def users(self, value: Value) -> list[Node | Graph]:
        """The nodes of this graph that use the value, themselves or in their bodies, and the graph
        itself where it gives the value out."""
        source = self.vertex(value)
        found = self._topology.users.get(source, ())
        if value.producer is not source or len(source.outputs) == 1:
            return list(found)
        if min(len(found), len(source.outputs)) > _WIDE:
            return self._users_of_each(source).get(value, []).copy()
        return [user for user in found if self._reads(user, source, (value,))]

    def uses(self, value: Value) -> list[Use]:
        """Every place that reads the value, in this graph and in all graphs inside it."""
        places: list[Use] = []
        for user in self.users(value):
            places += [Use(user, index) for index in self._positions(user).get(value, ())]
            if isinstance(user, Node):
                for graph in user.graphs():
                    if value in graph._topology.sources:
                        places += graph.uses(value)
        return places

    def is_used(self, value: Value) -> bool:
        """Whether anything reads the value."""
        source = self.vertex(value)
        found = self._topology.users.get(source, ())
        if value.producer is not source or len(source.outputs) == 1:
            return bool(found)
        if min(len(found), len(source.outputs)) > _WIDE:
            return value in self._users_of_each(source)
        return any(self._reads(user, source, (value,)) for user in found)

    def is_needed(self, node: Node) -> bool:
        """Whether anything uses an output of the node, or names one from outside the data flow."""
        if self._topology.users[node]:
            return True
        return any(value is not None and value.pinned for value in node.outputs)

    def unneeded(self) -> list[Node]:
        """The nodes that are not needed; without them others may not be, either."""
        loose = [v for v, users in self._topology.users.items() if not users and type(v) is Node]
        return [node for node in loose if not self.is_needed(node)]

    def view(self) -> nx.DiGraph[Any]:
        """A read-only networkx view of this graph, for every algorithm that networkx has.

        An edge leads from what provides a value to what uses it. The vertices are the nodes; the
        values that come from elsewhere (inputs, initializers, captured values); and the graph
        itself, which all that it gives out leads to. The view changes with the graph. The edges
        that control flow makes are there too: what a node's bodies capture leads to the node.

        The longest path, here of nodes only:

        >>> import networkx as nx
        >>> from straightline import ir
        >>> model = ir.parse('''<ir_version: 10, opset_import: ["": 21]>
        ...     main (float[3] x, float[3] w) => (float[3] z) {
        ...         a = Exp (x)
        ...         b = Mul (a, w)
        ...         z = Add (b, w)
        ...     }''')
        >>> view = model.graph.view()
        >>> [v.op_type for v in nx.dag_longest_path(view) if isinstance(v, ir.Node)]
        ['Exp', 'Mul', 'Add']

        What depends on an input:

        >>> x, w = model.graph.inputs
        >>> sorted(v.op_type for v in nx.descendants(view, w) if isinstance(v, ir.Node))
        ['Add', 'Mul']
        >>> model.graph in nx.descendants(view, w)
        True

        For many vertices at once see `upstream` and `downstream` in `straightline.ir`.
        """
        return self._topology.view()

    def dependents(self, vertices: Iterable[Node | Value]) -> set[Any]:
        """Some vertices of `view`, and all that depends on them."""
        return downstream(self._topology, vertices)

    def vertex(self, value: Value) -> Node | Value:
        """The vertex of `view` that provides a value: the node of this graph that computes it, or
        the value itself. A value that nothing here uses or defines is no vertex."""
        producer = value.producer
        return producer if producer is not None and producer.graph is self else value

    def _reads(
        self, user: Node | Graph, source: Node | Value, values: Sequence[Value | None]
    ) -> bool:
        """Whether a user of a vertex reads one of some values that it provides."""
        if _shared(self._positions(user), source, values):
            return True
        if not isinstance(user, Node) or not user.bodies:
            return False
        return any(_shared(graph._topology.sources, source, values) for graph in user.graphs())

    def _users_of_each(self, source: Node) -> Mapping[Value, list[Node | Graph]]:
        """The users of each output of a node. Those of the last one are kept: of a Loop with
        thousands of outputs each may be asked for."""
        changes = self._topology.changes
        if self._split[:2] != (changes, source):
            users: dict[Value, list[Node | Graph]] = {}
            for user in self._topology.users[source]:
                read = dict.fromkeys(_provided(self._positions(user), source))
                for graph in user.graphs() if isinstance(user, Node) else ():
                    read.update(dict.fromkeys(_provided(graph._topology.sources, source)))
                for value in read:
                    users.setdefault(value, []).append(user)
            self._split = changes, source, users
        return self._split[2]

    def _positions(self, user: Node | GraphQueries) -> Positions:
        """Where a node, or the graph itself, reads each value. That of a wide one is kept: a Loop
        may have thousands of values that each are asked for."""
        read = user._inputs if isinstance(user, Node) else user._outputs
        known = self._wide.get(user)
        if known is not None and known[0] is read:
            return known[1]
        positions: dict[Value | None, list[int]] = {}
        for index, value in enumerate(read):
            positions.setdefault(value, []).append(index)
        if len(read) > _WIDE:
            if len(self._wide) >= _WIDE:
                self._wide.clear()
            self._wide[user] = read, positions
        return positions

    def __repr__(self) -> str:
        holder = self.holder
        return f"graph '{self.name}'" + (f" of {holder}" if holder is not None else "")


def _provided(read: Mapping[Any, object], source: Node) -> Iterator[Value]:
    """Which outputs of a node are among what is read."""
    if len(read) < len(source.outputs):
        yield from (v for v in read if type(v) is Value and v.producer is source)
    else:
        yield from (v for v in source.outputs if v is not None and v in read)


def _shared(
    read: Mapping[Any, object], source: Node | Value, values: Sequence[Value | None]
) -> bool:
    """Whether one of some values, all or few of what a vertex provides, is among what is read."""
    if len(values) > len(read) and isinstance(source, Node):
        return any(True for _ in _provided(read, source))
    return any(value is not None and value in read for value in values)
