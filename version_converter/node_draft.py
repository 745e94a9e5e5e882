"""Draft of a node in the next version, which adapters read and edit."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import onnx

from ..ir import (
    Array,
    Function,
    Graph,
    Node,
    Operator,
    Tensor,
    Value,
    constant_operator,
    normal_domain,
)
from ..ir.attributes import value_of
from ..ir.option_names import by
from ..ops.builder import Builder
from ..ops.schema_queries import Schema, default_of, formal_inputs, schema_at
from .constants import Constants
from .errors import Refused
from .schemas import constant_takes
from .types import Types, shape_of

EXACT = 2.0**53
"""Below this number every integer is exact as a 64-bit float, and no other is rounded to it."""


def for_outputs(node: Node, values: Iterable[Value | None]) -> list[Value | None]:
    """Values in the places of a node's outputs, none for those that it omits."""
    present = iter(values)
    return [None if output is None else next(present) for output in node.outputs]


class NodeDraft:
    """A draft of a node in the next version.

    An adapter edits `op_type`, `attributes` and `inputs` and returns None, or adds other nodes with
    `emit` and returns the values that replace the node's outputs. It refuses before it adds any
    node. What `required_...` asks for and does not know is a refusal.

    Attributes:
        source: its opset version.
        target: the next one, up or down.
        final: the one that the model is converted to.
        op_type: the operator of the draft.
        attributes: the attributes of the draft.
        inputs: the inputs of the draft.
        added: the new nodes.
        builder: adds them, in their opset version.
    """

    def __init__(
        self, node: Node, source: int, target: int, types: Types, constants: Constants
    ) -> None:
        self.node = node
        self.source = source
        self.target = target
        self.final = target
        self.types = types
        self.op_type = node.op_type
        self.attributes: dict[str, onnx.AttributeProto] = dict(node.op.attributes)
        self.inputs: list[Value | None] = list(node.inputs)
        self.added: list[Node] = []
        self.builder = Builder(node.parent, opset=target, replaces=[node])
        self._constants = constants

    @property
    def graph(self) -> Graph:
        """The graph to which nodes are added."""
        return self.builder.graph

    @property
    def is_upgrade(self) -> bool:
        """True if the next version is a higher one."""
        return self.target > self.source

    @property
    def schema(self) -> Schema:
        """The operator's schema in the version of the node."""
        domain, root = normal_domain(self.node.op.domain), self.graph.root
        version = root.opset(domain) if domain else self.source
        schema = schema_at(self.node.op_type, version, domain)
        assert schema is not None
        return schema

    def refuse(self, reason: str, undecided: Value | None = None) -> NoReturn:
        """Refuse the node, and name the undecided value, if there is one."""
        raise Refused(reason, undecided)

    def refuse_unknown(self, what: str) -> NoReturn:
        """Refuse the node because a size, such as "the length", is unknown."""
        self.refuse(
            f"{what} is not known before run time; fix the shapes of inputs with {by('--shape')}"
        )

    # Attributes ---------------------------------------------------------------------------------

    def attribute(self, name: str) -> Any:
        """The value of an attribute, by default that of the schema.

        Raises:
            Refused: it comes from the call of the function that the node is in.
        """
        message = self.attributes.get(name)
        if message is None:
            return default_of(self.schema, name)
        # Each call sets its own value, and an adapter decides once for all calls.
        if message.ref_attr_name:
            self.refuse(f"its attribute '{name}' comes from the calls of the function")
        return value_of(message)

    def body(self, name: str) -> Graph:
        """The graph of an attribute.

        Raises:
            Refused: it comes from the call of the function that the node is in.
        """
        if name not in self.node.bodies:
            # It raises where calls of the function provide the graph.
            self.attribute(name)
        return self.node.body(name)

    def text(self, name: str) -> str:
        """The value of a string attribute."""
        value = self.attribute(name)
        return value.decode() if isinstance(value, bytes) else ""

    def set(self, name: str, value: Any, kind: int | None = None) -> None:
        """Set an attribute of the draft; an empty list needs its kind, an `AttributeType`."""
        self.attributes[name] = onnx.helper.make_attribute(name, value, attr_type=kind)

    def drop(self, *names: str) -> None:
        """Remove attributes from the draft."""
        for name in names:
            self.attributes.pop(name, None)

    # Inputs and outputs -------------------------------------------------------------------------

    def input(self, index: int) -> Value | None:
        """An input of the draft; None where it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def required(self, index: int) -> Value:
        """An input of the draft that its schema requires."""
        value = self.inputs[index]
        assert value is not None
        return value

    @property
    def data(self) -> Value:
        """Input 0, which the schema requires."""
        return self.required(0)

    def set_input(self, index: int, value: Value | None) -> None:
        """Connect an input of the draft."""
        # Inputs in between stay absent.
        while len(self.inputs) <= index:
            self.inputs.append(None)
        self.inputs[index] = value

    def constant(self, index: int) -> Array | None:
        """The elements of an input that constants decide; None where they do not."""
        value = self.input(index)
        tensor = None if value is None else self._constants.tensor(value)
        return None if tensor is None else tensor.numpy()

    def required_constant(self, index: int, what: str) -> Array:
        """The elements of an input, known before run time."""
        array = self.constant(index)
        if array is None:
            value = self.input(index)
            graph = None if value is None else value.graph
            is_default = graph is not None and value in graph.inputs and value in graph.initializers
            why = "may be overridden by callers" if is_default else "is computed at run time"
            self.refuse(f"{what} of it {why}, and opset {self.target} requires it constant", value)
        return array

    def one_number(self, array: Array, what: str) -> Any:
        """The single number of a constant of any rank.

        Raises:
            Refused: it holds none, or several.
        """
        if array.size != 1:
            self.refuse(f"{what} must be one number, not {array.size}")
        return array.item()

    def rank(self, index: int = 0) -> int | None:
        """The rank of an input; None where it is not known."""
        return self.types.rank(self.input(index))

    def required_rank(self, why: str, index: int = 0) -> int:
        """The rank of an input."""
        rank = self.rank(index)
        if rank is None:
            self.refuse(
                f"{why} needs the rank of input {index}, which is not known; declare its shape"
            )
        return rank

    def required_axis(self, axis: int, why: str) -> int:
        """An axis of input 0, counted from the front.

        Raises:
            Refused: its rank is not known, or it has no such axis.
        """
        return self._from_the_front(axis, self.required_rank(why))

    def checked_axis(self, axis: int) -> int:
        """An axis of input 0, counted from the front where its rank is known.

        Raises:
            Refused: it has no such axis.
        """
        rank = self.rank()
        return axis if rank is None else self._from_the_front(axis, rank)

    def length(self, axis: int) -> int | None:
        """The length of an axis of input 0; None where it is not known.

        Raises:
            Refused: it has no such axis.
        """
        shape = self.shape()
        return None if shape is None else shape[self._from_the_front(axis, len(shape))]

    def _from_the_front(self, axis: int, rank: int) -> int:
        if not -rank <= axis < rank:
            self.refuse(f"input 0 has no axis {axis}")
        return axis % rank

    def shape(self, index: int = 0) -> list[int | None] | None:
        """The dimensions of an input; None where even the rank is not known."""
        return self.types.shape(self.input(index))

    def inferred_shape(self, version: int) -> list[int | None] | None:
        """The dimensions of output 0 of the node in an opset, or None."""
        return shape_of(self.types.of_outputs(self.node, self.node.op, version)[0])

    def elem_type(self, index: int = 0) -> int | None:
        """The element type of an input; None where it is not known."""
        return self.types.elem_type(self.input(index))

    def required_dtype(self, index: int, why: str) -> np.dtype[Any]:
        """The element type of an input for numpy."""
        return onnx.helper.tensor_dtype_to_np_dtype(self.required_elem_type(index, why))

    def required_elem_type(self, index: int, why: str) -> int:
        """The element type of an input."""
        elem_type = self.elem_type(index)
        if elem_type is None:
            self.refuse(
                f"{why} needs the one element type of input {index}, which is not known; declare it"
            )
        return elem_type

    def is_used(self, index: int) -> bool:
        """Test whether an output of the node is present, and read or named by something."""
        value = self.node.outputs[index] if index < len(self.node.outputs) else None
        return value is not None and (value.pinned or self.graph.is_used(value))

    # New nodes ----------------------------------------------------------------------------------

    def const(self, array: Array, label: str) -> Value:
        """A new constant.

        Raises:
            Refused: it must be a Constant node, and the version has none of this type.
        """
        tensor = Tensor(array=array)
        # A function has no initializers (onnx.proto).
        if not isinstance(self.graph.root, Function):
            return self.graph.add_initializer(self.label(label), tensor)
        if not self.takes_constant(tensor):
            return self.cast_constant(tensor, label)
        # A node, for steps further down.
        attributes = constant_operator(tensor).attributes
        return self.emit("Constant", [], label, attributes=attributes)

    def cast_constant(self, tensor: Tensor, label: str) -> Value:
        """A constant in a function of a version whose Constant nodes hold floats only.

        Raises:
            Refused: it holds neither numbers nor truth values.
        """
        array = tensor.numpy()
        if array.dtype.kind not in "iub":
            self.refuse(
                f"a function has no initializers, and opset {self.target} no Constant of the type"
                f" {array.dtype}"
            )
        floats = array.astype(np.float64)
        # Two numbers of 32 bits are exact as doubles where the whole is not.
        if (np.abs(floats) >= EXACT).any():
            unit = np.array(2**32, array.dtype)
            parts = [self.const(p, label) for p in (array // unit, unit, array % unit)]
            return self.emit("Add", [self.emit("Mul", parts[:2], label), parts[2]], label)
        # Serialization makes a Constant of it, which takes floats in every opset.
        constant = self.graph.add_initializer(self.label(label), Tensor(array=floats))
        return self.emit("Cast", [constant], label, to=tensor.elem_type)

    def takes_constant(self, tensor: Tensor) -> bool:
        """Test whether a Constant node of the next version can hold a tensor."""
        return constant_takes(tensor.elem_type, self.target)

    def ints(self, values: Sequence[int], label: str) -> Value:
        """A new constant of rank 1, of 64-bit integers."""
        return self.const(np.array(values, np.int64), label)

    def emit(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        label: str = "",
        *,
        attributes: Mapping[str, onnx.AttributeProto] | None = None,
        **values: Any,
    ) -> Value:
        """Add a node of the next version with one output."""
        return self.emit_all(op_type, inputs, [label], attributes=attributes, **values)[0]

    def emit_all(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        labels: Sequence[str],
        *,
        attributes: Mapping[str, onnx.AttributeProto] | None = None,
        **values: Any,
    ) -> list[Value]:
        """Add a node of the next version with several outputs."""
        op = Operator.make(op_type, **values)
        if attributes:
            op = op.with_attributes([*attributes.values(), *op.attributes.values()])
        outputs = self.builder.add_unchecked(
            op, inputs, [self.label(label or op_type) for label in labels]
        )
        self.note(outputs[0].producer)
        return outputs

    def repeat(self) -> list[Value | None]:
        """Add the draft as a new node, with outputs where its node has them."""
        op = Operator.make(self.op_type).with_attributes(list(self.attributes.values()))
        labels = [
            "" if value is None else self.label(f"in_{index}")
            for index, value in enumerate(self.node.outputs)
        ]
        node = self.graph.add_node(op, self.inputs, labels)
        self.note(node)
        return list(node.outputs)

    def note(self, node: Node | None) -> None:
        """Record a new node."""
        assert node is not None
        self.added.append(node)
        self.types.add(node, self.builder.opset)

    def label(self, what: str) -> str:
        """A label for a new value or node."""
        return f"{self.node.label}_{what}" if self.node.label else what

    def cast(self, value: Value, elem_type: int) -> Value:
        """`value` in another type; a constant is cast at once."""
        if value.constant is None:
            return self.emit("Cast", [value], "cast", to=elem_type)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        return self.const(value.constant.numpy().astype(dtype), "cast")

    def as_type(self, value: Value, elem_type: int) -> Value:
        """`value` in a type; itself where it has that."""
        return value if self.types.elem_type(value) == elem_type else self.cast(value, elem_type)

    def along(
        self, op_type: str, value: Value, axes: Sequence[int], label: str = "", **values: Any
    ) -> Value:
        """Add a node along constant axes, which are an attribute or input 1, by opset."""
        if (formal_inputs(op_type, self.builder.opset) or 0) < 2:
            return self.emit(op_type, [value], label, axes=list(axes), **values)
        return self.emit(op_type, [value, self.ints(axes, "axes")], label, **values)

    def unsqueeze(self, value: Value, axes: Sequence[int]) -> Value:
        """`value` with axes of length 1 inserted."""
        return self.along("Unsqueeze", value, axes)
