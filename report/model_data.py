"""Models as plain data for the page of a report: graphs, nodes and names."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import onnx

from ..ir import Graph, Model, Node, Operator, Tensor, Value
from ..ir.io.name_authority import Names, assign_names
from ..records import field, record
from .scopes import scopes_of
from .texts import (
    MOST_WHOLE,
    attributes_of,
    elements_text,
    notes_of,
    parameters_of,
    tensor_bytes,
    type_text,
)

MOST_NODES = 50_000
"""The most described nodes of one model; the page counts the others."""

_MOST_TEXT = 2_000_000
"""The most characters of attributes of one model; further ones are short."""
_MOST_SHORT = 60

Place = tuple[int, int]
"""The place of a node: the number of its graph, and its own number there."""


@record(frozen=True)
class OperatorData:
    """An operator, shared by nodes.

    Attributes:
        name: the operator, with any domain but ONNX's own.
        attributes: the attributes, names and texts.
        notes: the doc string and metadata from an exporter.
        parameters: the names of its inputs in ONNX's specification.
        scopes: the modules that an exporter recorded for the node, outer before inner.
    """

    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    parameters: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


@record(frozen=True)
class NodeData:
    """A node.

    Attributes:
        operator: the number of its operator in `ModelData.operators`.
        name: its own name; may be empty.
        inputs: names; "" for an absent one.
        outputs: names; "" for an omitted one.
        graphs: the numbers of its bodies, or of the function that it calls.
    """

    operator: int
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    graphs: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The node's name, or that of its first output."""
        return self.name or next(filter(None, self.outputs), "")


@record(frozen=True)
class ValueData:
    """An input, an output or a constant: its name, declared type, and the elements if few."""

    name: str
    type: str
    elements: str = ""


@record(frozen=True)
class GraphData:
    """The main graph, a body of a node, or a function.

    Attributes:
        title: "main graph", "body", "then_branch", or a function's name.
        path: its path as in remarks; "" for the main graph.
        constants: the initializers that no caller can override.
        nodes: the nodes in order, up to the limit.
        count: the number of nodes.
        is_function: true for a function, which calls share.
    """

    title: str
    path: str
    inputs: tuple[ValueData, ...]
    outputs: tuple[ValueData, ...]
    constants: tuple[ValueData, ...]
    nodes: tuple[NodeData, ...]
    count: int
    is_function: bool = False


@record(frozen=True)
class ModelData:
    """A model.

    Attributes:
        graphs: all graphs, the main one first, outer before inner.
        operators: the operators with their attributes, each once.
        counts: the number of nodes by operator.
        opsets: the version of each domain.
        ir_version: the version of the file format.
        nodes: the number of nodes in all graphs.
        constants: the number of initializers and Constant nodes in all graphs.
        weights: the size of their elements in bytes; shared ones count once.
        tensors: the constants by the number of their graph and their name.
    """

    graphs: tuple[GraphData, ...]
    operators: tuple[OperatorData, ...]
    counts: dict[str, int]
    opsets: dict[str, int]
    ir_version: int
    nodes: int
    constants: int
    weights: int
    tensors: Mapping[tuple[int, str], Tensor] = field(repr=False, compare=False)

    def places(self) -> Iterator[tuple[Place, NodeData]]:
        """The described nodes with their places."""
        for number, graph in enumerate(self.graphs):
            for index, node in enumerate(graph.nodes):
                yield (number, index), node


def describe(model: Model, most: int = MOST_NODES) -> ModelData:
    """Describe a model under its names in the file.

    Args:
        model: the model; unchanged.
        most: the limit of described nodes, outer graphs first.
    """
    return _Describer(model, most).model_data()


