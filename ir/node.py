"""Values, and nodes: operators connected to values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import onnx

from .errors import GraphError
from .operator import Operator
from .tensor import Array, Tensor

if TYPE_CHECKING:
    from .graph import Graph
    from .model import Function, Model


Dim = int | str | None


class Value:
    """A tensor, sequence or optional that flows through a graph.

    The object is its identity; `name` is a label, made unique when the model is saved.

    Attributes:
        name: the label. Graph inputs keep theirs, graph outputs take the one of their slot.
        info: the declared type, doc string and metadata, or None.
        producer: the node that computes it; None for inputs and initializers.
        owner: the graph of an input or initializer; None for node outputs.
        constant: the tensor of a value known before run time (an initializer that no caller can
            override and no training updates, or the output of a Constant node), else None.
        pinned: named from outside the data flow (by a quantization annotation, training
            information, an attribute with tensor names), so that it must stay and keep its name.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> (value,) = model.graph.outputs
        >>> value.name, [value.producer] == [*model.graph.nodes()], value.constant
        ('y', True, None)
    """

    __slots__ = ("constant", "info", "name", "owner", "pinned", "producer")

    def __init__(
        self,
        name: str,
        info: onnx.ValueInfoProto | None = None,
        producer: Node | None = None,
        owner: Graph | None = None,
        constant: Tensor | None = None,
    ) -> None:
        self.name = name
        self.info = info
        self.producer = producer
        self.owner = owner
        self.constant = constant
        self.pinned = False

    @property
    def graph(self) -> Graph | None:
        """The graph in which the value is defined."""
        return self.producer.graph if self.producer is not None else self.owner

    @property
    def type(self) -> onnx.TypeProto | None:
        """The declared type, or the type of a constant without a declaration."""
        if self.info is not None and self.info.HasField("type"):
            return self.info.type
        if self.constant is not None and not self.constant.is_sparse:
            return onnx.helper.make_tensor_type_proto(self.constant.elem_type, self.constant.dims)
        return None

    @type.setter
    def type(self, type_: onnx.TypeProto | None) -> None:
        # A new message, because clones share the old one.
        info = onnx.ValueInfoProto()
        if self.info is not None:
            info.CopyFrom(self.info)
        if type_ is None:
            info.ClearField("type")
        else:
            info.type.CopyFrom(type_)
        self.info = info

    @property
    def elem_type(self) -> int | None:
        """The element type of a tensor as `onnx.TensorProto.DataType`; None where undeclared."""
        type_ = self.type
        if type_ is None or not type_.HasField("tensor_type"):
            return None
        return type_.tensor_type.elem_type or None

    @property
    def shape(self) -> tuple[Dim, ...] | None:
        """The declared dimensions (a number, a symbol or None each); None for an unknown rank."""
        type_ = self.type
        if type_ is None or not type_.HasField("tensor_type"):
            return None
        if not type_.tensor_type.HasField("shape"):
            return None
        return tuple(_dim(dim) for dim in type_.tensor_type.shape.dim)

    @property
    def array(self) -> Array | None:
        """The elements of a constant that can be read; None for other values."""
        tensor = self.constant
        return tensor.numpy() if tensor is not None and tensor.is_readable else None

    def __repr__(self) -> str:
        return f"value '{self.name}'"


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    kind = dim.WhichOneof("value")
    if kind == "dim_value":
        return dim.dim_value
    # An empty symbol says no more than a missing one.
    return (dim.dim_param or None) if kind else None


Bodies = Mapping[str, tuple["Graph", ...]]
NO_BODIES: Bodies = {}
_new = object.__new__


class _Fields:
    """The fields of a node, without the guard of its class."""

    __slots__ = {
        "bodies": "Its graphs by attribute name.",
        "graph": "The graph that contains it; None once removed.",
        "inputs": "The values that it reads; None stands for an absent optional input.",
        "name": "The node's own label, may be empty.",
        "op": "The operator; shared with clones of the node.",
        "outputs": "The values that it computes; None stands for an omitted output.",
    }


write_operator, write_inputs, write_outputs, write_name = (
    vars(_Fields)[name].__set__ for name in ("op", "inputs", "outputs", "name")
)
"""Writers of the fields of a node; the first three are for mutators of graphs only."""

_MUTATORS = {
    "op": "set_operator",
    "inputs": "set_input or Graph.resize_inputs",
    "outputs": "set_node_outputs",
}


class Node(_Fields):
    """One application of an operator.

    `Graph.add_node` makes nodes. Only mutators of the graph change operator and connections, so
    that the topology stays right.

    Attributes:
        bodies: its graphs by attribute name.
        graph: the graph that contains it; None once removed.
        name: the node's own label, may be empty.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> (node,) = model.graph.nodes()
        >>> node.op_type, [value and value.name for value in node.inputs]
        ('Exp', ['x'])
    """

    __slots__ = ()

    bodies: Bodies
    graph: Graph | None
    name: str

    def __init__(
        self, op: Operator, inputs: Sequence[Value | None], outputs: Sequence[str], name: str = ""
    ) -> None:
        write_operator(self, op)
        write_inputs(self, tuple(inputs))
        values = [Value(label, None, self) if label else None for label in outputs]
        write_outputs(self, tuple(values))
        self.bodies = NO_BODIES
        self.graph = None
        self.name = name

    if TYPE_CHECKING:  # slots, which are read several times as fast as properties

        @property
        def op(self) -> Operator:
            """The operator; shared with clones of the node."""

        @property
        def inputs(self) -> tuple[Value | None, ...]:
            """The values that it reads; None stands for an absent optional input."""

        @property
        def outputs(self) -> tuple[Value | None, ...]:
            """The values that it computes; None stands for an omitted output."""

    def __setattr__(self, name: str, value: Any) -> None:
        mutator = _MUTATORS.get(name)
        if mutator is not None:
            raise GraphError(
                f"{self}: its {name} cannot be assigned, since its graph keeps account of them;"
                f" call Graph.{mutator}"
            )
        super().__setattr__(name, value)

    @property
    def op_type(self) -> str:
        """The name of its operator."""
        return self.op.op_type

    @property
    def domain(self) -> str:
        """The domain of its operator, as written in the model."""
        return self.op.domain

    def is_op(self, *qualnames: str) -> bool:
        """Test whether its operator is one of these (`Loop`, or `domain::Name`)."""
        return self.op.qualname in qualnames

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, or `default` where it is absent."""
        return self.op.attribute(name, default)

    def input(self, index: int) -> Value | None:
        """The input at a position; None where it is absent or beyond the last one."""
        return self.inputs[index] if index < len(self.inputs) else None

    def operand(self, index: int) -> Value:
        """The input at a position, which must be present."""
        value = self.inputs[index]
        assert value is not None, f"{self} omits input {index}"
        return value

    def output(self, index: int = 0) -> Value:
        """The output at a position, which must be present."""
        value = self.outputs[index]
        assert value is not None, f"{self} omits output {index}"
        return value

    def body(self, name: str) -> Graph:
        """The one graph of an attribute."""
        return self.bodies[name][0]

    @property
    def parent(self) -> Graph:
        """The graph of the node, which must be in one."""
        assert self.graph is not None, f"{self} is in no graph"
        return self.graph

    @property
    def root(self) -> Model | Function:
        """The model or function of the node, which must be in a graph."""
        return self.parent.root

    @property
    def stands(self) -> bool:
        """Test whether the node and all nodes around it are still parts of the model."""
        graph = self.graph
        while graph is not None and graph.holder is not None:
            graph = graph.holder.graph
        return graph is not None

    def graphs(self) -> Sequence[Graph]:
        """The graphs of the node, without those nested in them."""
        if not self.bodies:
            return ()
        return [graph for graphs in self.bodies.values() for graph in graphs]

    @property
    def label(self) -> str:
        """The node's name, or that of its first output."""
        return self.name or next((v.name for v in self.outputs if v is not None), "")

    @property
    def path(self) -> str:
        """The location of the node: the labels of the nodes around it and its own, joined by
        '/'."""
        holder = self.graph.owner if self.graph is not None else None
        if isinstance(holder, Node):
            return f"{holder.path}/{self.label}"
        function = getattr(holder, "name", None)
        return f"{function}/{self.label}" if function else self.label

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # `object` has no guard against assignments.
        for name, value in state[1].items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"{self.op.qualname} '{self.path}'"


def plain_node(
    op: Operator, inputs: tuple[Value | None, ...], label: str, name: str, graph: Graph
) -> Node:
    """Make a node with one output in half the time of the two constructors."""
    # The class comes last, because its guard refuses these assignments.
    node: Any = _new(_Fields)
    value = _new(Value)
    node.op = op
    node.inputs = inputs
    node.outputs = (value,)
    node.bodies = NO_BODIES
    node.graph = graph
    node.name = name
    node.__class__ = Node
    value.name = label
    value.info = None
    value.producer = node
    value.owner = None
    value.constant = None
    value.pinned = False
    plain: Node = node
    return plain
