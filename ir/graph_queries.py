"""The content of graphs, and queries about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import onnx

from .dataflow_graph import Topology
from .node import Node, Value
from .tensor import Tensor

if TYPE_CHECKING:
    import networkx as nx

    from .graph import Graph
    from .model import Function, Model
    from .operator import Operator


Positions = Mapping[Value | None, Sequence[int]]

_FEW = 4
"""The number of inputs of a node that are compared one by one."""

_WIDE = 64
"""The number of inputs above which a node is wide, and of wide nodes in the cache."""

# The empty caches; shared by all graphs, therefore read-only.
_NOT_SPLIT = -1, None, dict["Value", "list[Node | Graph]"]()
_NOT_ORDERED = -1, list[Node]()
NO_KINDS = -1, dict[str, list[Node]]()


class Use(NamedTuple):
    """A use of a value: an input of a node, or an output slot of a graph."""

    user: Node | Graph
    position: int


class Annotation(NamedTuple):
    """A quantization annotation: the annotated tensor and the tensors of its parameters.

    A name without a value of the graph stays a string.
    """

    value: Value | str
    parameters: tuple[tuple[str, Value | str], ...]

    def renewed(self, old: Value, new: Value) -> Annotation:
        """The annotation with one value replaced by another."""

        def now(value: Value | str) -> Value | str:
            return new if value is old else value

        return Annotation(now(self.value), tuple((key, now(v)) for key, v in self.parameters))


class GraphQueries:
    """The read-only part of a `Graph`: content and users."""

    __slots__ = (
        "_counts",
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
        self._counts: dict[str, int] = {}  # the number of nodes of each operator
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
        """The metadata of the graph, for tools other than ONNX."""
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
        """The outputs of the graph, in order; a value may occur twice."""
        return self._outputs

    @property
    def changes(self) -> int:
        """The number of changes of the topology so far."""
        return self._topology.changes

    @property
    def holder(self) -> Node | None:
        """The node that holds this graph; None for a main graph and a function's."""
        return self.owner if isinstance(self.owner, Node) else None

    @property
    def is_interface(self) -> bool:
        """Test whether callers rely on names of inputs and outputs (not so in a body)."""
        return not isinstance(self.owner, Node)

    @property
    def root(self) -> Model | Function:
        """The model or function that contains this graph at any depth."""
        owner = self.owner
        while isinstance(owner, Node):
            assert owner.graph is not None
            owner = owner.graph.owner
        assert owner is not None
        return owner

    @property
    def _graph(self) -> Graph:
        """The graph itself, under its public type."""
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
        # A copy: the caller may change its list, and the cached one serves the next caller.
        return self._ordered[1].copy()

    def unordered_nodes(self) -> Iterator[Node]:
        """The nodes in order of insertion."""
        return iter([v for v in self._topology.sources if type(v) is Node])

    def latest_nodes(self) -> Iterator[Node]:
        """The nodes in reverse order of insertion."""
        return (v for v in reversed(self._topology.sources) if type(v) is Node)

    def nodes_of(self, *qualnames: str) -> list[Node]:
        """The nodes with one of these operators, in the order of `nodes`.

        Raises:
            ModelError: the graph has a cycle.
        """
        # The counts answer for absent operators, without sorting the graph.
        present = [name for name in qualnames if name in self._counts]
        if len(present) > 1:
            return [node for node in self.nodes() if node.op.qualname in present]
        return self._by_kind()[present[0]].copy() if present else []

    def kinds(self) -> Set[str]:
        """The qualified names of the operators in the graph."""
        return self._counts.keys()

    def _by_kind(self) -> dict[str, list[Node]]:
        changes = self._topology.changes
        if self._kinds[0] != changes:
            kinds: dict[str, list[Node]] = {}
            for node in self.nodes():
                try:
                    kinds[node.op.qualname].append(node)
                except KeyError:
                    kinds[node.op.qualname] = [node]
            self._kinds = changes, kinds
        return self._kinds[1]

    def operators(self) -> list[Operator]:
        """The operators of the nodes, each once."""
        return list(dict.fromkeys([v.op for v in self._topology.sources if type(v) is Node]))

    def holders(self) -> list[Node]:
        """The nodes that hold graphs, in order of their first body."""
        return list(self._holders)

    def __len__(self) -> int:
        """The number of nodes."""
        return [type(v) for v in self._topology.sources].count(Node)

    def walk(self) -> Iterator[Graph]:
        """This graph, then all nested graphs, outer before inner."""
        yield self._graph
        # A copy: a caller may remove holders while it walks.
        for node in list(self._holders):
            for graph in node.graphs():
                yield from graph.walk()

    def captures(self) -> list[Value]:
        """The captured values of this graph, in order; nested graphs included."""
        return [v for v in self._topology.sources if type(v) is Value and v.owner is not self]

    def sees(self, value: Value) -> bool:
        """Test whether a node of this graph may read the value."""
        graph: GraphQueries | None = self
        home = value.graph
        while graph is not None:
            if graph is home:
                return True
            graph = graph.holder.graph if graph.holder is not None else None
        return False

    def users(self, value: Value) -> list[Node | Graph]:
        """The users of a value: nodes of this graph, also by their bodies, and the graph for an
        output."""
        source = self.vertex(value)
        candidates = self._topology.users.get(source, ())
        # Edges join vertices, so the outputs of one node share their users.
        if value.producer is not source or len(source.outputs) == 1:
            return list(candidates)
        if min(len(candidates), len(source.outputs)) > _WIDE:
            return self._users_of_each(source).get(value, []).copy()
        return [user for user in candidates if self._reads(user, source, (value,))]

    def uses(self, value: Value) -> list[Use]:
        """All uses of a value in this graph and in nested graphs."""
        places: list[Use] = []
        for user in self.users(value):
            places += [Use(user, index) for index in self._positions(user).get(value, ())]
            if isinstance(user, Node):
                for graph in user.graphs():
                    # A captured value is a vertex of every graph between: one look-up skips a whole
                    # body.
                    if value in graph._topology.sources:
                        places += graph.uses(value)
        return places

    def is_used(self, value: Value) -> bool:
        """Test whether the value has users."""
        source = self.vertex(value)
        candidates = self._topology.users.get(source, ())
        if value.producer is not source or len(source.outputs) == 1:
            return bool(candidates)
        if min(len(candidates), len(source.outputs)) > _WIDE:
            return value in self._users_of_each(source)
        return any(self._reads(user, source, (value,)) for user in candidates)

    def is_needed(self, node: Node) -> bool:
        """Test whether an output of the node is used or pinned."""
        if self._topology.users[node]:
            # Training, an annotation or an attribute names a pinned value, which thus has no reader
            # here.
            return True
        return any(value is not None and value.pinned for value in node.outputs)

    def unneeded(self) -> list[Node]:
        """The nodes that are not needed; their removal may leave more of them."""
        loose = [v for v, users in self._topology.users.items() if not users and type(v) is Node]
        return [node for node in loose if not self.is_needed(node)]

    def view(self) -> nx.DiGraph[Any]:
        """A read-only networkx view of this graph, for every algorithm that networkx has.

        An edge leads from the provider of a value to its user. The vertices are the nodes; the
        values from elsewhere (inputs, initializers, captured values); and the graph itself, the
        sink of its outputs. The view changes with the graph. It includes the edges of control flow:
        captures of a node's bodies lead to the node.

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
        from .networkx_view import view_of

        return view_of(self._topology)

    def providers(self, vertex: Node | Value) -> list[Node | Value]:
        """The vertices of `view` that feed one."""
        return list(self._topology.sources[vertex])

    def dependents(self, vertices: Iterable[Node | Value]) -> set[Any]:
        """Some vertices of `view`, and all vertices that depend on them."""
        return self._topology.dependents(vertices)

    def requirements(self, vertices: Iterable[Node | Value]) -> set[Any]:
        """Some vertices of `view`, and all vertices that they depend on."""
        return self._topology.requirements(vertices)

    def vertex(self, value: Value) -> Node | Value:
        """The vertex of `view` that provides a value: its producer in this graph, or the value
        itself. A value without a use or definition here is no vertex."""
        producer = value.producer
        return producer if producer is not None and producer.graph is self else value

    def _reads(
        self, user: Node | Graph, source: Node | Value, values: Sequence[Value | None]
    ) -> bool:
        """Test whether a user of a vertex reads one of some values of the vertex."""
        # A few comparisons cost less than a dict of all positions.
        if len(values) == 1 and type(user) is Node and len(user.inputs) <= _FEW:
            if values[0] is not None and values[0] in user.inputs:
                return True
            if not user.bodies:
                return False
        if _reads_any(self._positions(user), source, values):
            return True
        if not isinstance(user, Node) or not user.bodies:
            return False
        return any(_reads_any(graph._topology.sources, source, values) for graph in user.graphs())

    def _users_of_each(self, source: Node) -> Mapping[Value, list[Node | Graph]]:
        """The users of each output of a node. The result for the last node is cached, for Loops
        with thousands of outputs."""
        changes = self._topology.changes
        if self._split[:2] != (changes, source):
            users: dict[Value, list[Node | Graph]] = {}
            for user in self._topology.users[source]:
                read = dict.fromkeys(_read_outputs(self._positions(user), source))
                for graph in user.graphs() if isinstance(user, Node) else ():
                    read.update(dict.fromkeys(_read_outputs(graph._topology.sources, source)))
                for value in read:
                    users.setdefault(value, []).append(user)
            self._split = changes, source, users
        return self._split[2]

    def _positions(self, user: Node | GraphQueries) -> Positions:
        """The positions of each value among a node's inputs or the graph's outputs. Those of wide
        nodes are cached, for Loops with thousands of inputs."""
        read = user.inputs if isinstance(user, Node) else user._outputs
        entry = self._wide.get(user)
        # Each change makes a new tuple, so an entry with the same one is never stale.
        if entry is not None and entry[0] is read:
            return entry[1]
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


def _read_outputs(read: Mapping[Any, object], source: Node) -> Iterator[Value]:
    """Select the outputs of a node that are read."""
    # Walk the shorter side: a wide Loop may have thousands of outputs, or of readers.
    if len(read) < len(source.outputs):
        yield from (v for v in read if type(v) is Value and v.producer is source)
    else:
        yield from (v for v in source.outputs if v is not None and v in read)


def _reads_any(
    read: Mapping[Any, object], source: Node | Value, values: Sequence[Value | None]
) -> bool:
    """Test whether one of some values of a vertex is read."""
    # As above: the shorter side.
    if len(values) > len(read) and isinstance(source, Node):
        return any(True for _ in _read_outputs(read, source))
    return any(value is not None and value in read for value in values)
