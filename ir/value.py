"""Values: the outputs of nodes, inputs and initializers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from .tensor import Tensor

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

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

    def __repr__(self) -> str:
        return f"value '{self.name}'"


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    kind = dim.WhichOneof("value")
    if kind == "dim_value":
        return dim.dim_value
    return (dim.dim_param or None) if kind else None
