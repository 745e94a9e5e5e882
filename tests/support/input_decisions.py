"""Trip counts and conditions of a model that depend on elements of its inputs."""

from collections.abc import Iterable

from model_features import bodies
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto


def decisions(model: ModelProto) -> set[str]:
    """The trip counts and conditions that depend on the elements of graph inputs."""
    inputs = {i.name for i in model.graph.input}
    if model.ir_version < 4:
        inputs -= {i.name for i in model.graph.initializer}
    taint = Taint(model)
    taint.graph(model.graph, inputs)
    return taint.decisions


class Taint:
    """Dependence on the elements of graph inputs, and the Loops and Ifs that it decides."""

    def __init__(self, model: ModelProto) -> None:
        self.functions = {f.name: f for f in model.functions}
        self.decisions: set[str] = set()

    def graph(self, graph: GraphProto, tainted: set[str]) -> list[bool]:
        """Test each output of the graph for a tainted name that it depends on."""
        after = self.nodes(graph.node, tainted)
        return [v.name in after for v in graph.output]

    def nodes(self, nodes: Iterable[NodeProto], tainted: set[str]) -> set[str]:
        tainted = set(tainted)
        for node in nodes:
            after = self.node(node, tainted)
            tainted -= set(node.output)  # an outer name that comes to mean something else
            tainted |= {name for name, dirty in zip(node.output, after, strict=True) if dirty}
        return tainted

    @staticmethod
    def inputs(graph: GraphProto) -> set[str]:
        return {v.name for v in graph.input}

    def call(self, function: FunctionProto, dirty: list[bool]) -> list[bool]:
        arguments = {name for name, d in zip(function.input, dirty, strict=True) if d}
        after = self.nodes(function.node, arguments)
        return [name in after for name in function.output]

    def node(self, node: NodeProto, tainted: set[str]) -> list[bool]:
        dirty = [name in tainted for name in node.input]
        if node.op_type in ("Loop", "If"):
            count = 2 if node.op_type == "Loop" else 1
            self.decisions |= {n for n in node.input[:count] if n in tainted}
        if node.domain:
            return self.call(self.functions[node.op_type], dirty)
        if node.op_type == "If":
            first, second = (self.graph(g, tainted) for g in bodies(node))
            return [a or b for a, b in zip(first, second, strict=True)]
        if node.op_type == "Loop":
            return self.loop(bodies(node)[0], dirty[2:], tainted)
        for body in bodies(node):  # Scan: its inputs count as tainted
            constants = {t.name for t in body.initializer}
            self.graph(body, (tainted | self.inputs(body)) - constants)
        depends = any(dirty) or bool(bodies(node))
        return [depends and node.op_type not in ("Shape", "Size")] * len(node.output)

    def loop(self, body: GraphProto, carried: list[bool], tainted: set[str]) -> list[bool]:
        while True:  # until what is carried round taints nothing more
            names = [v.name for v in body.input[2 : 2 + len(carried)]]
            clean = tainted - self.inputs(body)
            outputs = self.graph(
                body, clean | {n for n, c in zip(names, carried, strict=True) if c}
            )
            if outputs[0]:
                self.decisions.add(body.output[0].name)
            following = [a or b for a, b in zip(carried, outputs[1:], strict=False)]
            if following == carried:
                return [*carried, *outputs[1 + len(carried) :]]
            carried = following
