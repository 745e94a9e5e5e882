"""The verifier: one function for each invariant of the IR, recomputed from scratch."""

from collections.abc import Callable

from .copying import captured_by
from .errors import ModelError
from .graph import Graph
from .kinds import takes
from .model import Function, Model
from .node import Node, Value
from .subgraph_arity import check_bodies


@takes(model=Model)
def verify(model: Model) -> None:
    """Check every invariant of a model.

    Raises:
        ModelError: an invariant does not hold; the message names it and the place.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.ir.verify(model)  # raises nothing
    """
    for graph in model.graphs():
        for invariant in INVARIANTS:
            invariant(graph)


def check_ownership(graph: Graph) -> None:
    """Nodes and sources know their graph, outputs their producer, the graph its holders."""
    holders = {node for node in graph.unordered_nodes() if node.bodies}
    _require(graph._holders.keys() == holders, graph, "it is wrong about which nodes hold graphs")
    for node in graph.unordered_nodes():
        _require(node.graph is graph, graph, f"{node} belongs to another graph")
        for output in node.outputs:
            _require(
                output is None or output.producer is node, graph, f"{node}: {output} is not its"
            )
        for inner in node.graphs():
            _require(inner.owner is node, graph, f"{node}: {inner} has another owner")
    for value in (*graph.inputs, *graph.initializers):
        _require(value.owner is graph and value.producer is None, graph, f"{value} is not its own")


def check_edges(graph: Graph) -> None:
    """The topology has exactly the edges of inputs, captures and outputs."""
    topology = graph.view()
    expected: set[tuple[Node | Value, Node | Graph]] = {
        (graph.vertex(value), node)
        for node in graph.unordered_nodes()
        for value in (*node.inputs, *captured_by(node))
        if value is not None
    }
    expected |= {(graph.vertex(value), graph) for value in graph.outputs}
    edges = set(topology.edges)
    for source, user in expected ^ edges:
        what = "lacks" if (source, user) in expected else "has a needless"
        raise ModelError(f"{graph}: the topology {what} edge from {source} to {user}")


def check_visibility(graph: Graph) -> None:
    """Read values are defined in the graph or in one around it, and still present."""
    for value in graph.captures():
        _require(value.graph is not graph and graph.sees(value), graph, f"{value} is not visible")
        _require(graph.view().out_degree(value) > 0, graph, f"captured {value} is not used")
    own = dict.fromkeys((*graph.inputs, *graph.initializers))
    vertices = {v for v in graph.view() if isinstance(v, Value) and v.owner is graph}
    for value in vertices.difference(own):
        _require(False, graph, f"{value} is neither input nor initializer")
    for value in own:
        _require(value in vertices, graph, f"{value} is not in the topology")


def check_order(graph: Graph) -> None:
    """The nodes have a topological order."""
    graph.nodes()


def check_constants(graph: Graph) -> None:
    """Constants are initializers that no caller can override, or outputs of Constant nodes."""
    inside = graph.holder is not None
    overridable = set(graph.inputs) if inside or not _is_old(graph.root) else set()
    trained: set[Value] = getattr(graph.root, "trained", set())
    for value in graph.initializers:
        changing = value in overridable or value in trained
        _require((value.constant is None) == changing, graph, f"{value} is wrongly marked constant")
    for node in graph.unordered_nodes():
        if not node.is_op("Constant"):
            for output in node.outputs:
                marked = output is not None and output.constant is not None
                _require(not marked, graph, f"{output} is computed but marked constant")


def check_outputs(graph: Graph) -> None:
    """Output slots have one declaration each."""
    _require(len(graph.outputs) == len(graph.output_infos), graph, "outputs lack declarations")


def check_annotations(graph: Graph) -> None:
    """Quantization annotations refer to pinned, visible values."""
    for annotation in graph.annotations:
        for value in (annotation.value, *(value for _, value in annotation.parameters)):
            if isinstance(value, Value):
                stays = value.pinned and graph.sees(value)
                _require(stays, graph, f"annotated {value} is gone or free to go")


def check_arity(graph: Graph) -> None:
    """Bodies fit the arity of their control-flow nodes."""
    for node in graph.unordered_nodes():
        if node.bodies:
            check_bodies(node)


INVARIANTS: tuple[Callable[[Graph], None], ...] = (
    check_ownership,
    check_edges,
    check_visibility,
    check_order,
    check_constants,
    check_outputs,
    check_annotations,
    check_arity,
)


def _is_old(root: Model | Function) -> bool:
    """Test for an IR version below 4, where callers cannot override initializers."""
    return isinstance(root, Model) and not root.allows_overrides


def _require(holds: bool, graph: Graph, what: str) -> None:
    if not holds:
        raise ModelError(f"{graph}: {what}")
