"""How long a model takes to load and to run, reckoned from the nodes that it has.

What is reckoned with are calls of operators, not their arithmetic: forms of one model, which are
compared here, compute the same numbers, and differ in how many calls that takes.
"""

from __future__ import annotations

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import element
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Function, Graph, Model, Node
from .costs import LOAD, PACKED, RUN, USUAL_TRIPS, unrolling_pays

FREE = ("Constant", "Identity")
"""Nodes that cost a trip nothing to speak of."""

_PRODUCTS = ("MatMul", "Gemm", "GRU", "LSTM", "RNN")

_SLOWER = Message(
    "copies-slower",
    "copies of its body, one for each of {trips} trips, would load slower in onnxruntime",
)


def loading(model: Model) -> float:
    """What loading a model takes, in nodes."""
    return sum(LOAD[what] * count for what, count in loaded(model).items())


def loaded(model: Model) -> dict[str, float]:
    """How much a model has of what takes time to load, by the names that `LOAD` has for it."""
    found: dict[str, float] = {**dict.fromkeys(LOAD, 0.0), "session": 1.0}
    for graph in model.graphs():
        nodes = list(graph.unordered_nodes())
        found["constant"] += len(graph.initializers)
        found["node"] += len(nodes)
        found["inside"] += 0 if graph.root.graph is graph else len(nodes)
        found["packed"] += sum(packed(node) for node in nodes) / PACKED
        for node in nodes:
            if node.op_type in LOAD:
                found[node.op_type] += 1
    return found


def packed(node: Node) -> int:
    """How many numbers of constant matrices a node multiplies by."""
    if not node.is_op(*_PRODUCTS):
        return 0
    constants = [v.constant for v in node.inputs if v is not None and v.constant is not None]
    return sum(tensor.size for tensor in constants if len(tensor.dims) > 1)


class Running:
    """What running a model takes, in nodes.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self._inference = ShapeInference(model)
        self._model = model
        self._called: dict[tuple[Function, int], float] = {}

    def total(self) -> float:
        """Of the whole model; functions count where they are called."""
        return self._of(self._model.graph, 0)

    def _of(self, graph: Graph, depth: int) -> float:
        return sum(self._node(node, depth) for node in graph.unordered_nodes())

    def _node(self, node: Node, depth: int) -> float:
        function = self._model.functions.get(node.op.function_key)
        if function is not None:
            return self._call(function, depth + 1) if depth < _DEEPEST else RUN["node"]
        bodies = [self._of(body, depth + 1) for body in node.graphs()] if depth < _DEEPEST else []
        if not bodies:
            return 0.0 if node.is_op(*FREE) else RUN["node"]
        if not node.is_op("Loop", "Scan"):
            return RUN["node"] + RUN.get(node.op_type, 0.0) + max(bodies)
        (body,) = node.graphs()
        handed = len(body.inputs) + len(body.outputs)
        trip = RUN["trip"] + RUN.get(node.op_type, 0.0) + RUN["carried"] * handed / 2
        return RUN["node"] + self.trips(node) * (trip + bodies[0])

    def _call(self, function: Function, depth: int) -> float:
        """What a call takes: functions that call each other twice are looked into once."""
        key = function, depth
        if key not in self._called:
            self._called[key] = self._of(function.graph, depth)
        return self._called[key]

    def trips(self, node: Node) -> int:
        """How many trips a Loop or Scan makes, as far as that is known."""
        known = known_trips(node, self._inference)
        return USUAL_TRIPS if known is None else known


_DEEPEST = 32
"""So deep do bodies and calls count that lie in one another."""


def known_trips(node: Node, inference: ShapeInference) -> int | None:
    """How many trips a Loop makes at most, or a Scan from opset 9 on; None if sizes do not tell."""
    if node.is_op("Loop"):
        maximum = node.input(0)
        number = None if maximum is None else element(inference.fact(maximum))
        known: int | None = number.value if isinstance(number, Dimension) else None
        return None if known is None else max(known, 0)
    scanned = node.attribute("num_scan_inputs", 0)
    source = node.inputs[-1] if scanned else None
    shape = None if source is None else inference.fact(source).shape
    axes = node.attribute("scan_input_axes", [0] * scanned)
    if not shape or not axes or not -len(shape) <= axes[-1] < len(shape):
        return None
    length: int | None = shape[axes[-1]].value
    return length


def refuses_copies(body: Graph, trips: int, rows: int) -> str | None:
    """Why copies of a body would be slower than a loop of it; None if they are not.

    Args:
        body: what runs on each trip.
        trips: how many there are.
        rows: how many rows a trip is handed or gives out.
    """
    nodes = [node for node in body.unordered_nodes() if not node.is_op(*FREE)]
    inner = sum(len(graph) for node in nodes for graph in node.graphs())
    reads = sum(node.is_op("Gather") and node.input(1) in body.inputs for node in nodes)
    weight = sum(map(packed, nodes))
    if unrolling_pays(trips, len(nodes) + inner, rows + reads, weight):
        return None
    return _SLOWER(trips=trips)
