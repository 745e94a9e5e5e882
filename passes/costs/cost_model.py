"""Cost model of loading and running, from nodes and the sizes of their results."""

import math
from collections.abc import Iterable, Mapping, Sequence

from ...analysis.iterations.block_places import computes_blocks
from ...analysis.shapes.inference import ShapeInference
from ...facts.obstacle import Obstacle
from ...facts.reason import Message
from ...ir import Function, Graph, Model, Node
from ...ops import rules_of
from ...ops.cost_estimates import FREE, LONG
from ...ops.elementwise import Elementwise
from ..utils.loop_conditions import forwarded_conditions
from .goal import GOALS, GoalName
from .table import LOAD_ITEMS, CostTable
from .trip_counts import USUAL, TripCounts, known_iterations

Units = dict[str, float]
"""The number of each item that costs."""

PACKED = 1 << 15
"""The number of elements of a constant matrix in a unit of "packed": kernels rearrange them."""

_THOUSAND = 1024
_FAR = 1 << 21
"""The limit of elements that stay in a cache until the next node reads them."""
_ACTIVATIONS = {"RNN": 1, "GRU": 3, "LSTM": 5}
"""The activations of a number of the state in a step."""
_PRODUCTS = ("MatMul", "Gemm", "GRU", "LSTM", "RNN")
_DEEPEST = 32
"""The limit of nested bodies and calls that count."""

_SLOWER = Message(
    "copies-slower",
    "copies of its body, one for each of {trips} iterations, would load slower in onnxruntime",
)

_BLOCKS = Message("copies-of-blocks", "copies for each of {trips} blocks would run no faster")


def loading(model: Model, table: CostTable) -> float:
    """The time of loading a model, in microseconds."""
    return _sum(load_units(model), table.load)


def running(units: Units, table: CostTable) -> float:
    """The time of a run of these items, in microseconds."""
    return _sum(units, {**table.run, **{item: table.memory[item] for item in ("far", "span")}})


def _sum(units: Mapping[str, float], costs: Mapping[str, float]) -> float:
    return sum(costs[item] * count for item, count in units.items())


def load_units(model: Model) -> Units:
    """The number of each item of loading in a model."""
    units: Units = {**dict.fromkeys(LOAD_ITEMS, 0.0), "session": 1.0}
    for graph in model.graphs():
        nodes = list(graph.unordered_nodes())
        units["constant"] += len(graph.initializers)
        units["node"] += len(nodes)
        units["inside"] += 0 if graph.root.graph is graph else len(nodes)
        units["packed"] += sum(packed_numbers(node) for node in nodes) / PACKED
        for node in nodes:
            if node.op_type in units and not node.op.domain:
                units[node.op_type] += 1
    isolated = len(forwarded_conditions(model))  # the result has an Identity for each
    for item in ("node", "inside", "Identity"):
        units[item] += isolated
    return units


def packed_numbers(node: Node) -> int:
    """The number of elements in a node's constant matrices."""
    if not node.is_op(*_PRODUCTS):
        return 0
    constants = [v.constant for v in node.inputs if v is not None and v.constant is not None]
    return sum(tensor.size for tensor in constants if len(tensor.dims) > 1)


def run_units(model: Model, inference: ShapeInference | None = None, rows: int = USUAL) -> Units:
    """The number of each item of a run of a model; functions count at their calls.

    Args:
        rows: the run-time number of iterations and rows.
    """
    return _Runs(model, inference or ShapeInference(model), rows).total()


def has_open_iterations(model: Model, inference: ShapeInference) -> bool:
    """Test for a loop whose number of iterations is known only at run time."""
    loops = [node for graph in model.graphs() for node in graph.nodes_of("Loop", "Scan")]
    return any(known_iterations(node, inference) is None for node in loops)


def _sum_of(parts: Iterable[tuple[Units, int]]) -> Units:
    """The sum of counts, each so many times."""
    total: Units = {}
    for units, times in parts:
        for item, count in units.items():
            total[item] = total.get(item, 0.0) + times * count
    return total


