"""Cost model of loading and running a model, from its nodes.

The model counts calls of operators, not their arithmetic: the compared forms of one model compute
the same numbers, in different numbers of calls.
"""

from __future__ import annotations

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import element
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Function, Graph, Model, Node
from .costs import LOAD, PACKED, RUN, USUAL_TRIPS, unrolling_pays

FREE = ("Constant", "Identity")
"""The operators without a noticeable cost."""

_PRODUCTS = ("MatMul", "Gemm", "GRU", "LSTM", "RNN")

_SLOWER = Message(
    "copies-slower",
    "copies of its body, one for each of {trips} trips, would load slower in onnxruntime",
)


def loading(model: Model) -> float:
    """The cost of loading a model, in nodes."""
    return sum(LOAD[what] * count for what, count in load_units(model).items())


def load_units(model: Model) -> dict[str, float]:
    """The amount of each item of `LOAD` in a model."""
    units: dict[str, float] = {**dict.fromkeys(LOAD, 0.0), "session": 1.0}
    for graph in model.graphs():
        nodes = list(graph.unordered_nodes())
        units["constant"] += len(graph.initializers)
        units["node"] += len(nodes)
        units["inside"] += 0 if graph.root.graph is graph else len(nodes)
        units["packed"] += sum(packed_numbers(node) for node in nodes) / PACKED
        for node in nodes:
            if node.op_type in LOAD:
                units[node.op_type] += 1
    return units


def packed_numbers(node: Node) -> int:
    """The number of elements in a node's constant matrices."""
    if not node.is_op(*_PRODUCTS):
        return 0
    constants = [v.constant for v in node.inputs if v is not None and v.constant is not None]
    return sum(tensor.size for tensor in constants if len(tensor.dims) > 1)


class Running:
    """The cost of running a model, in nodes.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self._inference = ShapeInference(model)
        self._model = model
        self._calls: dict[tuple[Function, int], float] = {}

    def total(self) -> float:
        """The cost of the whole model; functions count at their calls."""
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
        slots = len(body.inputs) + len(body.outputs)
        trip = RUN["trip"] + RUN.get(node.op_type, 0.0) + RUN["carried"] * slots / 2
        return RUN["node"] + self.trips(node) * (trip + bodies[0])

    def _call(self, function: Function, depth: int) -> float:
        """The cost of a call, cached for functions that are called twice."""
        key = function, depth
        if key not in self._calls:
            self._calls[key] = self._of(function.graph, depth)
        return self._calls[key]

    def trips(self, node: Node) -> int:
        """The trip count of a Loop or Scan, or the usual one if unknown."""
        count = known_trips(node, self._inference)
        return USUAL_TRIPS if count is None else count


_DEEPEST = 32
"""The limit of nested bodies and calls that count."""


def known_trips(node: Node, inference: ShapeInference) -> int | None:
    """The maximum trip count of a Loop, or of a Scan from opset 9 on; None if unknown."""
    if node.is_op("Loop"):
        maximum = node.input(0)
        number = None if maximum is None else element(inference.fact(maximum))
        count: int | None = number.value if isinstance(number, Dimension) else None
        return None if count is None else max(count, 0)
    inputs = node.attribute("num_scan_inputs", 0)
    source = node.inputs[-1] if inputs else None
    shape = None if source is None else inference.fact(source).shape
    axes = node.attribute("scan_input_axes", [0] * inputs)
    if not shape or not axes or not -len(shape) <= axes[-1] < len(shape):
        return None
    length: int | None = shape[axes[-1]].value
    return length


def refuses_copies(body: Graph, trips: int, rows: int) -> str | None:
    """The reason why copies of a body are slower than its loop; None if they are not.

    Args:
        body: the body.
        trips: the trip count.
        rows: the number of rows that an iteration reads or writes.
    """
    nodes = [node for node in body.unordered_nodes() if not node.is_op(*FREE)]
    inner = sum(len(graph) for node in nodes for graph in node.graphs())
    reads = sum(node.is_op("Gather") and node.input(1) in body.inputs for node in nodes)
    weight = sum(map(packed_numbers, nodes))
    if unrolling_pays(trips, len(nodes) + inner, rows + reads, weight):
        return None
    return _SLOWER(trips=trips)
