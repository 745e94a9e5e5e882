"""Inputs that steer a model: they decide sizes, trip counts or positions.

A sample must not have large values for these: a model may exhaust memory or time, or refuse.
"""

from collections.abc import Iterable, Sequence

import onnx

from ...ir import Operator
from ...ir.dataflow_graph import reach
from ...ops import rules_of
from ...reference.signature import all_nodes

_CONTROL_FLOW = {"Loop": (0, 1), "Scan": (0,)}
"""Inputs of control flow that decide trip counts; for Scan 8 its lengths, later the first input."""

Place = tuple[int, str]
"""A name in the main graph (0) or in the function of a number."""


def steering_inputs(model: onnx.ModelProto) -> set[str]:
    """The inputs on which a size, a trip count or a position may depend.

    Names are shared by all bodies; two values of one name count as one.
    """
    reader = _Reader(model)
    steering = reach(lambda place: reader.comes_from.get(place, ()), reader.steering)
    return {info.name for info in model.graph.input if (0, info.name) in steering}


class _Reader:
    """Reader of a model's dataflow by names.

    Attributes:
        comes_from: the possible sources of each place.
        steering: the places that steer an operator directly.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self.comes_from: dict[Place, list[Place]] = {}
        self.steering: set[Place] = set()
        self._functions = {(f.domain, f.name): n for n, f in enumerate(model.functions, 1)}
        self._bodies = list(model.functions)
        scopes: Iterable[Sequence[onnx.NodeProto]] = [
            model.graph.node,
            *(function.node for function in model.functions),
        ]
        for scope, nodes in enumerate(scopes):
            for node in all_nodes(nodes):
                self._read(scope, node)

    def _read(self, scope: int, node: onnx.NodeProto) -> None:
        rules = rules_of(Operator(node.op_type, domain=node.domain))
        positions = _CONTROL_FLOW.get(node.op_type, rules.steered_by)
        if positions is None:
            positions = rules.sized_by
        self._steer(scope, [name for i, name in enumerate(node.input) if i in positions])
        number = self._functions.get((node.domain, node.op_type))
        graphs = [g for a in node.attribute for g in (a.g, *a.graphs) if g.output]
        if rules.reads_sizes_only:
            return
        if number is not None:
            function = self._bodies[number - 1]
            for inner, outer in zip(function.input, node.input, strict=False):
                self._link((number, inner), scope, [outer])
            for name in node.output:
                self._link((scope, name), number, function.output)
        elif node.op_type in ("Loop", "Scan") and graphs:
            self._read_repeated(scope, node, graphs[0])
        else:
            sources = [*node.input, *(output.name for graph in graphs for output in graph.output)]
            for graph in graphs:
                for inner in graph.input:
                    self._link((scope, inner.name), scope, node.input)
            for name in node.output:
                self._link((scope, name), scope, sources)

    def _read_repeated(self, scope: int, node: onnx.NodeProto, body: onnx.GraphProto) -> None:
        """Link the states of a Loop or Scan to initial and previous ones."""
        results = [output.name for output in body.output]
        sources = list(node.input)
        if node.op_type == "Loop":
            self._steer(scope, results[:1])  # the condition
        constants = {tensor.name for tensor in body.initializer}
        inputs = [info for info in body.input if info.name not in constants]
        if node.op_type == "Scan" and len(inputs) < len(sources):
            del sources[0]  # the lengths of a Scan 8
        first = 2 if node.op_type == "Loop" else 0
        carried = results[1:] if first else results
        for index, inner in enumerate(inputs[first:]):
            outer = sources[first + index : first + index + 1]
            self._link((scope, inner.name), scope, [*outer, *carried[index : index + 1]])
        for index, name in enumerate(node.output):
            outer = sources[first + index : first + index + 1]
            self._link((scope, name), scope, [*outer, *carried[index : index + 1]])

    def _steer(self, scope: int, names: Iterable[str]) -> None:
        self.steering.update((scope, name) for name in names if name)

    def _link(self, place: Place, scope: int, names: Iterable[str]) -> None:
        sources = self.comes_from.setdefault(place, [])
        sources += [(scope, name) for name in names if name]