class _Describer:
    """Describer of the graphs of one model, with shared operators."""

    def __init__(self, model: Model, most: int) -> None:
        self.model = model
        self.room = most
        self.text = _MOST_TEXT
        self.names: Names = assign_names(model)
        self.operators: dict[OperatorData, int] = {}
        self.numbers: dict[Operator, int] = {}
        self.counts: Counter[str] = Counter()
        self.graphs = {graph: number for number, graph in enumerate(model.graphs())}
        self.constants = 0
        self.tensors: dict[tuple[int, str], Tensor] = {}

    def model_data(self) -> ModelData:
        graphs = tuple([self.graph_data(graph) for graph in self.graphs])
        return ModelData(
            graphs,
            tuple(self.operators),
            dict(sorted(self.counts.items())),
            dict(self.model.opset_imports),
            self.model.ir_version,
            sum(graph.count for graph in graphs),
            self.constants,
            sum(map(tensor_bytes, dict.fromkeys(self.tensors.values()))),
            self.tensors,
        )

    def graph_data(self, graph: Graph) -> GraphData:
        nodes = graph.nodes()
        self.counts.update(node.op.qualname for node in nodes)
        outputs = [value for node in nodes for value in node.outputs if value is not None]
        constants = {v: v.constant for v in outputs if v.constant is not None}
        self.constants += len(graph.initializers) + len(constants)
        for value, tensor in {**graph.initializers, **constants}.items():
            self.tensors[self.graphs[graph], self.names[value]] = tensor
        described = nodes[: self.room]
        self.room -= len(described)
        title, path = _title(graph)
        inputs = set(graph.inputs)
        return GraphData(
            title,
            path,
            self.values(graph.inputs),
            self.outputs(graph),
            self.values([value for value in graph.initializers if value not in inputs]),
            tuple([self.node_data(node) for node in described]),
            len(nodes),
            not isinstance(graph.owner, Model | Node),
        )

    def node_data(self, node: Node) -> NodeData:
        graphs = [self.graphs[graph] for graph in node.graphs()]
        function = self.model.functions.get(node.op.function_key)
        if function is not None:
            graphs.append(self.graphs[function.graph])
        return NodeData(
            self.operator(node.op),
            self.names[node],
            self.names_of(node.inputs),
            self.names_of(node.outputs),
            tuple(graphs),
        )

    def operator(self, op: Operator) -> int:
        number = self.numbers.get(op)
        if number is None:
            parameters = parameters_of(op, self.model.opset_imports)
            attributes = attributes_of(op, MOST_WHOLE if self.text > 0 else _MOST_SHORT)
            self.text -= sum(len(text) for _, text in attributes)
            # Operators that look alike on the page get one number.
            data = OperatorData(op.qualname, attributes, notes_of(op), parameters, scopes_of(op))
            number = self.numbers[op] = self.operators.setdefault(data, len(self.operators))
        return number

    def names_of(self, values: Sequence[Value | None]) -> tuple[str, ...]:
        return tuple(["" if v is None else self.names[v] for v in values])

    def values(self, values: Sequence[Value]) -> tuple[ValueData, ...]:
        return tuple(
            [
                ValueData(self.names[v], _type_of(v.type, v.constant), elements_text(v.constant))
                for v in values
            ]
        )

    def outputs(self, graph: Graph) -> tuple[ValueData, ...]:
        """The outputs of a graph; those of an interface have the names of slots."""
        rows = []
        for value, info in zip(graph.outputs, graph.output_infos, strict=True):
            name = info.name if graph.is_interface else self.names[value]
            type_ = info.type if info.HasField("type") else value.type
            rows.append(ValueData(name, _type_of(type_, value.constant)))
        return tuple(rows)


def _type_of(declared: onnx.TypeProto | None, constant: Tensor | None) -> str:
    if declared is None and constant is not None:
        return type_text(onnx.helper.make_tensor_type_proto(constant.elem_type, constant.dims))
    return type_text(declared)


def _title(graph: Graph) -> tuple[str, str]:
    holder = graph.holder
    if holder is None:
        function = getattr(graph.owner, "name", "")
        return (f"function {function}", function) if function else ("main graph", "")
    attribute = next(name for name, graphs in holder.bodies.items() if graph in graphs)
    return attribute, holder.path