class _Runs:
    """Counts of what a run of a model calls.

    Args:
        rows: the run-time number of iterations and rows.
    """

    def __init__(self, model: Model, inference: ShapeInference, rows: int = USUAL) -> None:
        self._model = model
        self._rows = rows
        self.iterations = TripCounts(model, inference, rows)
        self._calls: dict[tuple[Function, int], Units] = {}

    def total(self) -> Units:
        return _sum_of([({"call": 1.0}, 1), (self._of(self._model.graph, 0), 1)])

    def _of(self, graph: Graph, depth: int) -> Units:
        return _sum_of((self._node(node, depth), 1) for node in graph.unordered_nodes())

    def _node(self, node: Node, depth: int) -> Units:
        function = self._model.functions.get(node.op.function_key)
        if function is not None and depth < _DEEPEST:
            return self._call(function, depth + 1)
        # What runs for long blocks runs where the other branch would take longer.
        graphs = [graph for graph in node.graphs() if graph.header.name != LONG]
        bodies = [self._of(body, depth + 1) for body in graphs] if depth < _DEEPEST else []
        if not bodies:
            return {} if node.is_op(*FREE) else {"node": 1.0, **self._arithmetic(node)}
        if not node.is_op("Loop", "Scan"):
            # Only run time chooses the branch: the longer one counts.
            longest = max(bodies, key=lambda units: units.get("node", 0.0))
            if node.is_op("If"):
                return _sum_of([({"If": 1.0}, 1), (longest, 1)])
            return _sum_of(
                [({"Loop": 1.0}, 1), ({"loop trip": 1.0}, self._rows), (longest, self._rows)]
            )
        (body,) = node.graphs()
        kind = node.op_type.lower()
        slots = len(body.inputs) + len(body.outputs)
        iteration = {f"{kind} trip": 1.0, f"{kind} slot": float(slots)}
        count = self.iterations.of(node)
        return _sum_of([({node.op_type: 1.0}, 1), (iteration, count), (bodies[0], count)])

    def _arithmetic(self, node: Node) -> Units:
        """The arithmetic of a call in units of 1,024."""
        sizes = [self.iterations.sizes(value) for value in node.outputs if value is not None]
        elements = sum(map(math.prod, sizes))
        units = {"element": elements / _THOUSAND}
        far = sum(count for each in sizes if (count := math.prod(each)) > _FAR)
        if far:
            units["far"] = far / _THOUSAND
        if isinstance(rules_of(node.op), Elementwise) and len(sizes) == 1:
            operands = [self.iterations.sizes(value) for value in node.inputs if value]
            units["span"] = _spans(node, operands, sizes[0]) / _THOUSAND
        first, second = (self.iterations.sizes(node.input(index)) for index in (0, 1))
        if node.is_op("MatMul", "Gemm", "Conv"):
            # The numbers that one element of the result sums up; of a Conv, the
            # channels and the window.
            inner = first[-1:] if node.is_op("MatMul") else second[1:]
            if node.is_op("Gemm"):
                inner = second[1:] if node.attribute("transB", 0) else second[:1]
            units["product"] = elements * math.prod(inner) / _THOUSAND
        elif node.op_type in _ACTIVATIONS and not node.op.domain and len(first) == len(second) == 3:
            directions, rows, width = second
            hidden = int(node.attribute("hidden_size", 0))
            state = math.prod(self.iterations.sizes(node.input(5)))
            axes = first[:2][::-1] if node.attribute("layout", 0) else first[:2]
            numbers = axes[0] * (state if node.input(5) else axes[1] * hidden * directions)
            units["activation"] = numbers * _ACTIVATIONS[node.op_type] / _THOUSAND
            gates = rows / max(hidden, 1)
            units["product"] = numbers * gates * (hidden + width) / _THOUSAND
        return units

    def _call(self, function: Function, depth: int) -> Units:
        """The units of a call, cached for functions that are called twice."""
        key = function, depth
        if key not in self._calls:
            self._calls[key] = self._of(function.graph, depth)
        return self._calls[key]


def _spans(node: Node, operands: Sequence[Sequence[int]], sizes: Sequence[int]) -> float:
    """The number of times that a kernel starts anew where operands broadcast.

    [300, 1] + []     300 spans of 1 element: an axis of size 1 at the end makes each a span
    [300] + []        1 span of 300
    [8, 300, 4] * [8, 1, 4]   8 * 300 spans of 4
    """
    elements = math.prod(sizes)
    # Where selects element by element, and meets both values in turn.
    chosen, times = (elements / 4, 2) if node.is_op("Where") else (0.0, 1)
    if all(tuple(each) == tuple(sizes) for each in operands):
        return chosen
    length, last = 1, None
    for axis, size in enumerate(reversed(sizes)):
        own = [each[-1 - axis] if axis < len(each) else 1 for each in operands]
        repeats = [one != size for one in own]
        if last not in (None, repeats):
            break
        last, length = repeats, length * size
    return chosen + times * elements / max(length, 1)


def require_copies(
    body: Graph, iterations: int, rows: int, table: CostTable | None, goal: GoalName
) -> None:
    """Check that copies of a body do not load too long.

    Args:
        iterations: the trip count.
        rows: the number of rows that an iteration reads or writes.
        table: the costs; None for no limit.
        goal: the goal that says how long they may load.

    Raises:
        Obstacle: they do.
    """
    if table is None or iterations <= 1:
        return
    if computes_blocks(body):
        raise Obstacle(_BLOCKS(trips=iterations))
    nodes = [node for node in body.unordered_nodes() if not node.is_op(*FREE)]
    count = len(nodes) + sum(len(graph) for node in nodes for graph in node.graphs())
    reads = sum(node.is_op("Gather") and node.input(1) in body.inputs for node in nodes)
    load = table.load
    packed = load["packed"] * sum(map(packed_numbers, nodes)) / PACKED
    row = load["node"] + load["constant"]  # an index or an axis is a constant
    copy = count * load["node"] + (rows + reads) * row + packed
    loop = load["node"] + load["Loop"] + count * (load["node"] + load["inside"]) + packed
    if iterations * copy > GOALS[goal].most_load(loop):
        raise Obstacle(_SLOWER(trips=iterations))
