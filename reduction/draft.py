"""A copy of a model to cut parts from: values that lose their node become inputs."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import onnx

from ..analysis.shapes.inference import ShapeInference
from ..ir import Graph, Model, Node, Value, captured_by, verify
from ..passes.cleanup.eliminate_dead_nodes import sweep


class UncuttableError(Exception):
    """A part cannot be cut from a model; the trial is skipped."""


class Draft:
    """A model that loses parts, and the types of its values as it came.

    Attributes:
        model: the model, changed in place.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._inference = ShapeInference(model)
        labels = (*model.graph.inputs, *model.graph.initializers, *model.graph.outputs)
        self._taken = {value.name for value in labels}

    def graphs(self, depth: int | None = None) -> list[Graph]:
        """The graphs of the main graph's tree, or those at one depth of nesting."""
        graphs = self.model.graph.walk()
        return [graph for graph in graphs if depth is None or nesting_of(graph) == depth]

    def type_of(self, value: Value) -> onnx.TypeProto:
        """Type of a value, declared or inferred.

        Raises:
            UncuttableError: the type is unknown.
        """
        type_ = self._inference.fact(value).type_proto(private=False) or value.type
        if type_ is None or type_.WhichOneof("value") is None:
            raise UncuttableError(f"the type of {value} is unknown")
        return type_

    def new_input(self, label: str, type_: onnx.TypeProto) -> Value:
        """A new input of the main graph."""
        name, number = label, 0
        while not name or name in self._taken:
            number += 1
            name = f"{label}_{number}"
        self._taken.add(name)
        return self.model.graph.add_input(name, onnx.ValueInfoProto(name=name, type=type_))

    def free(self, value: Value) -> None:
        """Let all nodes that use a value read a new input instead; it is no output any more."""
        graph, main = value.graph, self.model.graph
        assert graph is not None
        if value in main.outputs:
            self.set_outputs([output for output in main.outputs if output is not value])
        if graph.is_used(value):
            # The input may have the name of the value, which has no reader any more.
            self._taken.discard(value.name)
            new = self.new_input(value.name, self.type_of(value))
            graph.replace_all_uses({value: new})

    def cut(self, nodes: Collection[Node]) -> None:
        """Remove nodes. Their results become inputs; outputs of the main graph that they compute
        go, and operands in the main graph that nothing else reads become outputs.

        Raises:
            UncuttableError: a type is unknown, or a name outside of the data flow holds a value.
        """
        main, removed = self.model.graph, set(nodes)
        if any(value.pinned for node in nodes for value in node.outputs if value is not None):
            raise UncuttableError("a value is named outside of the data flow")
        operands = {
            value: None
            for node in nodes
            for value in (*node.inputs, *captured_by(node))
            if value is not None
            and value.graph is main
            and value.producer is not None
            and value.producer not in removed
        }
        for graph in {node.graph: None for node in nodes}:
            assert graph is not None
            # Readers go first: a value that only they read needs no input in its place.
            for node in reversed(graph.nodes()):
                if node in removed:
                    for value in node.outputs:
                        if value is not None:
                            self.free(value)
                    graph.remove(node)
        self.add_outputs(operands)

    def add_outputs(self, values: Iterable[Value]) -> None:
        """Make outputs of values in the main graph that nothing reads."""
        main = self.model.graph
        unread = [v for v in values if v.producer is not None and not main.is_used(v)]
        self.set_outputs([*main.outputs, *unread], {v: self.type_of(v) for v in unread})

    def finish(self) -> None:
        """Complete the interface, and remove unread constants.

        Raises:
            UncuttableError: no output remains.
            ModelError: the model is malformed.
        """
        main = self.model.graph
        if not main.outputs:
            self.add_outputs([v for node in main.nodes() for v in node.outputs if v is not None])
        if not main.outputs:
            raise UncuttableError("no output remains")
        sweep(main, keep={node for graph in main.walk() for node in graph.unordered_nodes()})
        verify(self.model)

    def set_outputs(
        self, values: Sequence[Value], types: Mapping[Value, onnx.TypeProto] | None = None
    ) -> None:
        """Set the outputs of the main graph; those that are new need a type."""
        main, types = self.model.graph, types or {}
        infos = dict(zip(main.outputs, main.output_infos, strict=True))
        for value in values:
            if value not in infos:
                infos[value] = onnx.ValueInfoProto(name=value.name, type=types[value])
        main.set_outputs(values, [infos[value] for value in values])


def nesting_of(graph: Graph) -> int:
    """The number of nodes around a graph."""
    depth = 0
    while graph.holder is not None:
        graph, depth = graph.holder.parent, depth + 1
    return depth
